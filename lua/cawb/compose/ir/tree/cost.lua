-- cost: about how many instructions a tree is.

local lists = require "cawb.base.lists"
local operations = require "cawb.compose.ir.operations"

local M = {}

local DIVISION = 8

local function own(t)
  if t.op == "divide" and not t.approximate then return DIVISION end
  local row = operations.row(t.op)
  return row and row.cost or 0
end

local function below(t) return own(t) + lists.sum(t, below) end

--- Instructions, one for what is not named.
function M.of(t) return 1 + below(t) end

return M

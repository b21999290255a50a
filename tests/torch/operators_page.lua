-- operators_page: docs/reference/operators.md, made of the table of operators (python/cawb_host/torch/operators.py) and of what compose has a
-- constructor or an expression for. As a script it writes the page anew:
--   cawb tests/torch/operators_page.lua docs/reference/operators.md

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local operators = require "cawb.compose.operators.operators"
local python = require "cawb.base.python"

local M = {}

local head = [[
# Operators that compose lowers

The names are those that PyTorch records when it executes a task: its ATen operators, without overloads. `add_`, and `add` with `out=`, are `add`.
Functions that PyTorch makes of these operators are lowered too: `linear` is `addmm`, `relu6` is `hardtanh`, `dropout` in evaluation is nothing.
Some forms of an operator, such as a type or a mode, have no kernel. They are refused with a message that names the form and the line of the task.
[Lowering](../explain/lowering.md) says how operators become kernels.

`cawb tests/torch/operators_page.lua docs/reference/operators.md` makes this page of the program's tables, and a test compares it with them.

]]

local titles = { { "pointwise", "element by element" }, { "reduction", "reductions" }, { "normalization", "norms and softmax" },
                 { "matmul", "products" }, { "convolution", "convolutions" }, { "view", "views that are written or copied" }, { "other", "others" } }

local foot = [[
Views (`transpose`, `slice`, `unfold`, `expand` and the like) need no kernel: a task's record says where each tensor lies, so a kernel that
reads a view reads its memory. Of operators that read no tensor, as `triu_indices` or `hann_window`, the record has the values. Operators that draw random numbers are not lowered, nor are operators whose result's shape depends on data.
]]

-- The kind of each operator that has a row in the table.
local function kinds()
  local script = "import json; from cawb_host.torch import operators as o; print(json.dumps({n: r.kind for n, r in o.TABLE.items()}))"
  return core.json.decode(check.shell(("cd python && '%s' -c '%s'"):format(assert(python.path()), script)))
end

--- The page's text.
function M.text()
  local kind_of, lists, lines = kinds(), {}, { head .. "| kind | operators |\n|---|---|\n" }
  for _, name in ipairs(operators.names()) do
    local kind = kind_of[name] or "other"
    lists[kind] = lists[kind] or {}
    table.insert(lists[kind], "`" .. name .. "`")
  end
  for _, title in ipairs(titles) do
    local list = lists[title[1]]
    if list then lines[#lines + 1] = ("| %s (%d) | %s |\n"):format(title[2], #list, table.concat(list, ", ")) end
  end
  return table.concat(lines) .. "\n" .. foot
end

local out = ...
if not out then return M end
local f = assert(io.open(out, "w"))
f:write(M.text())
f:close()

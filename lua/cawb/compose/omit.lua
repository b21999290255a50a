-- omit: a kernel's text without its guards or its barriers. compose never does this by itself: the kernel may be wrong. So schedules
-- are a language in which mistakes can be written, for models that learn to write them.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

-- Ends of threads beyond the last element, as the generators write them.
local function unguarded(text)
  text = text:gsub("if %([et] >= [%w_]+%) return;", "")
  return (text:gsub("const bool real = [^;]+;", "const bool real = true;"))
end

local function without_barriers(text) return (text:gsub("__syncthreads%(%);", "")) end

-- The joins of a row's lanes, which other kernels of the source share, once more without barriers.
local function own_joins()
  local text = assert(file.read(core.home .. "/lua/cawb/compose/emit/parts/join.cuh"))
  return "namespace unsynced {\n" .. without_barriers(text) .. "}\n\n"
end

local function unsynced(text)
  local rows, columns
  text, rows = without_barriers(text):gsub("%f[%w_]join_rows<", "unsynced::join_rows<")
  text, columns = text:gsub("%f[%w_]join_columns<", "unsynced::join_columns<")
  return text, rows + columns > 0
end

--- A generator's result without guards or barriers, if `how` says so (`guards = false`, `barriers = false`).
function M.apply(made, how)
  if not how or not made.text then return made end
  if how.guards == false or how.barriers == false then made.pieces = nil end
  if how.guards == false then made.text = unguarded(made.text) end
  if how.barriers == false then
    local joins
    made.text, joins = unsynced(made.text)
    if joins then made.unsynced = own_joins() end
  end
  return made
end

return M

-- baseline_names: what a candidate can be compared with, by name (options measure.against and
-- measure.matrix).

local suggest = require "cawb.base.suggest"

local M = {}

M.kinds = { "eager", "compile", "max_autotune", "eager_tf32", "compile_tf32", "max_autotune_tf32" }

local known = {}
for _, kind in ipairs(M.kinds) do known[kind] = true end

--- What is wrong with a list of baselines, or nil.
function M.check(list, option)
  for _, kind in ipairs(list) do
    if type(kind) == "string" and not known[kind] and not kind:match "^file:" then
      return ("option '%s' knows %s and file:PATH, not '%s'%s"):format(option,
        table.concat(M.kinds, ", "), kind, suggest.hint(kind, M.kinds))
    end
  end
end

--- A baseline's name as a table shows it.
function M.label(kind) return kind:match "^file:.*/([^/]+)$" or kind end

return M

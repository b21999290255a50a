-- cawb merge INTO FROM...: join stores, such as the shards of a suite.

local command = require "cawb.door.command"
local core = require "cawb.core"
local merge = require "cawb.suite.merge"

local M = { summary = "join stores: cawb merge INTO FROM..." }

M.usage = "usage: cawb merge INTO FROM...   (folders, as given to --out)"

function M.main(argv)
  if #argv < 2 then return command.fail("merge", M.usage, "usage") end
  for i = 2, #argv do
    if not core.fs.kind(argv[i] .. "/store.sqlite") then
      return command.fail("merge", argv[i] .. ": there is no store in it", "usage")
    end
    if core.fs.realpath(argv[i]) == core.fs.realpath(argv[1]) then
      return command.fail("merge", argv[i] .. " cannot be merged into itself", "usage")
    end
  end
  local into <close>, message, name = core.store.open(argv[1])
  if not into then return command.fail("merge", message, name) end
  for i = 2, #argv do
    local from <close>, why, kind = core.store.open(argv[i])
    if not from then return command.fail("merge", why, kind) end
    local added
    added, why, kind = merge.stores(into, from)
    if not added then return command.fail("merge", why, kind) end
    print(("%s: %d runs, %d turns, %d rows of suites, %d draws of tasks were new"):format(argv[i], added.runs, added.turns,
      added.tasks, added.draws))
  end
  return 0
end

return M

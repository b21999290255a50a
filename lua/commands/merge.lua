-- cawb merge INTO FROM...: join stores, such as the shards of a suite.

local command = require "cawb.door.command"
local core = require "cawb.core"
local merge = require "cawb.suite.merge"

local M = { summary = "join stores: cawb merge INTO FROM..." }

M.usage = "usage: cawb merge INTO FROM...   (folders, as given to --out)"

function M.main(argv)
  if #argv < 2 then command.wrong(M.usage) end
  for i = 2, #argv do
    if not core.fs.kind(argv[i] .. "/store.sqlite") then command.wrong(argv[i] .. ": there is no store in it") end
    if core.fs.realpath(argv[i]) == core.fs.realpath(argv[1]) then
      command.wrong(argv[i] .. " cannot be merged into itself")
    end
  end
  local into <close> = command.need(core.store.open(argv[1]))
  for i = 2, #argv do
    local from <close> = command.need(core.store.open(argv[i]))
    local added = command.need(merge.stores(into, from))
    print(("%s: %d runs, %d turns, %d rows of suites, %d draws of tasks were new"):format(argv[i], added.runs, added.turns,
      added.tasks, added.draws))
  end
  return 0
end

return M

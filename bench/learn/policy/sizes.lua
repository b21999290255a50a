-- The suite with the sizes that a policy learns on given to each task, so that a GPU, which shrinks nothing by itself, judges the same
-- ones. bench/learn/picks.py reads what it writes.
--   cawb bench/learn/policy/sizes.lua SUITE.jsonl OUT.jsonl [BYTES] [OPERATIONS]
-- A line a task: the row as it was, with its sizes in `overrides`.

local cawb = require "cawb"
local core = require "cawb.core"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local scale = require "cawb.judge.task.scale"

local suite, to, bytes, operations = ...
assert(to, "usage: cawb bench/learn/policy/sizes.lua SUITE.jsonl OUT.jsonl [BYTES] [OPERATIONS]")
local device <close> = assert(cawb.device "sim:h100")
local host = assert(python.start(240))
local path = os.tmpname()

local function settings()
  local all = options.copy(cawb.defaults)
  all.scale.memory, all.scale.operations = tonumber(bytes) or 131072, tonumber(operations) or 1000000
  return all
end

-- The constants of a task that were made smaller, by name.
local function sizes_of(code)
  local all, f = settings(), assert(io.open(path, "w"))
  f:write(code)
  f:close()
  assert(scale.fit(host, path, device, all))
  return next(all.task) and all.task or nil
end

local out = assert(io.open(to, "w"))
for text in io.lines(suite) do
  local row = core.json.decode(text)
  row.overrides = sizes_of(row.code)
  out:write(core.json.encode(row), "\n")
end
out:close()
host:close()
os.remove(path)

-- A spread of KernelBench's tasks at sizes that take a second: lowered, executed and right. Where the data set is not
-- beside the sources, there is nothing to test.

local composed = dofile "tests/lua/composed.lua"
local check = composed.check
local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local suites = require "cawb.suite.suite"

local path = "../shared/kernelbench/dev.jsonl"
if not core.fs.kind(path) then
  print("skipped: there is no " .. path)
  return check.done()
end

-- By level and number: the sizes.
local spread = {
  ["1/1"] = { N = 64 }, ["1/9"] = { M = 200 }, ["1/17"] = { K = 96, M = 64, N = 80 }, ["1/23"] = { batch_size = 2, dim = 5000 },
  ["1/33"] = { batch_size = 2, dim1 = 12, dim2 = 32 }, ["1/39"] = { batch_size = 4, dim = 3000 }, ["1/41"] = { batch_size = 2, features = 16, sequence_length = 515 },
  ["1/47"] = { batch_size = 2, dim1 = 128, dim2 = 63 }, ["1/51"] = { batch_size = 2, dim1 = 64, dim2 = 65 },
  ["1/57"] = { batch_size = 1, height = 12, width = 16, in_channels = 16, out_channels = 24 }, ["1/67"] = { batch_size = 2, length = 200 },
  ["1/75"] = { batch_size = 1, height = 8, width = 12 }, ["1/83"] = { batch_size = 2, height = 32, width = 33 }, ["1/89"] = { batch_size = 4 },
  ["1/95"] = { batch_size = 32 }, ["1/99"] = { batch_size = 16 }, ["2/1"] = { batch_size = 1, height = 16, width = 16, in_channels = 16, out_channels = 32 },
  ["2/9"] = { batch_size = 32, in_features = 64, out_features = 128 }, ["2/17"] = { batch_size = 1, height = 16, width = 16, out_channels = 32 },
  ["2/23"] = { batch_size = 2, D = 6, H = 10, W = 9 }, ["2/29"] = { batch_size = 32, in_features = 64, out_features = 128 },
  ["2/33"] = { batch_size = 32, in_features = 64, out_features = 128 }, ["2/39"] = { batch_size = 32, in_features = 64, out_features = 128 },
  ["2/43"] = { batch_size = 1, depth = 4, height = 8, width = 8, out_channels = 16 }, ["2/25"] = { batch_size = 1, height = 16, width = 16 },
}

local folder = check.folder()

for number, entry in ipairs(assert(suites.load(path))) do
  local sizes = spread[entry.level .. "/" .. entry.problem_id]
  if sizes then
    check.test(entry.key, function()
      local task <close> = assert(cawb.task(assert(suites.file(entry, folder)), { device = composed.device, host = composed.host, task = sizes,
        options = options.copy(cawb.defaults) }))
      local made = assert(compose.make(task, { arch = number % 2 == 1 and "sm_90a" or nil }))
      local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options },
        { trials = 1, repeats = 0, battery = { "mixed", "edges" } }))
      assert(r.ok, r.reason)
    end)
  end
end

return check.done()

-- subjects: right kernels to put mistakes into, or to write otherwise: every rung of every ladder on every example that
-- it serves, the corpus of the red team's own kernels, and what `compose` makes of each of these tasks in several ways.

local compose = require "cawb.compose"
local cawb = require "cawb"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"
local families = require "cawb.run.families"

local M = {}

local rows = { rows = { 2, 12 }, cols = { 33, 700 } }
local columns = { batch = { 1, 3 }, rows = { 20, 200 }, cols = { 17, 130 } }

-- Sizes that a simulator computes at once, of what lies in examples/.
local examples = {
  column_max = columns, column_sum = columns,
  conv_relu = { batch = { 1, 2 }, in_channels = { 2, 6 }, out_channels = { 3, 8 }, size = { 6, 13 } },
  cumprod = rows, cumsum = rows, cumsum_exclusive = rows, cumsum_masked = rows, cumsum_reverse = rows, gelu = rows, gelu_fused = rows,
  l1_norm = rows, l2_norm = rows, layernorm = rows, row_max = rows, row_sum = rows, softmax = rows,
  linear_gelu = { batch = { 3, 40 }, inputs = { 16, 200 }, outputs = { 8, 90 } },
  matmul = { m = { 17, 64 }, n = { 33, 64 }, k = { 64, 256 } },
}

-- And of what lies in tests/judge/cheats/tasks: these constants, where a task has them.
local ranges_of = { rows = { 2, 9 }, cols = { 33, 400 }, batch = { 2, 20 }, wide = { 5, 300 }, narrow = { 3, 60 }, m = { 17, 50 },
                 n = { 20, 50 }, k = { 50, 400 } }
-- An index must not leave its tensor; and kernels that write whole runs of 32 elements serve few other sizes.
local fixed = { small_linear = true, gather = true, square = true, last_row = true, chain = true, blocks = true, terms = true, states = true, folded = true }

local function corpus_sizes(name, path)
  local ranges = {}
  local file <close> = assert(io.open(path))
  local names = fixed[name] and "" or file:read "a":match "\n([%w_, ]+) = [%d, ]+\n"
  for key in names:gmatch "[%w_]+" do ranges[key] = ranges_of[key] end
  return ranges
end

local function names_in(folder)
  local list = {}
  for _, file in ipairs(core.fs.list(("%s/%s"):format(core.home, folder))) do
    list[#list + 1] = file:match "^(.*)%.py$"
  end
  return list
end

local function drawn(ranges, pick)
  local keys, shape = {}, {}
  for key in pairs(ranges) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do shape[key] = pick(ranges[key][1], ranges[key][2]) end
  return shape
end

local function ladder(task, pick)
  local family = families.match(task)
  return family and family:rung(pick(1, #family.versions), task)
end

local ways = { {}, { fuse = false }, { libraries = false }, { fuse = false, libraries = false, plain = true } }

local function composed(task, pick)
  local n = pick(1, #ways)
  local made = compose.make(task, { arch = not ways[n].plain and task.device.info.arch or nil, fuse = ways[n].fuse,
                                    libraries = ways[n].libraries })
  return made and cawb.candidate { source = made.source, plan = made.plan, name = ("compose %d on %s"):format(n, task.name) }
end

local function own(name)
  return function() return corpus.candidate(name) end
end

--- A task's path, its sizes, and `candidate(task, pick)`, which draws a right kernel for it (nil: this way there is none).
function M.draw(pick)
  local at = pick(1, 10)
  if at <= 5 then
    local list = names_in "examples"
    local name = list[pick(1, #list)]
    return { path = ("%s/examples/%s.py"):format(core.home, name), shape = drawn(examples[name] or {}, pick), candidate = ladder }
  end
  local cheats = corpus.tasks()
  local name = cheats[pick(1, #cheats)]
  local path = corpus.task(name)
  local subject = { path = path, shape = drawn(corpus_sizes(name, path), pick), candidate = own(name) }
  if at <= 7 then return subject end
  subject.candidate = composed
  if pick(1, 2) == 1 then return subject end
  local list = names_in "examples"
  name = list[pick(1, #list)]
  return { path = ("%s/examples/%s.py"):format(core.home, name), shape = drawn(examples[name] or {}, pick), candidate = composed }
end

return M

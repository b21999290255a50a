-- records: the measured gain of options, and the gain to expect for another kernel. A record has a kernel's features (M.about), its
-- options, and the logarithm of its time over the time with the generator's own choice. The expected gain is the mean gain of these
-- options, and of options near them, with similar kernels: nearer ones count more. Records hold between tasks, sizes and, less so,
-- devices: a search that begins with records tries first what paid elsewhere. choices.lua keeps them from one run to the next.

local core = require "cawb.core"
local file = require "cawb.base.file"
local graphs = require "cawb.compose.ir.graph"
local rows = require "cawb.compose.emit.rows.rows"

local M = {}
local Records = {}
Records.__index = Records

local WIDTH = 2.5           -- doublings of a size, from where on kernels are unlike each other
local OTHER = 0.25          -- weight of options that differ in one value
local OWN = 6.0             -- weight of records of the same kernel, beside those of similar kernels
local DOUBT = 0.7           -- weight of the prior, and the gain that it expects
local HOPE = 0.015
local MOST = 600            -- records of a kind, at most: the last ones

-- Doublings, to a tenth.
local function log2(n) return math.floor(10 * math.log(math.max(n, 1), 2) + 0.5) / 10 end

--- The features of a kernel: { by = its kind, written, read, row = doublings of elements, members }.
function M.about(kernel)
  local by, reduce, read = kernel.by, kernel.members[1], 0
  if by == "tensor" or by == "library" then by = kernel.kind end
  if by == "rows" and kernel.made and kernel.made.columns then by = "columns" end
  for _, x in ipairs(kernel.reads or {}) do read = read + graphs.numel(x.shape) end
  local row = kernel.kind == "rows" and reduce and select(2, rows.space(reduce)) or 1
  return { by = by, loop = kernel.loop, written = log2(graphs.numel(kernel.roots[1].shape)), read = log2(read), row = log2(row),
           members = log2(#kernel.members) }
end

--- Options as text, the same for equal ones.
function M.text(own)
  local words = {}
  for name, value in pairs(own) do words[#words + 1] = name .. "=" .. tostring(value) end
  table.sort(words)
  return table.concat(words, " ")
end

function M.new() return setmetatable({ kinds = {} }, Records) end

--- A record more, which counts as `worth` (1) of one.
function Records:add(about, own, change, worth)
  local list = self.kinds[about.by] or {}
  self.kinds[about.by] = list
  list[#list + 1] = { about = about, own = own, change = change, worth = worth or 1.0 }
  if #list > MOST then table.remove(list, 1) end
end

local function squared(a, b) return (a - b) * (a - b) end

local function likeness(a, b)
  local d = squared(a.written, b.written) + squared(a.read, b.read) + 2 * squared(a.row, b.row) + squared(a.members, b.members)
  return math.exp(-d / (2 * WIDTH * WIDTH)) * (a.loop == b.loop and 1.0 or OTHER)
end

-- In how many options two differ.
local function apart(a, b)
  local n = 0
  for name, value in pairs(a) do if b[name] ~= value then n = n + 1 end end
  for name in pairs(b) do if a[name] == nil then n = n + 1 end end
  return n
end

--- The records of similar kernels, for many questions: a list of { own, change, weight }.
function Records:near(about)
  local list = {}
  for k, r in ipairs(self.kinds[about.by] or {}) do
    list[k] = { about = r.about, own = r.own, change = r.change, weight = r.worth * likeness(about, r.about) }
  end
  return list
end

--- The expected gain of options beyond the change `best`: by how much the logarithm falls. `near` are records of other kernels, `seen`
--- is a list of { own, change } of this kernel.
function M.expected(own, best, near, seen)
  local sum, weight = DOUBT * HOPE, DOUBT
  local function count(r, w)
    w = w * OTHER ^ apart(own, r.own)
    weight = weight + w
    if r.change < best then sum = sum + w * (best - r.change) end
  end
  for _, r in ipairs(near) do count(r, r.weight) end
  for _, r in ipairs(seen) do count(r, OWN) end
  return sum / weight
end

-- ---- in a file of JSON lines

--- Records of a file, added to these, but for those of the task `without`; a file that is not there has none. Each counts as `worth` of one.
function Records:read(path, without, worth)
  for line in ((file.read(path) or ""):gmatch "[^\n]+") do
    local r = core.json.decode(line)
    if type(r) == "table" and r.about and r.own and r.change and (not without or r.from ~= without) then self:add(r.about, r.own, r.change, worth) end
  end
  return self
end

--- The records that cawb comes with, of tasks of a suite on a simulated device (`cawb bench/compose/tune.lua records`), except those of the
--- task `without`.
function M.shipped(without) return M.new():read(core.home .. "/lua/cawb/compose/tune/records.jsonl", without) end

--- The line of a record; `from`: the task that it is of, where that may be left out again.
function M.line(about, own, change, from)
  return core.json.encode { about = about, own = own, change = change, from = from } .. "\n"
end

return M

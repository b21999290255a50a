-- records: the measured gain of options. A record has a kernel's features (M.about), its options, and the logarithm of its time over the
-- time with the generator's own choice. It counts for another kernel as far as the two are alike. Records hold between tasks, sizes and,
-- less so, devices: a search that begins with records tries first what paid elsewhere. choices.lua keeps them from one run to the next.

local core = require "cawb.core"
local file = require "cawb.base.file"
local graphs = require "cawb.compose.ir.graph"
local keys = require "cawb.compose.ir.keys"
local lists = require "cawb.base.lists"
local rows = require "cawb.compose.emit.rows.rows"

local M = {}
local Records = {}
Records.__index = Records

local WIDTH = 2.5           -- doublings of a size, from where on kernels are unlike each other
local OTHER = 0.25          -- weight of kernels of another loop
local MOST = 600            -- records of a kind, at most: the last ones

-- Doublings, to a tenth.
local function log2(n) return math.floor(10 * math.log(math.max(n, 1), 2) + 0.5) / 10 end

--- The kind that options of a kernel follow from.
function M.kind(kernel)
  if kernel.by == "tensor" or kernel.by == "library" then return kernel.kind end
  return kernel.by == "rows" and kernel.made and kernel.made.columns and "columns" or kernel.by
end

--- Elements of a kernel's row; 1 where it has no rows.
function M.row(kernel)
  local reduce = kernel.members[1]
  return kernel.kind == "rows" and reduce and select(2, rows.space(reduce)) or 1
end

--- The features of a kernel: { by = its kind, written, read, row = doublings of elements, members }.
function M.about(kernel)
  local read = lists.sum(kernel.reads or {}, function(x) return graphs.numel(x.shape) end)
  local row = M.row(kernel)
  return { by = M.kind(kernel), loop = kernel.loop, written = log2(graphs.numel(kernel.roots[1].shape)), read = log2(read), row = log2(row),
           members = log2(#kernel.members) }
end

--- Options as text, the same for equal ones.
function M.text(own)
  return table.concat(lists.map(keys(own), function(name) return name .. "=" .. tostring(own[name]) end), " ")
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

--- The records of similar kernels, for many questions: a list of { own, change, weight }.
function Records:near(about)
  return lists.map(self.kinds[about.by] or {}, function(r)
    return { about = r.about, own = r.own, change = r.change, weight = r.worth * likeness(about, r.about) }
  end)
end

-- ---- in a file of JSON lines, one for each kernel

--- Records of a file, added to these, but for those of the task `without`; a file that is not there has none. Each counts as `worth` of one.
function Records:read(path, without, worth)
  for line in ((file.read(path) or ""):gmatch "[^\n]+") do
    local r = core.json.decode(line)
    local is_record = type(r) == "table" and r.about and r.tried and (not without or r.from ~= without)
    for _, tried in ipairs(is_record and r.tried or {}) do self:add(r.about, tried.own, tried.change, worth) end
  end
  return self
end

--- The records that cawb comes with, of tasks of a suite on a simulated device (`cawb bench/compose/tune.lua records`), except those of the
--- task `without`.
function M.shipped(without) return M.new():read(core.home .. "/lua/cawb/compose/tune/records.jsonl", without) end

--- The line of a kernel: `tried` is a list of { own, change }; `from`: the task that it is of, where that may be left out again.
function M.line(about, tried, from)
  return core.json.encode { about = about, tried = core.json.array(tried), from = from } .. "\n"
end

return M

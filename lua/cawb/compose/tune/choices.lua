-- choices: results of searches from one run to the next. There is a file of JSON lines for each kind of device, in cawb's cache folder.
-- A line is a record of a kernel (records.lua), or the schedule that the search of a task ended with. The next search of the same
-- task and sizes begins with that schedule; a search at other sizes, or on another device, tries it early. The file lies beside the
-- stores: a store is the history of one folder, and these results hold for all folders.

local cache = require "cawb.base.cache"
local core = require "cawb.core"
local file = require "cawb.base.file"
local lists = require "cawb.base.lists"
local records = require "cawb.compose.tune.records"

local M = {}

local ELSEWHERE = 0.3        -- what a record of another kind of device counts
local MOST = 3               -- schedules of other sizes and devices that are tried

local function name_of(model) return (model:gsub("[^%w]+", "_")) .. ".jsonl" end

function M.path(model) return cache.folder "tune" .. "/" .. name_of(model) end

-- The files of other kinds of devices, in the order of their names.
local function elsewhere(model)
  local list = {}
  for _, name in ipairs(core.fs.list(cache.folder "tune") or {}) do
    if name:find "%.jsonl$" and name ~= name_of(model) then list[#list + 1] = cache.folder "tune" .. "/" .. name end
  end
  table.sort(list)
  return list
end

--- Records: those that cawb comes with, earlier measurements on this kind of device, and on others, which count less.
function M.records(model)
  local all = records.shipped()
  for _, path in ipairs(elsewhere(model)) do all:read(path, nil, ELSEWHERE) end
  return all:read(M.path(model))
end

-- ---- schedules

-- A task by its operators, at whatever sizes; and its sizes.
local function about(task)
  local words, sizes = lists.map(task.graph, function(entry) return entry.name end), {}
  for _, list in ipairs { task.inputs, task.params, task.outputs } do
    for _, x in ipairs(list or {}) do
      if x.shape then sizes[#sizes + 1] = ("%s %s"):format(x.dtype, table.concat(x.shape, "x")) end
    end
  end
  return core.hash.sha256(table.concat(words, "\n")):sub(1, 24), sizes
end

local function numel(size)
  local n = 1
  for d in size:match " (.*)$":gmatch "%d+" do n = n * math.max(1, tonumber(d)) end
  return n
end

-- Doublings between the sizes of two tasks; nil where they are not of the same tensors.
local function apart(a, b)
  local sum = 0.0
  for k = 1, math.max(#a, #b) do
    if not (a[k] and b[k] and a[k]:match "^%S+" == b[k]:match "^%S+") then return nil end
    sum = sum + math.abs(math.log(numel(a[k]) / numel(b[k]), 2))
  end
  return sum
end

-- The schedules that searches of tasks with these operators ended with, in one file, later ones last.
local function schedules_of(path, like)
  local list = {}
  for line in ((file.read(path) or ""):gmatch "[^\n]+") do
    local r = line:find('"schedule"', 1, true) and core.json.decode(line)
    if type(r) == "table" and r.like == like and type(r.sizes) == "table" and type(r.schedule) == "string" then list[#list + 1] = r end
  end
  return list
end

--- The schedule that the last search of a task on this kind of device ended with, as text, or nil. And a list of schedules of other
--- sizes and other devices, the nearest first.
function M.schedules(task, model)
  local like, sizes = about(task)
  local own, others = nil, {}
  local function take(path, far)
    for k, r in ipairs(schedules_of(path, like)) do
      local distance = apart(sizes, r.sizes)
      if distance == 0 and far == 0 then own = r.schedule
      elseif distance then others[#others + 1] = { schedule = r.schedule, distance = distance + far, number = k } end
    end
  end
  take(M.path(model), 0)
  for _, path in ipairs(elsewhere(model)) do take(path, 1) end
  table.sort(others, function(a, b)
    if a.distance ~= b.distance then return a.distance < b.distance end
    return a.number > b.number
  end)
  local texts = lists.filter(lists.map(others, function(r) return r.schedule end), function(text) return text ~= own end)
  local each = lists.map(lists.groups(texts, function(text) return text end), function(group) return group[1] end)
  return own, { table.unpack(each, 1, MOST) }
end

--- The line of a search's last schedule.
function M.line(task, schedule, seconds)
  local like, sizes = about(task)
  return core.json.encode { like = like, sizes = core.json.array(sizes), schedule = schedule, seconds = seconds, when = os.date "!%Y-%m-%d" } .. "\n"
end

--- Keep lines for later searches on this kind of device: true, or nil and why not.
function M.keep(model, lines)
  if #lines == 0 then return true end
  local ok, message = core.fs.mkdir(cache.folder "tune")
  if not ok then return nil, message end
  local f, why = io.open(M.path(model), "a")
  if not f then return nil, why end
  f:write(table.concat(lines))
  f:close()
  return true
end

return M

-- confirm: kept tasks on a GPU at their real sizes: times of eager PyTorch, torch.compile and max-autotune, beside the
-- modelled ones.

local core = require "cawb.core"
local file = require "cawb.base.file"
local loop = require "cawb.base.loop"
local python = require "cawb.base.python"
local wire = require "cawb.base.wire"

local M = {}

-- The host is of no use any more; the next task gets a new one.
local lost = { timeout = true, died = true, protocol = true, io = true, device = true, memory = true }

--- The kinds of options `synth.times`, or nil and what is wrong.
function M.kinds(text)
  local known, list = { eager = true, compile = true, max_autotune = true }, core.json.array {}
  for kind in text:gmatch "%S+" do
    if not known[kind] then return nil, ("synth.times: '%s' is none of eager, compile, max_autotune"):format(kind) end
    list[#list + 1] = kind
  end
  if #list == 0 then return nil, "synth.times: at least one of eager, compile, max_autotune" end
  return list
end

local Timer = {}
Timer.__index = Timer

--- What times tasks on a GPU, with one task host for all: `spec` = { device = name, kinds =, options = all of them, seconds = for one task }.
function M.timer(spec) return setmetatable(spec, Timer) end

function Timer:close()
  if self.host then self.host:close() end
  self.host = nil
end
Timer.__close = Timer.close

local function asked(self, path)
  local message, name
  if not (self.host and self.host:alive()) then
    self:close()
    self.host, message, name = python.start(self.options.deadlines.start)
    if not self.host then return nil, message, name end
  end
  local how = self.options.measure
  return loop.call(self.host, { op = "synth_times", path = wire.path(path), device = self.device, kinds = self.kinds,
    samples = how.matrix_samples, budget = how.budget, seed = 1 }, { timeout = self.seconds })
end

--- Times of one task's file: { eager =, compile =, max_autotune = seconds, failed = { kind = why } }, or nil, message, name.
function Timer:time(path)
  local times = { failed = {} }
  local reply, message, name = asked(self, path)
  if name == "interrupted" or name == "missing" or name == "unsupported" then return nil, message, name end
  if lost[name] then self:close() end
  for _, kind in ipairs(self.kinds) do
    local found = reply and reply.kinds[kind] or { failed = message or "it was not timed" }
    times[kind], times.failed[kind] = found.seconds, found.failed
  end
  return times
end

local function one(set, row, spec)
  local code, message, name = set:code(row)
  if not code then return nil, message, name end
  local path = ("%s/%06d.py"):format(spec.folder, row.number)
  local ok
  ok, message, name = file.write(path, code)
  if not ok then return nil, message, name end
  local times
  times, message, name = spec.timer:time(path)
  os.remove(path)
  if not times then return nil, message, name end
  return set.store:insert("synth_times", { synth = set.id, number = row.number, device = spec.name, started = core.clock.wall(),
    json = core.json.encode(times) }), nil, nil, times
end

local function known(set, name)
  local there = {}
  for _, row in ipairs(set.store:query("SELECT number FROM synth_times WHERE synth = ? AND device = ?", set.id, name)) do
    there[row.number] = true
  end
  return there
end

--- The kept rows of a set in an order that has nothing to do with what they are, and is the same each time: the first of
--- them are a fair sample.
function M.order(set)
  local list, keys = {}, {}
  for _, row in ipairs(set:rows()) do
    if row.status == "kept" then
      list[#list + 1] = row
      keys[row] = core.hash.sha256("confirm " .. row.number)
    end
  end
  table.sort(list, function(a, b) return keys[a] < keys[b] end)
  return list
end

--- Time the kept tasks that have no times on this device yet, in that order, `count` of them at most. `spec` = { timer = of M.timer, name = of the card,
--- folder = for files, count =, say = }. Returns "finished" or "interrupted", or nil, message, name.
function M.run(set, spec)
  local there, done = known(set, spec.name), 0
  for _, row in ipairs(M.order(set)) do
    if done >= spec.count then break end
    if not there[row.number] then
      if core.clock.interrupted() then return "interrupted" end
      local ok, message, name, times = one(set, row, spec)
      if name == "interrupted" then return "interrupted" end
      if not ok then return nil, message, name end
      done = done + 1
      spec.say(("draw %d  eager %s ms, %.3g ms modelled"):format(row.number, times.eager and ("%.3g"):format(times.eager * 1e3) or "-",
        row.data.eager_modelled_s * 1e3))
    end
  end
  return "finished"
end

-- Ranks of a list, equal values sharing their mean.
local function ranks(list)
  local order, found = {}, {}
  for i = 1, #list do order[i] = i end
  table.sort(order, function(a, b) return list[a] < list[b] end)
  local i = 1
  while i <= #order do
    local j = i
    while order[j + 1] and list[order[j + 1]] == list[order[i]] do j = j + 1 end
    for k = i, j do found[order[k]] = (i + j) / 2 end
    i = j + 1
  end
  return found
end

local function correlation(a, b)
  local n, x, y, xx, yy, xy = #a, 0.0, 0.0, 0.0, 0.0, 0.0
  for i = 1, n do x, y, xx, yy, xy = x + a[i], y + b[i], xx + a[i] ^ 2, yy + b[i] ^ 2, xy + a[i] * b[i] end
  local spread = math.sqrt((xx - x * x / n) * (yy - y * y / n))
  return spread > 0 and (xy - x * y / n) / spread or nil
end

--- How well times are modelled: { tasks =, rank = Spearman's correlation, error = the median of |modelled / measured - 1| }, of eager
--- PyTorch on one device; nil where none was measured.
function M.agreement(set, name)
  local measured, modelled, errors = {}, {}, {}
  for _, row in ipairs(set.store:query([[SELECT t.json AS times, d.json AS draw FROM synth_times t JOIN synth_draws d
    ON d.synth = t.synth AND d.number = t.number WHERE t.synth = ? AND t.device = ? ORDER BY t.number]], set.id, name)) do
    local seconds, data = core.json.decode(row.times).eager, core.json.decode(row.draw)
    if seconds and seconds > 0 then
      measured[#measured + 1], modelled[#modelled + 1] = seconds, data.eager_modelled_s
      errors[#errors + 1] = math.abs(data.eager_modelled_s / seconds - 1)
    end
  end
  if #measured == 0 then return nil end
  table.sort(errors)
  return { tasks = #measured, rank = correlation(ranks(measured), ranks(modelled)), error = errors[(#errors + 1) // 2] }
end

return M

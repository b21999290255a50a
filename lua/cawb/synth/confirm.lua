-- confirm: kept tasks on a GPU at their real sizes: times of eager PyTorch, torch.compile and max-autotune, beside the
-- modelled ones.

local baselines = require "cawb.time.baselines"
local core = require "cawb.core"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local tasks = require "cawb.task.task"

local M = {}

M.kinds = { "eager", "compile", "max_autotune" }

--- Times of one task on an open device: { eager =, compile =, max_autotune = seconds, failed = { kind = why } }, or nil, message,
--- name.
function M.time(path, device, all)
  all = options.copy(all)
  all.scale.mode, all.measure.matrix = "none", M.kinds
  local task <close>, message, name = tasks.open(path, { device = device, options = all })
  if not task and name == "task" then return { failed = { load = message } } end
  if not task then return nil, message, name end
  local ok
  ok, message, name = baselines.complete(task, all.measure)
  if not ok then return nil, message, name end
  local times = { failed = {} }
  for _, kind in ipairs(M.kinds) do
    local b = task.baselines[kind]
    if b and b.time_s then times[kind] = b.time_s.median
    else times.failed[kind] = b and b.failed or "it was not timed" end
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
  times, message, name = spec.time(path, spec.device, spec.options)
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

--- Time the kept tasks that have no times on this device yet, `count` of them at most. `spec` = { device =, name = of the card,
--- options =, folder = for files, count =, say =, time = M.time or a stand-in }. Returns "finished" or "interrupted", or nil, message, name.
function M.run(set, spec)
  local there, done = known(set, spec.name), 0
  for _, row in ipairs(set:rows()) do
    if done >= spec.count then break end
    if row.status == "kept" and not there[row.number] then
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

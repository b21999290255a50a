-- cawb bench/torch/synth_times.lua SET DEVICE: PyTorch's eager times of synthesised tasks as graph/modelled.lua has them today, against what
-- `cawb synth --confirm` measured: SET is the folder of the set, DEVICE the simulated device whose rates are taken (sim:h100, sim:h200).
-- Nothing is measured here. Three quarters of the tasks are those that the rates were fitted to, by numbers that follow from a seed; of the others
-- nothing was fitted. Below, which operators are off: measured over modelled, of tasks of which one takes more than 40%.

local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local modelled = require "cawb.torch.modelled"
local python = require "cawb.base.python"
local sets = require "cawb.learn.synth.set"
local task = require "cawb.judge.task.task"

local folder, name = ...
assert(name, "usage: cawb bench/torch/synth_times.lua SET DEVICE")
local device <close> = assert(cawb.device(name))
local set <close> = assert(sets.open(folder))
local host = assert(python.start(120.0))
local path = os.tmpname() .. ".py"

-- Measured times by number; of several devices the first.
local measured = {}
for _, row in ipairs(set.store:query("SELECT number, device, json FROM synth_times WHERE synth = ? ORDER BY device", set.id)) do
  measured[row.number] = measured[row.number] or { core.json.decode(row.json).eager, row.device }
end

local state = 20
local function drawn()
  state = (state * 1103515245 + 12345) % 2147483648
  return state / 2147483648
end

local function look(row)
  assert(file.write(path, assert(set:code(row))))
  local s = host:call({ op = "sketch", path = path, overrides = {}, init_seed = 42 }, { timeout = 120.0 })
  return s and modelled.times(task.without_views(s.graph), device.info.rates, device.info.sms, s.memory)
end

local rows = {}
for _, row in ipairs(set:rows()) do
  if row.status == "kept" and measured[row.number] and measured[row.number][1] then rows[#rows + 1] = row end
end
table.sort(rows, function(a, b) return a.number < b.number end)

local found = {}
for _, row in ipairs(rows) do
  local held, times = drawn() < 0.25, look(row)
  if times and times.eager then
    found[#found + 1] = { held = held, number = row.number, was = measured[row.number][1], is = times.eager, parts = times.parts,
                          drawn = row.data.eager_modelled_s, ops = table.concat(row.data.ops, ", ") }
  end
end
os.remove(path)
host:close()

local function ranks(list, key)
  local order, rank = {}, {}
  for i in ipairs(list) do order[i] = i end
  table.sort(order, function(a, b) return list[a][key] < list[b][key] end)
  for r, i in ipairs(order) do rank[i] = r end
  return rank
end

-- Spearman's, without ties.
local function correlation(list, key)
  local a, b, n, sum = ranks(list, "was"), ranks(list, key), #list, 0
  for i = 1, n do sum = sum + (a[i] - b[i]) ^ 2 end
  return 1 - 6 * sum / (n * (n * n - 1))
end

local function worth(label, key, keep)
  local list, off = {}, {}
  for _, e in ipairs(found) do if keep(e) then list[#list + 1] = e end end
  for i, e in ipairs(list) do off[i] = math.abs(e[key] / e.was - 1) end
  table.sort(off)
  local function at(q) return 100 * (off[math.max(1, math.ceil(q * #off))] or 0 / 0) end
  print(("%-44s %4d tasks   rank correlation %.3f   median error %4.1f%%   75%% within %4.1f%%   90%% within %4.1f%%"):format(label, #list,
    correlation(list, key), at(0.5), at(0.75), at(0.9)))
end

local _, first = next(measured)
print(("%s, measured; modelled by %s's rates"):format(first and first[2] or "nothing", name))
worth("as modelled when they were drawn", "drawn", function() return true end)
worth("all", "is", function() return true end)
worth("fitted to", "is", function(e) return not e.held end)
worth("not fitted to", "is", function(e) return e.held end)

local by = {}
for _, e in ipairs(found) do
  for _, part in ipairs(e.parts) do
    if part[2] > 0.4 * e.is then
      by[part[1]] = by[part[1]] or {}
      table.insert(by[part[1]], (e.was - e.is + part[2]) / part[2])
    end
  end
end
local names = {}
for op, list in pairs(by) do
  table.sort(list)
  if #list > 1 then names[#names + 1] = op end
end
local function median(list) return list[(#list + 1) // 2] end
table.sort(names, function(a, b) return math.abs(math.log(math.max(1e-3, median(by[a])))) > math.abs(math.log(math.max(1e-3, median(by[b])))) end)
print "\nmeasured over modelled, median of its tasks"
for i = 1, math.min(#names, 30) do print(("%-40s %5.2f   %d tasks"):format(names[i], median(by[names[i]]), #by[names[i]])) end

table.sort(found, function(a, b) return a.is / a.was < b.is / b.was end)
print "\nthe tasks furthest off: measured, modelled, ms"
for i = 1, #found do
  if i <= 10 or i > #found - 10 then
    local e = found[i]
    print(("%6d  %8.3f  %8.3f  %.2f  %s"):format(e.number, e.was * 1e3, e.is * 1e3, e.is / e.was, e.ops))
  end
end

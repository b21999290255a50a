-- cawb bench/torch/eager.lua POINTS DEVICE: eager PyTorch's modelled times of single operators against measured ones, by group. POINTS is what
-- `python bench/torch/eager/points.py run POINTS SECONDS` wrote on a GPU, DEVICE the simulated device whose rates are taken. Nothing is measured here.

local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local modelled = require "cawb.torch.modelled"
local python = require "cawb.base.python"
local task = require "cawb.judge.task.task"

local points, name = ...
assert(name, "usage: cawb bench/torch/eager.lua POINTS DEVICE")
local device <close> = assert(cawb.device(name))
local host = assert(python.start(120.0))
local path = os.tmpname() .. ".py"

local function look(code)
  assert(file.write(path, code))
  local s = host:call({ op = "sketch", path = path, overrides = {}, init_seed = 42 }, { timeout = 120.0 })
  return s and modelled.times(task.without_views(s.graph), device.info.rates, device.info.sms, s.memory)
end

local groups, names, about, lines = {}, {}, nil, {}
for line in io.lines(points) do
  local e = core.json.decode(line)
  local times = e.seconds and look(e.code)
  if times and times.eager then
    about = about or ("%s, PyTorch %s"):format(e.device, e.torch)
    if not groups[e.group] then names[#names + 1], groups[e.group] = e.group, {} end
    table.insert(groups[e.group], times.eager / e.seconds)
    lines[#lines + 1] = ("%5.2f %9.3f %9.3f  %s"):format(times.eager / e.seconds, e.seconds * 1e3, times.eager * 1e3, e.id)
  end
end
os.remove(path)
host:close()
table.sort(names)

print(("%s, measured; modelled by %s's rates"):format(about, name))
print "group             points   modelled over measured: 10%   median   90%   median error"
for _, group in ipairs(names) do
  local list, off = groups[group], {}
  for i, ratio in ipairs(list) do off[i] = math.abs(ratio - 1) end
  table.sort(list)
  table.sort(off)
  local function at(of, q) return of[math.max(1, math.ceil(q * #of))] end
  print(("%-16s %7d %29.2f %8.2f %5.2f %13.1f%%"):format(group, #list, at(list, 0.1), at(list, 0.5), at(list, 0.9), 100 * at(off, 0.5)))
end
table.sort(lines)
print "\nmodelled over measured; measured, modelled, ms; what"
for _, line in ipairs(lines) do print(line) end

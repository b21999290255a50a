-- Products and convolutions of float32: compose's own beside cuBLAS and cuDNN through eager PyTorch, in strict float32 and in TF32,
-- which is no float32 and stands there as a bound; with errors against float64, as multiples of strict's, on normal, uniform, mixed
-- (rows of their own scales, crowded at zero or heavy-tailed, as every second timed input is) and very wide data. Prints JSON last.
--   cawb bench/compose/products.lua [DEVICE] [FOLDER] [PATTERN] [SHRINK]
-- FOLDER/dev.jsonl has KernelBench's tasks; with it the transposed convolutions of level 1 are timed too. PATTERN: of names of
-- jobs. SHRINK divides rows and images, for a simulated device.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
local mixed = dofile "bench/compose/mixed_inputs.lua"

local name, folder, pattern, shrink = ...
shrink = math.tointeger(shrink or 1)

local text = [[
import torch
import torch.nn as nn
def normal(*shape):
    return torch.randn(*shape)
def uniform(*shape):
    return torch.rand(*shape)
def wide(*shape):
    return torch.randn(*shape) * torch.exp2(torch.randint(-30, 31, shape).float())
%s
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = %s
    def forward(self, *x):
        return self.f(*x)
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]

local function square(n)
  return { name = ("%d^3"):format(n), flops = 2 * n ^ 3, f = "torch.matmul", inputs = { { n // shrink, n }, { n, n // shrink } } }
end

local function linear(m, n, k)
  return { name = ("Linear %d x %d x %d"):format(m, n, k), flops = 2 * m * n * k, f = ("nn.Linear(%d, %d)"):format(k, n),
           inputs = { { m // shrink, k } } }
end

local function conv(images, from, to)
  return { name = ("conv 3x3, %d x %d -> %d, 56^2"):format(images, from, to), flops = 2 * 9 * images * from * to * 56 ^ 2,
           f = ("nn.Conv2d(%d, %d, 3, padding=1)"):format(from, to), inputs = { { images // shrink, from, 56, 56 } } }
end

-- What issue and research ask of each: speed-ups over strict float32.
local jobs = {
  square(2048), square(4096), square(8192), linear(1024, 8192, 8192),
  { name = "128 x (512 x 1024 x 2048)", flops = 2 * 128 * 512 * 1024 * 2048, f = "torch.bmm",
    inputs = { { 128 // shrink, 512, 1024 }, { 128 // shrink, 1024, 2048 } } },
  conv(16, 64, 64), conv(32, 128, 128), conv(64, 256, 256),
}
local goals = { 3.3, 3.7, 3.7, 4, 2.3, 2.3, 3.3, 3.3 }
for k, goal in ipairs(goals) do jobs[k].goal = goal end
jobs[#jobs + 1] = square(4096)
jobs[#jobs].name, jobs[#jobs].data, jobs[#jobs].goal = "4096^3 of a wide range", { "wide" }, 2.1

local function source_of(job, data)
  local inputs = {}
  for k, shape in ipairs(job.inputs) do inputs[k] = ("%s(%s)"):format(data, table.concat(shape, ", ")) end
  return text:format(mixed.text, job.f, table.concat(inputs, ", "))
end

-- Transposed convolutions of level 1, in the order of the file.
local function transposed()
  for line in io.lines(folder .. "/dev.jsonl") do
    local entry = core.json.decode(line)
    if entry.level == 1 and entry.name:find "conv_transposed" then
      jobs[#jobs + 1] = { name = ("1/%d transposed"):format(entry.problem_id), code = entry.code, transposed = true, data = { "its own", "mixed" } }
    end
  end
end

-- TF32 and a bad candidate are to be timed all the same: nothing is refused here.
local all = options.copy(cawb.defaults)
all.tolerance.factor, all.tolerance.far = 1e9, 1.0
all.tolerance.floors.float32 = { worst = 1e9, nrms = 1e9 }
all.measure.budget = 0.5
all.verify.battery = {}                 -- what is timed is what stands there

local device <close> = assert(cawb.device(name or "auto"))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))

if device.info.modelled then all.deadlines.run, all.deadlines.measure = 300, 300 end

local function open(code)
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write(code)
  f:close()
  local o = all
  if device.info.modelled and shrink == 1 then
    o = options.copy(all)
    o.scale.mode = "fit"
  end
  local task, message = cawb.task(path, { device = device, host = { host, hello }, options = o })
  os.remove(path)
  return task, message
end

local function ratio(a, b) return a and b and b > 0 and a / b or nil end

-- One set of inputs: errors, and times where `timed`.
local function look(job, data, timed)
  local task <close>, message = open(job.code and data == "mixed" and mixed.task(job.code) or job.code or source_of(job, data))
  if not task then return { failed = message } end
  local made, why = compose.make(task, { arch = device.info.arch })
  if not made then return { failed = why } end
  local candidate = cawb.candidate { source = made.source, plan = made.plan }
  local v = assert(cawb.verify(task, candidate, { trials = 1, repeats = 0, battery = {}, options = all }))
  if not v.ok then return { failed = v.reason } end
  local e = v.error
  local seen = { data = data, nrms = e.nrms, worst = e.worst, strict = e.eager, nrms_ratio = ratio(e.nrms, e.eager.nrms),
                 worst_ratio = ratio(e.worst, e.eager.worst), how = table.concat(compose.table(made), "\n") }
  if not timed then return seen end
  local m = assert(cawb.measure(task, candidate, { against = { "eager", "eager_tf32" }, options = all }))
  if not m.ok then return { failed = m.reason } end
  seen.time_s, seen.speedup, seen.baselines = m.time_s, m.speedup, m.baselines
  return seen
end

local function seconds(seen, kind)
  local b = seen.baselines[kind]
  return b and b.time_s and b.time_s.median
end

local function rate(job, s) return s and job.flops and ("%.0f"):format(job.flops / shrink / s / 1e12) or "-" end

local function number(format, x) return x and format:format(x) or "-" end

local header = { "job", "goal", "time", "on mixed", "of strict", "TFLOP/s", "strict", "TF32", "TF32's time / own", "errors on", "rms", "of strict's", "worst", "of strict's" }
local rows, results = {}, {}

local function errors(seen)
  return { seen.data, number("%.2g", seen.nrms), number("%.2f", seen.nrms_ratio), number("%.2g", seen.worst), number("%.2f", seen.worst_ratio) }
end

local function row(job, seen, first)
  if seen.failed then
    rows[#rows + 1] = { job.name, "failed: " .. tostring(seen.failed):gsub("\n.*", ""):sub(1, 60) }
    for k = 3, #header do rows[#rows][k] = "" end
    return
  end
  local line = { "", "", "", "", "", "", "", "", "" }
  if first then
    local tf32, s = seconds(seen, "eager_tf32"), seen.speedup.eager
    line = { job.name, number("%.1fx", job.goal), display.interval(seen.time_s), number("%.2fx", seen.mixed), display.speedup(s), rate(job, seen.time_s.median),
             rate(job, seconds(seen, "eager")), rate(job, tf32), number("%.2f", tf32 and tf32 / seen.time_s.median) }
  end
  table.move(errors(seen), 1, 5, #line + 1, line)
  rows[#rows + 1] = line
end

-- What each kind of data shows; with the first one how many times as long the mixed one takes.
local function looks(job)
  local list = {}
  for k, data in ipairs(job.data or { "normal", "uniform", "mixed" }) do
    local ok, seen = pcall(look, job, data, k == 1 or data == "mixed")
    list[k] = ok and seen or { failed = seen }
    if data == "mixed" and list[1].time_s and list[k].time_s then list[1].mixed = list[k].time_s.median / list[1].time_s.median end
  end
  return list
end

local function run(job)
  for k, seen in ipairs(looks(job)) do
    row(job, seen, k == 1)
    results[#results + 1] = { job = job.name, goal = job.goal, flops = job.flops, seen = seen }
    io.stderr:write(display.table(header, { rows[#rows] })[2], "\n")
  end
end

if folder and folder ~= "" then transposed() end
for _, job in ipairs(jobs) do
  if job.name:find(pattern or ".") then run(job) end
end

-- Geometric mean of speed-ups over strict, of the transposed ones.
local function mean()
  local sum, count = 0, 0
  for _, r in ipairs(results) do
    local s = r.job:find "transposed" and r.seen.speedup and r.seen.speedup.eager
    if s then sum, count = sum + math.log(s.median), count + 1 end
  end
  return count > 0 and math.exp(sum / count), count
end

print(("%s%s, %s"):format(device.info.model, device.info.modelled and "; times are modelled" or "; TFLOP/s of the float32 product, 2 m n k / time", os.date "!%Y-%m-%d"))
for _, line in ipairs(display.table(header, rows)) do print(line) end
local m, count = mean()
if m then print(("transposed convolutions of level 1: %.2fx in the geometric mean of %d (goal 3.0x)"):format(m, count)) end
print(core.json.encode { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", results = results })

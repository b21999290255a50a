-- Modelled times of kernels that wait: more work that hangs together is never cheaper, idle blocks and warps make nothing
-- cheaper, and what a GPU takes time for takes some. All in ratios of modelled times.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local execute = require "cawb.judge.worker.execute"
local options = require "cawb.base.options"

local file = check.write(check.folder() .. "/room.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x, places):
        return x.index_select(0, places)
def get_inputs():
    return [torch.randn(1 << 20), torch.randperm(1 << 20).to(torch.int32)]
]])

local host = { require("cawb.base.python").start(120) }
assert(host[1], host[2])

local function open(name, threads)
  local all = options.copy(cawb.defaults)
  all.simulate.threads = threads or 0
  local device = assert(cawb.device(name or "sim:h100", { simulate = all.simulate }))
  return assert(cawb.task(file, { device = device, seed = "74696d65", host = host })), device
end
local task, device = open()

-- The body has x, y, p, a thread's number t, and a number of rounds n.
local function seconds(body, launch, rounds, on)
  local source = [[extern "C" __global__ void k(float *y, const float *x, const int *p, int n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x; float v = x[t], w = x[t + 1]; int q = p[t], r = p[t + 1] | 1;
  ]] .. body .. "\n  y[t] = v + q;\n}\n"
  local plan = ("launch('k', { %s }, outputs[1], inputs[1], inputs[2], %d)\n"):format(launch, rounds)
  local ran = execute.call(on or task, cawb.candidate { name = "k", source = source, plan = plan }, cawb.defaults,
    { op = "time", warmup = 1, samples = 1, budget = 0.1 }, "test", 60.0)
  assert(ran and ran.ok, ran and ran.reason)
  return ran.samples[1]
end

local one, warp = "grid = 1, block = 1", "grid = 1, block = 32"
local function loop(turn) return "for (int i = 0; i < n; i++) { " .. turn .. " }" end

local chains = {
  { "products and sums", one, loop "v = v * w + 0.5f;" }, { "integers", one, loop "q = q * r + 77;" },
  { "special functions", one, loop "v = __sinf(v);" }, { "double", one, loop "v = (double)v * w + 0.5;" },
  { "divisions", one, loop "q = r / ((q & 255) + 1);" }, { "shuffles", warp, loop "v += __shfl_xor_sync(~0u, v, 1);" },
  { "loads", one, loop "q = (p[q] + i) & 0xfffff;" }, { "lanes that go apart", warp, loop "if (q >> (i & 7) & 1) v = v * w + 1; else v = v * v - w;" },
  { "shared memory", one, "__shared__ int a[64]; for (int i = 0; i < 64; i++) a[i] = (i * 13 + 5) & 63; " .. loop "q = a[q & 63];" },
  { "barriers", "grid = 1, block = 128", loop "__syncthreads();" }, { "fences", one, loop "y[n + 64] = v; __threadfence();" },
  { "atomics", one, loop "q = atomicAdd(reinterpret_cast<int *>(y) + 4096, q & 1);" },
  { "malloc", one, loop "void *a = malloc(16 + i); if (a) q++; free(a);" }, { "printf", one, loop 'printf("%d", i);' },
  { "sleep", one, loop "__nanosleep(1000);" },
}

for _, c in ipairs(chains) do
  check.test(c[1] .. ": twice as many turns take about twice as long", function()
    local none, some, more = seconds(c[3], c[2], 0), seconds(c[3], c[2], 2048), seconds(c[3], c[2], 4096)
    local ratio = (more - none) / (some - none)
    assert(some > 1.5 * none, ("2048 turns take %g s, none %g s"):format(some, none))
    assert(ratio > 1.8 and ratio < 2.2, ("twice as many turns take %g times as long"):format(ratio))
  end)
end

check.test("a sleep takes as long as it says", function()
  assert(seconds("__nanosleep(1000000);", one, 0) >= 1e-3)
  assert(seconds("if (t == 0) __nanosleep(1000000);", "grid = 500, block = 64", 0) >= 1e-3)
end)

check.test("blocks and warps that do nothing make nothing cheaper", function()
  for _, c in ipairs { { "v = v * w + 0.5f;", 1 }, { "q = (p[q] + i) & 0xfffff;", 1 }, { "__syncthreads();", 132 }, { "v = v * w + 0.5f;", 133 } } do
    local body = ("if (blockIdx.x < %d) for (int i = 0; i < n; i++) { %s }"):format(c[2], c[1])
    local least = 0
    for _, blocks in ipairs { c[2], c[2] + 1, 133, 264, 1000 } do
      if blocks >= c[2] then
        local s = seconds(body, ("grid = %d, block = 64"):format(blocks), 1024)
        assert(s >= 0.999 * least, ("%s: %g s with %d blocks, %g s with fewer"):format(c[1], s, blocks, least))
        least = math.max(least, s)
      end
    end
  end
  local alone = seconds(loop "v = v * w + 0.5f;", warp, 4096)
  assert(seconds("if (t < 32) " .. loop "v = v * w + 0.5f;", "grid = 1, block = 1024", 4096) >= 0.999 * alone)
end)

check.test("a warp waits at a barrier for the longest, turn by turn", function()
  local turns = "if (threadIdx.x / 32 == %s) for (int j = 0; j < 256; j++) v = v * w + 0.5f; __syncthreads();"
  local same = seconds(loop(turns:format "0"), "grid = 1, block = 128", 64)
  local each = seconds(loop(turns:format "(i & 3)"), "grid = 1, block = 128", 64)
  assert(each > 0.95 * same, ("%g s in turns, %g s by one warp"):format(each, same))
end)

check.test("a load is in flight with those ahead of one branch, as ptxas moves it; not behind a branch in a branch, nor where its place follows from there", function()
  local far = "x[(t + 4096) & 0xfffff]"
  local function late(branch)
    local first = seconds("float late = " .. far .. "; " .. branch .. " v += late;", warp, 0)
    return seconds(branch .. " float late = " .. far .. "; v += late;", warp, 0) / first
  end
  local simple = "v = v > 0 ? expm1f(v) : v;"
  assert(late(simple) < 1.005, "one branch")
  assert(late "if (v > 0) v = expm1f(v) * w; else v = tanhf(v) + w;" > 1.015, "an else")
  assert(late "if (v < 1e30f) { v = expm1f(v); __syncthreads(); }" > 1.015, "a barrier")
  assert(late "v = powf(v, 2.3f);" > 1.015, "a branch in a branch")
  assert(seconds(simple .. " v += x[(t + (int)v) & 0xfffff];", warp, 0) > 1.015 * seconds(simple .. " v += " .. far .. ";", warp, 0), "a place from behind")
  assert(seconds(simple .. " v += x[q & 0xfffff];", warp, 0) > 1.015 * seconds(simple .. " v += " .. far .. ";", warp, 0), "a place that is loaded")
  assert(late "if (v > 0) { v = expm1f(v); y[t + 77] = v; }" > 1.015, "a store")
end)

check.test("more cores of the host model the same time", function()
  local body = loop "if (i < (int)(blockIdx.x & 63)) v = v * w + x[(t + i * 97) & 0xfffff];"
  local times = {}
  for k, threads in ipairs { 1, 2 } do
    local other, own = open(nil, threads)
    times[k] = seconds(body, "grid = 300, block = 64", 64, other)
    other:close()
    own:close()
  end
  check.equal(times[1], times[2])
end)

check.test("latencies are the device's", function()
  local text = assert(io.open(require("cawb.core").home .. "/lua/cawb/gpu/devices/h100.lua")):read "a"
  local slow = check.write(check.folder() .. "/slow.lua", (text:gsub("issue = 4", "latency_alu = 16, issue = 4")))
  local other, own = open("sim:" .. slow)
  local body = loop "v = v * w + 0.5f;"
  local ratio = (seconds(body, one, 8192, other) - seconds(body, one, 0, other)) / (seconds(body, one, 8192) - seconds(body, one, 0))
  other:close()
  own:close()
  assert(ratio > 3 and ratio < 4.2, ("four times the latency takes %g times as long"):format(ratio))
end)

task:close()
device:close()
return check.done()

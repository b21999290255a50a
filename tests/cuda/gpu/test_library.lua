-- gemm{} and conv{} on a GPU, through cuBLASLt and cuDNN: every case beside PyTorch, what the
-- libraries refuse, and that a worker is as good after that as before.

local cawb = require "cawb"
local device <close> = assert(cawb.device "cuda:0")
local check, open, candidate, host = dofile "tests/support/library.lua" (device)

local product = { "product", { "torch.randn(256, 512)", "torch.randn(512, 128)" }, "a @ b",
                  "gemm{ a = a, b = b, c = y }" }

check.test("a product is a kernel's equal: it is counted, timed, and its neighbours are guarded", function()
  local task <close> = open(device, host, product)
  local time = assert(cawb.measure(task, candidate(product)))
  assert(time.ok and time.speedup.eager.median > 0, time.reason)
  local p = assert(cawb.profile(task, candidate(product)))
  assert(p.ok, p.reason)
  check.equal(p.source, "events")
  check.matches(p.note, "calls a library")
  check.equal(p.kernels[1].kernel, "gemm")
  assert(p.metrics.seconds > 0)
end)

check.test("a library step between launches keeps the order of the plan", function()
  local task <close> = open(device, host, { "", product[2], "F.relu(a * 2 @ b) + 1" })
  local c = cawb.candidate { source = [[
    extern "C" __global__ void twice(float *y, const float *x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
    extern "C" __global__ void one_more(float *y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += 1; }]],
    plan = [[local a, b, y = inputs[1], inputs[2], outputs[1]
      local t = scratch{ shape = a.shape }
      launch("twice", { grid = (a.numel + 255) // 256, block = 256 }, t, a, a.numel)
      gemm{ a = t, b = b, c = y, epilogue = "relu" }
      launch("one_more", { grid = (y.numel + 255) // 256, block = 256 }, y, y.numel)]] }
  local result = assert(cawb.verify(task, c))
  assert(result.ok, result.reason)
  local time = assert(cawb.measure(task, c, { against = {} }))
  assert(time.ok, time.reason)
end)

check.test("what no algorithm can do is the candidate's failure, and the next one works", function()
  local task <close> = open(device, host, { "", { "torch.randn(2, 64, 128, 128)", "torch.randn(64, 64, 3, 3)" },
    "F.conv2d(a, b, padding=1)" })
  local before = device.workers
  for _, plan in ipairs {
    "conv{ x = inputs[1], w = inputs[2], y = outputs[1], padding = 1, workspace = 0 }",
    "conv{ x = inputs[1], w = inputs[2], y = outputs[1], padding = 1, workspace = 64 << 20 }",
  } do
    local result = assert(cawb.verify(task, cawb.candidate { source = "//", plan = plan }, { trials = 1 }))
    print("     " .. (result.ok and "accepted" or result.stage .. ": " .. result.reason))
    if not result.ok then check.matches(result.reason, "workspace = %d+; give it %d+ bytes") end
  end
  check.equal(device.workers, before, "workers")
end)

return check.done()

-- gemm{} and conv{} on the simulated device: every case beside PyTorch, mistakes, and the
-- setting that forbids them.

local cawb = require "cawb"
local core = require "cawb.core"
local libraries = require "cawb.torch.libraries"
local options = require "cawb.base.options"
local device <close> = assert(cawb.device "sim:h100")
local check, open, candidate, host = dofile "tests/support/library.lua" (device)

local product = { "product", { "torch.randn(40, 64)", "torch.randn(64, 24)" }, "a @ b",
                  "gemm{ a = a, b = b, c = y }" }

local function reason(task, plan, all)
  local result = assert(cawb.verify(task, cawb.candidate { source = "// none\n", plan = plan }, { options = all }))
  assert(not result.ok, "it was accepted: " .. plan)
  return result.reason, result.stage
end

check.test("the exact GELU is no epilogue, and the approximation does not pass for it", function()
  local task <close> = open(device, host, { "", product[2], "F.gelu(a @ b)" })
  check.matches(reason(task, "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], epilogue = 'gelu' }"),
    "plan.lua:1: .*tanh approximation only%. Write 'gelu_tanh'")
  check.matches(reason(task, "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], epilogue = 'gelu_tanh' }"),
    "outputs%[1%] is wrong")
end)

check.test("a setting forbids them, and says which", function()
  local all = options.copy(cawb.defaults)
  all.plan.libraries = false
  local path = check.folder() .. "/task.py"
  check.write(path, "import torch\nclass Model(torch.nn.Module):\n  def forward(self, a, b): return a @ b\n"
    .. "def get_inputs(): return [torch.randn(8, 8), torch.randn(8, 8)]\ndef get_init_inputs(): return []\n")
  local task <close> = assert(cawb.task(path, { device = device, options = all, host = host }))
  local why, stage = reason(task, "gemm{ a = inputs[1], b = inputs[2], c = outputs[1] }", all)
  check.equal(stage, "plan")
  check.matches(why, "gemm: library calls are not allowed here %(option plan.libraries is false%)")
end)

check.test("the step says what is computed, and its modelled time follows from that", function()
  local task <close> = open(device, host, product)
  local result = assert(cawb.verify(task, candidate(product), { trials = 1 }))
  local step = result.steps[1]
  check.equal(step.kind, "gemm")
  check.equal(core.json.encode { step.m, step.n, step.k, step.batch }, "[40,24,64,1]")
  check.equal(step.flops, 2 * 40 * 24 * 64)
  check.equal(step.bytes, 4 * (40 * 64 + 64 * 24 + 40 * 24))
  local rates = device.info.rates
  local least = rates.launch + math.max(step.flops / rates.fp32, step.bytes / rates.dram)
  local seconds = result.report.seconds                       -- libraries reach less than the published rates
  assert(seconds > least and seconds < rates.launch + 1000 * (least - rates.launch), "modelled time")
  local p = assert(cawb.profile(task, candidate(product)))
  assert(p.ok and p.kernels[1].kernel == "gemm", "the profile names it")
  check.equal(p.metrics.dram_bytes % 32, 0)
end)

check.test("a product takes as long as PyTorch's own is modelled to take: both know one table of tiles", function()
  local rates = device.info.rates
  for _, t in ipairs { { 128, 128, 128 }, { 256, 256, 256 }, { 40, 24, 4096 }, { 1000, 70, 33 } } do
    local path, m, n, k = check.folder() .. "/task.py", table.unpack(t)
    check.write(path, ("import torch\nclass Model(torch.nn.Module):\n  def forward(self, a, b): return a @ b\n"
      .. "def get_inputs(): return [torch.randn(%d, %d), torch.randn(%d, %d)]\ndef get_init_inputs(): return []\n"):format(m, k, k, n))
    local task <close> = assert(cawb.task(path, { device = device, host = host }))
    local seconds = assert(cawb.verify(task, cawb.candidate { source = "// none\n", plan = "gemm{ a = inputs[1], b = inputs[2], c = outputs[1] }" }, { trials = 1 })).report.seconds
    local bytes, own = 4 * (m * k + k * n + m * n), libraries.product(1, m, n, k, libraries.reached.matmul, { fp32 = rates.fp32, sms = device.info.sms })
    local other = rates.launch + math.max(own, bytes / rates.dram)
    assert(math.abs(seconds / other - 1) < 0.05, ("%d x %d x %d: %g and %g s"):format(m, n, k, seconds, other))
  end
end)

return check.done()

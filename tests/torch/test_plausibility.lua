-- The floor of a task: what must be read, written and computed, and what need not.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local plausibility = require "cawb.judge.verify.plausibility"
local python = require "cawb.base.python"

local device <close> = assert(cawb.device "sim:h100")
local host = { assert(python.start(cawb.defaults.deadlines.start)) }     -- one for all tasks
local dir = check.folder()

-- A task with this forward and these inputs, its costs and its floor.
local function costs(forward, inputs, before, used)
  local path = check.write(("%s/t%s.py"):format(dir, tostring({}):match "0x(%x+)"), ([[
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(64, 64))
    def forward(self, %s):
        %s
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(select(2, inputs:gsub(";", "")) == 1 and "x, y" or "x", before or "pass", forward, (inputs:gsub(";", ", "))))
  local task <close> = assert(cawb.task(path, { device = device, host = host }))
  return plausibility.costs(task), assert(plausibility.floor(task, used or {})), device.info.rates
end

check.test("inputs are read once, outputs written once", function()
  local c, floor, rates = costs("torch.relu(x) + 1", "torch.randn(1024, 256)")
  check.equal(c.read, 1024 * 256 * 4)
  check.equal(c.written, 1024 * 256 * 4)
  check.equal(c.flops, 0)
  check.equal(floor.memory, 1024 * 256 * 4 / rates.dram)      -- the output fits into L2
  check.equal(floor.source, "modelled")
end)

check.test("what an operator may leave unread does not count", function()
  check.equal(costs("x[:, :8] * 1", "torch.randn(64, 64)").read, 64 * 8 * 4)
  check.equal(costs("(x * 2)[:, :8] + 1", "torch.randn(64, 64)").read, 64 * 8 * 4)
  check.equal(costs("x * 2", "torch.randn(64, 64);torch.randn(64, 64)", "y * 2").read, 64 * 64 * 4)  -- y for nothing
  check.equal(costs("torch.where(x > 0, y, x)", "torch.randn(64, 64);torch.randn(64, 64)").read, 64 * 64 * 4)
  check.equal(costs("F.max_pool1d(x, 1, 4)", "torch.randn(2, 4, 64)").read, 0)
  check.equal(costs("F.max_pool1d(x, 4)", "torch.randn(2, 4, 64)").read, 2 * 4 * 64 * 4)
  check.equal(costs("x.sum(1)", "torch.randn(64, 64)").read, 64 * 64 * 4)
end)

check.test("the rewrite that spares operations is named, by the recorded graph", function()
  local function spared(...) return costs(...).spared or "nothing" end
  check.matches(spared("(x @ self.w).sum(1)", "torch.randn(32, 64)"), "^sum %(operator 2%) adds up what mm %(operator 1%) multiplies")
  check.matches(spared("(x @ self.w) @ y", "torch.randn(32, 64);torch.randn(64, 8)"), "^the products mm %(operator 1%) and mm %(operator 2%) can be computed in another order")
  check.matches(spared("x @ (self.w @ self.w)", "torch.randn(2, 64)"), "^mm %(operator 1%) multiplies parameters alone")
  check.matches(spared("torch.tril(x) @ y", "torch.randn(64, 64);torch.randn(64, 64)"), "^the factors of mm %(operator 2%) hold zeros")
  check.matches(spared("torch.relu(x @ self.w)[:, :4] + 1", "torch.randn(32, 64)"), "^no output takes all that mm %(operator 1%) computes")
  check.equal(spared("torch.relu(x) + 1", "torch.randn(32, 64)"), "nothing")
end)

check.test("an image so small that places of the window meet padding alone", function()
  local function read(size, how) return costs("F.conv2d(x, y, " .. how .. ")", ("torch.randn(2, 3, %d, %d);torch.randn(5, 3, 3, 3)"):format(size, size)).read end
  local function image(size) return 2 * 3 * size * size * 4 end
  local window = 5 * 3 * 3 * 3 * 4
  check.equal(read(8, "padding=1"), image(8) + window)
  check.equal(read(2, "padding=1"), image(2) + window)
  check.equal(read(1, "padding=1"), 0)
  check.equal(read(3, "padding=3, dilation=3"), 0)
  check.equal(read(4, "padding=3, dilation=3"), image(4) + window)
  check.equal(read(9, "stride=4"), 0)                            -- gaps in the image
end)

check.test("a broadcast input counts once", function()
  check.equal(costs("x * 2 + y", "torch.randn(64, 1).expand(64, 64);torch.randn(64, 64)").read, 64 * 4 + 64 * 64 * 4)
end)

check.test("a product's operations, and what saves them", function()
  local all = 2 * 64 * 64 * 64 * 7 / 8
  check.equal(costs("x @ self.w", "torch.randn(64, 64)").flops, all)
  check.equal(costs("torch.relu(x @ self.w)", "torch.randn(64, 64)").flops, all)
  check.equal(costs("(x @ self.w).sum(1)", "torch.randn(64, 64)").flops, 0)        -- = x @ w.sum(1)
  check.equal(costs("x @ self.w @ self.w", "torch.randn(64, 64)").flops, 0)        -- = x @ (w @ w)
  check.equal(costs("torch.relu(x @ self.w) @ self.w", "torch.randn(64, 64)").flops, 2 * all)
  local d = costs("torch.diag(x) @ y", "torch.randn(64);torch.randn(64, 64)").flops
  assert(d <= all / 64 * 1.01, d)
  local t = costs("x @ y", "torch.tril(torch.randn(64, 64));torch.tril(torch.randn(64, 64))").flops
  assert(t < all / 5 and t > all / 8, t)
  assert(costs("F.conv2d(x, y)", "torch.randn(1, 4, 16, 16);torch.randn(4, 4, 3, 3)").flops
    <= 2 * 4 * 14 * 14 * 4 * 9 / 4 + 1)
end)

check.test("arithmetic is held against the precision in use", function()
  local _, plain, rates = costs("x @ self.w", "torch.randn(64, 64)")
  local _, tensor = costs("x @ self.w", "torch.randn(64, 64)", nil, { tf32 = true })
  local _, packed = costs("x @ self.w", "torch.randn(64, 64)", nil, { packed = true })
  local flops = 2 * 64 * 64 * 64 * 7 / 8
  check.equal(plain.compute, flops / rates.fp32)
  check.equal(tensor.compute, flops / rates.tf32)
  check.equal(tensor.precision, "tf32")
  check.equal(packed.compute, flops / (2 * rates.fp32))
end)

check.test("a measured rate is what one kernel reached: another one may be a little faster", function()
  local ceilings = require "cawb.gpu.ceilings"
  local of = ceilings.of
  ceilings.of = function() return { copy = 2e12, read = 2.5e12, launch = 3e-6, source = "measured" } end
  local ran, _, floor = pcall(costs, "x.sum()", "torch.randn(4096, 256)")
  ceilings.of = of
  assert(ran)
  local reached = 4096 * 256 * 4 / 2.5e12
  assert(floor.memory < 0.95 * reached and floor.memory > 0.9 * reached, floor.memory)
end)

check.test("a simulated device is not faster than its own floor", function()
  local task <close> = assert(cawb.task("examples/layernorm.py", { device = device }))
  local c = assert(cawb.candidate "kernels/layernorm/v4_registers")
  local m = assert(cawb.measure(task, c, { against = {} }))
  local floor = assert(plausibility.floor(task, {}))
  assert(m.time_s.median >= floor.seconds, ("%g < %g"):format(m.time_s.median, floor.seconds))
end)

host[1]:close()
return check.done()

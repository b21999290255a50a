-- What a forward makes without its inputs: masks, tables, places and numbers.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right
local may = require("cawb.compose.ir.prepared").may

local function prepared(made)
  local count = 0
  for _, kernel in ipairs(made.kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do count = count + (launch.prepare and 1 or 0) end
  end
  return count
end

check.test("a kernel of a call stores nothing that kernels ahead of the first call may read", function()
  local constant, given = { kind = "map", inputs = {} }, { kind = "leaf", source = "input:1", inputs = {} }
  local called = { kind = "map", inputs = { given } }
  check.equal(may { roots = { constant, called } }, false)
  check.equal(may { roots = { called, { kind = "map", inputs = { constant, given } } } }, true)
  check.equal(may { roots = { constant, { kind = "map", inputs = { constant } } } }, true)
end)

check.test("a table of many numbers is written once, before the first call", function()
  local made = right("return (x + torch.tensor([0.5 * (k * k % 41) for k in range(100)]))[:, torch.tensor([(k * 37) % 100 for k in range(90)])]",
    "[torch.randn(5, 100)]")
  check.equal(prepared(made), 2, "both tables")
  check.equal(#made.kernels, 3, "and one kernel reads them")
end)

check.test("a part that is made before the first call keeps the memory of the tensor that it is a part of", function()
  local whole = { kind = "view", inputs = {} }
  require("cawb.compose.ir.prepared").mark { { roots = { { kind = "map", inputs = {}, slice_of = whole } }, made = { launches = {} } } }
  check.equal(whole.persistent, true)
  local last = { dtype = "float32", numel = 8 }
  local steps = { { writes = { last }, reads = {} }, { writes = {}, reads = { last } }, { writes = { { dtype = "float32", numel = 8, persistent = true } }, reads = {} } }
  check.equal(#require("cawb.compose.plan.memory").plan(steps), 2, "and shares it with nothing")
end)

check.test("a few numbers stand in the kernel, and so does what counts", function()
  local made = right("return x * torch.tensor([1.0, 4.0, 2.0, 0.5]) + torch.tensor(list(range(7, 7 + 3 * 400, 3))).reshape(100, 4)",
    "[torch.randn(100, 4)]")
  check.equal(#made.kernels, 1)
  check.equal(prepared(made), 0)
end)

check.test("a table of truth values and one of numbers that are not finite", function()
  right("m = torch.tensor([k % 3 == 0 for k in range(96)])\nv = torch.tensor([float('-inf') if k % 5 == 0 else float(k) for k in range(96)])\n"
    .. "return torch.where(m, x, -x) + torch.where(v > 0, v, v.new_tensor(2.0)), (x + v).softmax(-1)", "[torch.randn(3, 96)]")
end)

check.test("places of a triangle, and windows", function()
  right("i = torch.triu_indices(20, 20, 1)\nj = torch.tril_indices(9, 20, -2)\nreturn x[:, i[0], i[1]], x[:, j[0], j[1]] * 2, "
    .. "x * torch.hann_window(20) + torch.logspace(-1, 1, 20)", "[torch.randn(3, 20, 20)]")
end)

check.test("a number of a parameter or a buffer goes into operators as it is: other weights have another", function()
  local setup = "self.e = nn.Parameter(torch.rand([], dtype=torch.float64) + 0.1)\nself.m = nn.Parameter(torch.rand([], dtype=torch.float64))\n"
    .. "self.s = nn.Parameter(torch.rand(3) + 0.5)\nself.register_buffer('c', torch.tensor(0.25))\nself.n = nn.BatchNorm2d(3)"
  local made = right("x = F.batch_norm(x, self.n.running_mean, self.n.running_var, self.n.weight, self.n.bias, False, self.m.item(), self.e.item())\n"
    .. "return F.dropout(x, self.m.item(), False) * self.c.item() + torch.full((6,), self.s[1].item()) / self.s[2:].item()", "[torch.randn(2, 3, 5, 6)]", setup)
  assert(made.plan:find '"e"' or made.plan:find "%.e%f[^%w]", "the kernel reads the parameter")
  right("return F.layer_norm(x, (8,), self.w, None, self.e.item()), F.scaled_dot_product_attention(x, x, x, scale=self.e.item())", "[torch.randn(2, 5, 8)]",
    "self.e = nn.Parameter(torch.rand([]) + 0.1)\nself.w = nn.Parameter(torch.randn(8))")
end)

check.test("what computes with such a number in Python, or decides by it, is refused with its line", function()
  for _, forward in ipairs { "return x * 2 if self.s.item() > 0 else x", "return x * (self.s.item() + 1)", "return x + torch.tensor(self.s.item())" } do
    local made, why = composed.make(forward, "[torch.randn(4)]", "self.s = nn.Parameter(torch.rand([]) + 1)")
    assert(not made)
    check.matches(why, "line %d+ of the task, cannot be lowered: the program goes on as this number says")
  end
  local made, why = composed.make("return F.leaky_relu(x, self.s.item())", "[torch.randn(4)]", "self.s = nn.Parameter(torch.rand([]))")
  assert(not made)
  check.matches(why, "leaky_relu.*compose needs its number at once")
end)

check.test("a number that follows from constants alone may decide what is done", function()
  right("n = torch.tensor([3, 5]).sum()\nreturn x[:, : int(n)] * torch.full((4,), 0.5).sum().item()", "[torch.randn(3, 20)]")
end)

check.test("a number that follows from inputs or parameters may not", function()
  for _, text in ipairs { "x.sum()", "self.s" } do
    local made, why = composed.make(("return x * float(%s)"):format(text), "[torch.randn(3, 20)]", "self.s = nn.Parameter(torch.tensor(0.5))")
    check.equal(made, nil)
    check.matches(why, "follows from data")
  end
end)

check.test("a mask that follows from constants is an index; so is what is counted or found in constants", function()
  right("m = torch.zeros(6, dtype=torch.bool)\nm[1::2] = True\nk = torch.nonzero(m).flatten()\nn = int(m.sum())\n"
    .. "z = x.clone()\nz[:, m] = 0.5\nz[:, torch.arange(6) > 4] += x[:, :1]\n"
    .. "return x[:, m] * n + x[:, k], z, x[torch.tensor([True, False, True, True])], torch.masked_select(x, torch.ones(4, 6).triu().bool()), "
    .. "x.repeat_interleave(torch.tensor([1, 2, 0, 1]), 0), x * torch.bincount(torch.tensor([0, 1, 1, 3])).sum()", "[torch.randn(4, 6)]")
  right("return x[:, torch.ones(4, 4).tril().bool()] * 2", "[torch.randn(3, 4, 4)]")
end)

check.test("without data, constants are followed all the same", function()
  local path = check.write(check.folder() .. "/task.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        m = torch.zeros(4096, dtype=torch.bool)
        m[1::2] = True
        rates = [r.item() for r in torch.linspace(0, 0.5, 6)]
        return x[:, m] * rates[2] * int(m.sum())
def get_inputs():
    return [torch.randn(64, 4096)]
def get_init_inputs():
    return []
]])
  local all = require "cawb.base.options".copy(require "cawb".defaults)
  all.scale.mode, all.simulate.blocks = "full", 1
  local device <close> = assert(require "cawb".device("sim:h100", { simulate = all.simulate }))
  local task <close> = assert(require "cawb".task(path, { device = device, options = all, host = composed.host }))
  check.equal(table.concat(task.outputs[1].shape, " "), "64 2048")
  assert(require "cawb.compose".make(task))
end)

check.test("a mask of inputs, of a buffer, or that an input was written to, is no index", function()
  for _, mask in ipairs { "x[0] > 0", "self.m", "torch.zeros(6, dtype=torch.bool).copy_(x[0] > 0)" } do
    local made, why = composed.make(("return x[:, %s].sum()"):format(mask), "[torch.randn(4, 6)]", "self.register_buffer('m', torch.ones(6) > 0)")
    check.equal(made, nil, mask)
    check.matches(why, "shapes that follow from data")
  end
end)

check.test("weights of a given length", function()
  right("return self.f(x), self.h(x), self.c(x[None])[0]", "[torch.randn(5, 64)]",
    "self.f = nn.utils.weight_norm(nn.Linear(64, 33))\nself.h = nn.utils.parametrizations.weight_norm(nn.Linear(64, 7))\n"
    .. "self.c = nn.utils.parametrizations.weight_norm(nn.Conv1d(5, 6, 3), dim=2)")
end)

return check.done()

-- A family says whether it makes a kernel before there is a text: where it does, the text can be made, and where not, it says why. So
-- every text is generated once, and that of equal kernels once for all of them.

local compose = require "cawb.compose"
local composed = dofile "tests/support/composed.lua"
local generators = require "cawb.compose.schedule.generators"
local graphs = dofile "tests/fuzz/graphs.lua"
local check = composed.check

local names = { "attention.attention", "cell.kernel", "order.order", "product.product", "product.kernel_conv", "rows.rows", "rows.stream",
                "scan.scan", "tensor.kernel_box", "tensor.kernel_conv", "tensor.kernel_matrix", "tensor.kernel_point", "window.window" }

-- Of each family what it answered and how often it generated: { yes, no, texts }.
local seen = {}

-- Of a family that asks another one, the outer call counts, and of a trial none.
local depth = 0

local function within(f, ...)
  depth = depth + 1
  local got = table.pack(pcall(f, ...))
  depth = depth - 1
  return table.unpack(got, 1, got.n)
end

-- From here on each answer of a family is compared with what it can do, trial by trial.
local function watch(name)
  local family, count = require("cawb.compose.emit." .. name), { yes = 0, no = 0, texts = 0 }
  local accepts, generate = family.accepts, family.generate
  seen[name] = count
  function family.accepts(kernel, ...)
    local fine, why = accepts(kernel, ...)
    local own = setmetatable({ name = "k" }, { __index = kernel })
    local can, made = within(generate, own, ...)
    if fine then
      assert(can and made and made.text, ("%s accepts what it does not make: %s"):format(name, tostring(made)))
      count.yes = count.yes + 1
    else
      check.equal(type(why), "string")
      assert(not can, ("%s makes what it refuses: %s"):format(name, why))
      count.no = count.no + 1
    end
    return fine, why
  end
  function family.generate(...)
    if depth == 0 then count.texts = count.texts + 1 end
    local fine, made, why = within(generate, ...)
    if not fine then error(made, 0) end
    return made, why
  end
end
for _, name in ipairs(names) do watch(name) end

local function texts()
  local n = 0
  for _, count in pairs(seen) do n = n + count.texts end
  return n
end

-- Kernels whose text is not that of another kernel.
local function of_own(made)
  local n = 0
  for _, kernel in ipairs(made.kernels) do n = n + (kernel.made and not kernel.as and 1 or 0) end
  return n
end

-- Makes a task, if it is one; every kernel that no library computes has had one text, or has that of a kernel which is equal. Returns
-- whether there were kernels.
local function once(forward, inputs, setup, options)
  local task <close> = composed.task(forward, inputs, setup)
  local before, own = texts(), 0
  local made = task and compose.make(task, options)
  if not made then return false end
  for _, kernel in ipairs(made.kernels) do own = own + (kernel.call and 0 or 1) end
  check.equal(texts() - before, made.texts)
  assert(made.texts <= own and made.texts >= of_own(made), ("%d texts for %d kernels"):format(made.texts, own))
  check.matches(composed.how(made), ("texts %d, for kernels %d"):format(made.texts, own))
  return true
end

local function once_with_tensor_cores(forward, inputs, setup, conv)
  once(forward, inputs, setup, { arch = "sm_90a", least = 64, narrowest = 2, attend = 1, conv = conv })
end

check.test("attempts are kernels, over drawn graphs", function()
  local made = 0
  for seed = 1000, 1003 do
    local values = graphs.draw(seed)
    local forward, inputs = graphs.text(values, { values[#values] }, graphs.type_of(seed))
    made = made + (once(forward, inputs, graphs.setup(graphs.type_of(seed)), graphs.options(seed)) and 1 or 0)
  end
  assert(made >= 2, "too few graphs are tasks")
end)

check.test("products, convolutions, attention and cells, with what stands around them", function()
  local conv = "self.c = nn.Conv2d(8, 16, 3, padding=1)\nself.p = nn.Conv2d(16, 16, 1)\nself.t = nn.ConvTranspose2d(16, 8, 2, stride=2)"
  local image = "[torch.randn(2, 8, 12, 20)]"
  for _, way in ipairs { "box", "packed", "gathered" } do
    once_with_tensor_cores("return torch.relu(self.t(torch.tanh(self.p(torch.relu(self.c(x))))))", image, conv, way)
  end
  once("y = self.c(x)\nreturn F.max_pool2d(torch.relu(y), 2), y.mean((2, 3))", image, conv, {})
  once("return torch.relu(self.c(x)) + 1", image, "self.c = nn.Conv2d(8, 16, 3, bias=False)", { kernels = function() return { loop = "simt" } end })
  once("return torch.relu(x @ y)", "[torch.randn(20, 24), torch.randn(24, 16)]", nil, { libraries = false })
  once_with_tensor_cores("return torch.relu(torch.tanh(x) @ y).t() + 1", "[torch.randn(64, 64), torch.randn(64, 64)]")
  once_with_tensor_cores("return torch.softmax(x @ y.transpose(1, 2) * 0.5, 2) @ z + 1", "[torch.randn(2, 32, 16), torch.randn(2, 32, 16), torch.randn(2, 32, 16)]")
  once("return self.g(x)[0]", "[torch.randn(3, 2, 8)]", "self.g = nn.GRU(8, 8, 2, bidirectional=True)", { arch = "sm_90a" })
  once("return torch.cumsum(x, 1).flip(1) * 2, torch.sort(x, 1)[0].sum(1), torch.sort(x, 1)[1] + 1", "[torch.randn(5, 12)]", nil, {})
end)

check.test("epilogues that need a result at another place, or have another number of elements", function()
  for _, y in ipairs { "torch.cumsum(x, 1)", "torch.sort(x, 1)[1]", "x @ x.t()", "torch.softmax(x @ x.t(), 1) @ x", "self.c(x[None, None])[0, 0]" } do
    for _, behind in ipairs { "y + y.flip(1)", "y[:, ::2] * 2" } do
      once_with_tensor_cores(("y = %s\nreturn %s"):format(y, behind), "[torch.randn(32, 32)]", "self.c = nn.Conv2d(1, 8, 3, padding=1)")
    end
  end
end)

check.test("equal blocks of a network are generated once, and each computes with its own weights", function()
  local function blocks(n)
    return composed.right("for b in self.b: x = b[2](torch.relu(b[0](x)).mean(1, keepdim=True) + b[1](x))\nreturn x", "[torch.randn(6, 32)]",
      ("self.b = nn.ModuleList([nn.ModuleList([nn.Linear(32, 32), nn.Linear(32, 32), nn.LayerNorm(32)]) for _ in range(%d)])"):format(n), { arch = "sm_90a" })
  end
  local few, many = blocks(3), blocks(6)
  check.equal(many.texts, few.texts)
  assert(#many.kernels > #few.kernels and many.texts < #many.kernels)
end)

check.test("every family has accepted a kernel; refusals came with a reason", function()
  local refused = 0
  for _, name in ipairs(names) do
    assert(seen[name].yes > 0, name .. " was not asked for a kernel that it makes")
    refused = refused + seen[name].no
  end
  assert(refused > 0)
end)

return check.done()

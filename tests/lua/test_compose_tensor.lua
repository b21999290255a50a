-- Products on tensor cores at float32's accuracy: packed factors, what they take in, ranges that 16 bits cannot hold.

local composed = dofile "tests/lua/composed.lua"
local check = composed.check

local hopper = { arch = "sm_90a" }

local function right(forward, inputs, setup) return composed.right(forward, inputs, setup, hopper) end

local function steps(made)
  local words = {}
  for name in made.plan:gmatch 'launch%("k%d+_([%w_]+)"' do words[#words + 1] = name end
  return table.concat(words, " ")
end

check.test("factors are packed, multiplied, and done without tensor cores where packing says so", function()
  check.equal(steps(right("return x @ y", "[torch.randn(256, 512), torch.randn(512, 136)]")), "mm_left mm_right mm mm_plain")
end)

check.test("batches, transposed factors and ragged sizes", function()
  right("return torch.bmm(x.transpose(1, 2), y.transpose(1, 2))", "[torch.rand(3, 515, 130), torch.randn(3, 67, 515)]")
  right("return x @ y", "[torch.randn(2, 3, 65, 258), torch.randn(2, 3, 258, 222)]")
  right("return x @ y[:, 3:]", "[torch.rand(300, 250), torch.randn(250, 236)]")
end)

check.test("long sums over few tiles are cut into parts that one more kernel joins", function()
  local made = right("return torch.tanh(x @ y)", "[torch.rand(96, 4160), torch.rand(4160, 161) / 4160]")
  check.equal(steps(made), "tanh_left tanh_right tanh tanh_finish tanh_plain")
end)

check.test("weights are packed before the first call; what stands ahead and behind takes no step of its own", function()
  local made = right("return torch.sigmoid(self.l(F.gelu(x) * 2)) + y", "[torch.randn(300, 192), torch.randn(300, 160)]",
    "self.l = nn.Linear(192, 160)")
  check.equal(steps(made), "add_left add_right add add_plain")
  check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_add_right"')
  assert(not made.plan:find 'prepare%(function%(params%) launch%("k1_add_left"')
end)

check.test("rows far apart in size keep their digits, each by a scale of its own", function()
  right("return (x * y) @ z", "[torch.randn(256, 256), 10.0 ** torch.linspace(-18, 18, 256).reshape(256, 1), torch.randn(256, 256)]")
end)

check.test("numbers too far apart for 16 bits, and infinities, are multiplied in float32", function()
  right("return (x * z) @ (y / z.t())",
    "[torch.randn(256, 256), torch.randn(256, 256), 10.0 ** (torch.arange(256) * 37 % 17 - 8.0).reshape(1, 256)]")
  right("return (x / (1 - z)) @ y", "[torch.rand(256, 256), torch.rand(256, 256), torch.eye(256) * (torch.arange(256) == 3)]")
end)

check.test("small products, other types and other devices are left to others", function()
  assert(composed.make("return x @ y", "[torch.randn(64, 64), torch.randn(64, 64)]", nil, hopper).plan:find "gemm{")
  assert(composed.make("return x @ y", "[torch.randn(256, 512), torch.randn(512, 136)]", nil, { arch = "sm_80" }).plan:find "gemm{")
  local half = "[torch.randn(256, 512).half(), torch.randn(512, 136).half()]"
  assert(composed.make("return x @ y", half, nil, hopper).plan:find "gemm{")
end)

check.test("a text that would be too long leaves small products to libraries", function()
  local made = composed.make("return (x @ y) @ z", "[torch.randn(64, 1024), torch.randn(1024, 1024), torch.randn(1024, 64)]", nil,
    { arch = "sm_90a", least = 1, largest = 20000 })
  assert(made.plan:find "gemm{", "the smaller one is a library's")
end)

return check.done()

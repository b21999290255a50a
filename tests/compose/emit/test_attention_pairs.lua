-- Attention of float32 by two parts of 16 bits: right, at float32's accuracy, and left to three parts where these do not hold the numbers.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local two = { arch = "sm_80", attend = 1, kernels = function() return { pairs = true } end }

local function qkv(shape, keys, depth, columns)
  local function of(n, d) return ("torch.randn(%s%d, %d)"):format(shape, n, d) end
  return ("[%s, %s, %s]"):format(of(70, depth), of(keys, depth), of(keys, columns or depth))
end

local own = "return F.scaled_dot_product_attention(x, y, z)"

local kinds = {
  normal = "torch.randn(2, 80, 64)",
  sharp = "torch.randn(2, 80, 64) * 6",
  ["every element of another size"] = "torch.randn(2, 80, 64) * 10.0 ** (torch.rand(2, 80, 64) * 12 - 11)",
  rows = "torch.randn(2, 80, 64) * 10.0 ** (torch.rand(2, 80, 1) * 6 - 5)",
  offset = "torch.randn(2, 80, 64) + 30",
  ["one value of nothing"] = "torch.randn(2, 80, 64) * 6 * (torch.arange(2 * 80 * 64).reshape(2, 80, 64) != 777)",
}

check.test("its error is at most three times PyTorch's own in strict float32", function()
  for _, kind in pairs(kinds) do
    composed.close(own, ("[%s, %s, %s]"):format(kind, kind, kind), { attend = 1, least = 4096, words = "three products", kernels = two.kernels })
  end
end)

check.test("sizes that are no multiples, and a diagonal", function()
  for _, sizes in ipairs { { "2, 3, ", 75, 64 }, { "3, ", 33, 40, 24 }, { "", 130, 17, 9 }, { "1, 2, ", 64, 128 } } do
    check.matches(composed.how(composed.right(own, qkv(table.unpack(sizes)), nil, two)), "three products")
  end
  composed.right("return F.scaled_dot_product_attention(x, x, x, is_causal=True)", "[torch.randn(2, 2, 150, 32)]", nil, two)
end)

check.test("numbers that halves do not hold: far apart, and values of nothing", function()
  composed.right("return F.scaled_dot_product_attention(x * 1e-20, x, x * 1e20)", "[torch.randn(1, 2, 80, 32)]", nil, two)
  composed.right("return F.scaled_dot_product_attention(x * 5, x, torch.relu(x))", "[torch.randn(1, 2, 80, 32)]", nil, two)
end)

check.test("scores that are no multiple of the products are not made of halves; a schedule can have it otherwise", function()
  local made = assert(composed.make("a = F.relu(x @ y.transpose(1, 2) / 4 + 0.5)\nreturn a.softmax(-1) @ z", qkv("4, ", 75, 32), nil, two))
  check.matches(composed.how(made), "six products")
  made = assert(composed.make(own, qkv("1, 4, ", 75, 32), nil, { arch = "sm_80", attend = 1, kernels = function() return { pairs = false } end }))
  check.matches(composed.how(made), "six products")
end)

check.test("only a schedule asks for it", function()
  local made = assert(composed.make(own, qkv("1, 64, ", 1024, 64), nil, { arch = "sm_80", attend = 1 }))
  check.matches(composed.how(made), "six products")
end)

check.test("blocks are smaller where a device has less shared memory", function()
  local function of(arch) return assert(composed.make(own, "[torch.randn(1, 8, 256, 64), torch.randn(1, 8, 256, 64), torch.randn(1, 8, 256, 64)]", nil,
    { arch = arch, attend = 1, emulate = true, kernels = two.kernels })).kernels[1].made.launches end
  check.equal(of "sm_90a"[2].grid[1], 16)
  check.equal(of "sm_89"[2].grid[1], 32)
end)

return check.done()

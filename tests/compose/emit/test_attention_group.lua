-- Attention by Hopper's products of warpgroups, of 16-bit numbers and of float32 in pairs: right, with what hides scores, with what
-- is not a number, in tiles that one block does after another; and left to other kernels where it does not apply.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local own = "return F.scaled_dot_product_attention(x, y, z)"
local causal = "return F.scaled_dot_product_attention(x, y, z, is_causal=True)"

local function three(dtype, shape) return ("[%s]"):format((("torch.randn(%s, dtype=torch.%s)"):format(shape, dtype)):rep(3, ", ")) end

local function how(options) return { arch = "sm_90a", attend = 1, kernels = function() return options end } end

-- On the task's own inputs, unless told of other kinds.
local function right(forward, inputs, options, setup, kinds)
  local made = composed.right(forward, inputs, setup, how(options or {}), kinds or {})
  local found
  for _, k in ipairs(made.kernels) do found = found or k.kind == "attend" and k.made.how end
  check.matches(found, "wgmma")
end

check.test("of 16-bit numbers, of head sizes from 24 to 256", function()
  for n, shape in ipairs { "1, 2, 130, 64", "1, 1, 150, 256", "2, 1, 75, 24", "1, 1, 140, 128" } do
    local dtype = n % 2 == 0 and "float16" or "bfloat16"
    right(own, three(dtype, shape))
    right(causal, three(dtype, shape))
  end
  right(causal, three("bfloat16", "1, 1, 75, 32"), nil, nil, { "scales", "mixed", "nan" })
end)

check.test("tiles of 192 queries, steps of 64 keys, several tiles a block", function()
  right(causal, three("bfloat16", "1, 2, 200, 64"), { queries = 192 })
  right(causal, three("float16", "1, 2, 200, 64"), { keys = 64 })
  right(causal, three("bfloat16", "1, 3, 200, 32"), { blocks = 2 })
  right(own, three("bfloat16", "1, 3, 130, 32"), { blocks = 2 })
end)

check.test("other sizes of keys and values, a mask, what stands ahead and behind, a query that sees nothing", function()
  right("return (x @ y.transpose(-2, -1) * 0.2).softmax(-1) @ z", "[torch.randn(2, 90, 32, dtype=torch.float16), torch.randn(2, 150, 32, dtype=torch.float16), torch.randn(2, 150, 72, dtype=torch.float16)]")
  right("a = torch.bmm(x, y.transpose(1, 2)) * 0.25\nreturn torch.relu(torch.bmm(a.softmax(2), z))", three("float16", "2, 75, 32"))
  right("q = x.view(2, 75, 2, 16).transpose(1, 2)\nreturn F.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(2, 75, 32)", "[torch.randn(2, 75, 32, dtype=torch.bfloat16)]")
  right("return F.scaled_dot_product_attention(x, y, z, attn_mask=self.mask)", three("bfloat16", "1, 1, 75, 32"), nil, "m = torch.ones(75, 75, dtype=torch.bool).tril(-2)\nself.register_buffer('mask', m)")
end)

check.test("scores that truth values hide, however that is written", function()
  local setup = "self.register_buffer('m', torch.ones(80, 80).tril())"
  local function masked(words, dtype, options, kinds)
    right("a = x @ y.transpose(-2, -1) * 0.2\na = " .. words .. "\nreturn a.softmax(-1) @ z", three(dtype, "1, 2, 80, 32"), options, setup, kinds)
  end
  masked("a.masked_fill(self.m == 0, float('-inf'))", "float32", { pairs = true }, { "nan" })
  masked("torch.where(self.m == 0, float('-inf'), a)", "float32", { pairs = true, keys = 64 })
  masked("torch.where(self.m > 0, a, float('-inf'))", "bfloat16")
end)

check.test("scores that hide themselves are no multiple of a product", function()
  local made = assert(composed.make("a = x @ y.transpose(-2, -1)\nreturn a.masked_fill(a > 3, float('-inf')).softmax(-1) @ z", three("float32", "1, 2, 80, 32"), nil, how { pairs = true }))
  check.matches(made.kernels[1].made.how, "six products")
end)

check.test("scores that are large, and a value that is NaN where no query may see it", function()
  right("return F.scaled_dot_product_attention(x * 1e4, y * 1e4, z)", three("bfloat16", "1, 2, 70, 64"))
  for _, place in ipairs { 159 * 32 + 3, 3, 100 * 32 + 3 } do          -- the last one a group of a tile of 128 sees, the other one not
    right("return F.scaled_dot_product_attention(x, x, y, is_causal=True)", ("[torch.randn(1, 1, 160, 32, dtype=torch.bfloat16), "
      .. "torch.where(torch.arange(160 * 32).reshape(1, 1, 160, 32) == %d, float('nan'), torch.randn(1, 1, 160, 32)).bfloat16()]"):format(place), { keys = 64 })
  end
end)

check.test("of float32 in pairs: sizes that are no multiples, a diagonal, steps of 64 keys", function()
  right(own, three("float32", "2, 75, 9"), { pairs = true })
  for _, shape in ipairs { "2, 2, 130, 64", "1, 1, 200, 128" } do
    right(own, three("float32", shape), { pairs = true })
    right(causal, three("float32", shape), { pairs = true, keys = 64 })
  end
end)

check.test("of float32 in pairs: numbers that halves do not hold, far apart, and values of nothing", function()
  right("return F.scaled_dot_product_attention(x * 1e-20, x, x * 1e20)", "[torch.randn(1, 2, 80, 32)]", { pairs = true })
  right("return F.scaled_dot_product_attention(x * 5, x, torch.relu(x))", "[torch.randn(1, 2, 80, 32)]", { pairs = true })
end)

local kinds = { "torch.randn(2, 80, 64) * 6", "torch.randn(2, 80, 64) * 10.0 ** (torch.rand(2, 80, 64) * 12 - 11)", "torch.randn(2, 80, 64) + 30",
                "torch.randn(2, 80, 64) * 10.0 ** (torch.rand(2, 80, 1) * 6 - 5)",
                "torch.randn(2, 80, 64) * 6 * (torch.arange(2 * 80 * 64).reshape(2, 80, 64) != 777)" }

check.test("of float32 in pairs, its error is at most three times PyTorch's own in strict float32", function()
  for _, kind in ipairs(kinds) do
    composed.close(own, ("[%s, %s, %s]"):format(kind, kind, kind), { attend = 1, least = 4096, words = "three products", kernels = how { pairs = true }.kernels })
  end
end)

check.test("other devices, few queries, rows that do not lie in 16 bytes, and schedules have products of warps", function()
  local function other(shape, arch, options)
    local o = how(options or {})
    o.arch = arch or o.arch
    check.matches(assert(composed.make(own, three("bfloat16", shape), nil, o)).kernels[1].made.how, "%(mma%)")
  end
  other("1, 1, 150, 64", "sm_80")
  other("1, 1, 64, 64")
  other("1, 1, 150, 17")
  other("1, 1, 150, 64", nil, { queries = 64 })
  other("1, 1, 150, 64", nil, { keys = 32 })
end)

return check.done()

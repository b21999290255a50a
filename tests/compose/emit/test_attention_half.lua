-- Attention of float16 and bfloat16 in one kernel: right at their accuracy, with what hides scores, and with what is not a number.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local compose = require "cawb.compose"

local function attentions(made)
  local n = 0
  for _, k in ipairs(made.kernels) do n = n + (k.kind == "attend" and 1 or 0) end
  return n
end

-- Right, with so many kernels of attention.
local function right(n, forward, inputs, setup, more)
  local options = { arch = "sm_80", attend = 1 }
  for key, value in pairs(more or {}) do options[key] = value end
  local made = composed.right(forward, inputs, setup, options)
  check.equal(attentions(made), n, "kernels of attention")
  return made
end

local function halves(dtype, shape) return ("[%s]"):format((("torch.randn(%s, dtype=torch.%s)"):format(shape, dtype)):rep(3, ", ")) end

check.test("of 16-bit numbers, of head sizes from 17 to 256, where rows lie for copies and where they do not", function()
  for n, shape in ipairs { "1, 2, 130, 128", "1, 1, 150, 256", "2, 1, 75, 17", "1, 2, 70, 40", "1, 1, 260, 64" } do
    local dtype = n % 2 == 0 and "float16" or "bfloat16"
    right(1, "return F.scaled_dot_product_attention(x, y, z)", halves(dtype, shape))
    right(1, "return F.scaled_dot_product_attention(x, y, z, is_causal=True)", halves(dtype, shape), nil, { kernels = function() return { queries = 128 } end })
  end
end)

check.test("of 16-bit numbers by hand, with a mask, with what stands ahead and behind", function()
  right(1, "a = torch.bmm(x, y.transpose(1, 2)) * 0.25\nreturn torch.relu(torch.bmm(a.softmax(2), z))", halves("float16", "2, 75, 32"))
  right(1, "a = (x @ y.transpose(-2, -1)) / 4\na = a.masked_fill(self.mask[:75, :75], float('-inf'))\nreturn a.softmax(-1) @ z", halves("bfloat16", "2, 75, 32"),
    "self.register_buffer('mask', torch.triu(torch.ones(80, 80, dtype=torch.bool), 1))")
  right(1, "q = x.view(2, 75, 2, 16).transpose(1, 2)\nreturn F.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(2, 75, 32)", "[torch.randn(2, 75, 32, dtype=torch.bfloat16)]")
end)

check.test("scores of 16-bit numbers in float32, which a program does not round", function()
  for _, hide in ipairs { "", "a = torch.where(torch.ones(75, 75, dtype=torch.bool).tril(), a, float('-inf'))\n" } do
    right(1, "a = x.float() @ y.float().transpose(-2, -1) * 0.25\n" .. hide .. "return a.softmax(-1).to(z.dtype) @ z", halves("bfloat16", "2, 75, 32"), nil, { libraries = false })
  end
end)

check.test("keys and values of several heads side by side are read where they lie", function()
  local made = right(1, "q, k, v = (t.reshape(75, 4, 16).transpose(0, 1) for t in x.split(64, 1))\nreturn torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(-1), v)",
    "[torch.randn(75, 192, dtype=torch.bfloat16)]")
  local two = right(1, "q, k, v = (t.reshape(40, 2, 4, 16).permute(1, 2, 0, 3).reshape(8, 40, 16) for t in torch.relu(x).split(64, 2))\nreturn torch.bmm(torch.bmm(q * 0.5, k.transpose(1, 2)).softmax(-1), v)",
    "[torch.randn(40, 2, 192, dtype=torch.bfloat16)]")
  check.equal(#made.kernels, 1)
  check.equal(#two.kernels, 3, "ReLU, the scaled queries, attention")
end)

check.test("scores of 16-bit numbers that are larger than a power's rounding allows for", function()
  right(1, "return F.scaled_dot_product_attention(x * 1e4, y * 1e4, z)", halves("bfloat16", "1, 2, 70, 64"))
end)

check.test("of 16-bit numbers, a value that is NaN where no query may see it", function()
  right(1, "return F.scaled_dot_product_attention(x, x, y, is_causal=True)", "[torch.randn(1, 1, 160, 32, dtype=torch.bfloat16), "
    .. "torch.where(torch.arange(160 * 32).reshape(1, 1, 160, 32) == 159 * 32 + 3, float('nan'), torch.randn(1, 1, 160, 32)).bfloat16()]")
end)

check.test("a schedule decides: whether it is one kernel, and what a block and a step of it have", function()
  local forward, inputs = "return F.scaled_dot_product_attention(x, y, z)", halves("float16", "1, 1, 70, 32")
  local made = right(1, forward, inputs)
  check.matches(made.kernels[1].made.how, "64 queries a block, 64 keys a step")
  local apart = assert(composed.make(forward, inputs, nil, { arch = "sm_80", attend = 1, schedule = { cuts = { made.joins[1] } } }))
  check.equal(attentions(apart), 0)
  local key = compose.schedule.key(made.kernels[1])
  local other = right(1, forward, inputs, nil, { schedule = { kernels = { [key] = { queries = 128, keys = 32 } } } })
  check.matches(other.kernels[1].made.how, "128 queries a block, 32 keys a step")
  local found = 0
  for _, edit in ipairs(compose.schedule.legal(made)) do
    if edit.cut == made.joins[1] or edit.kernel == key and (edit.name == "queries" or edit.name == "keys") then found = found + 1 end
  end
  check.equal(found, 7)
end)

return check.done()

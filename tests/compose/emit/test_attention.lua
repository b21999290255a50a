-- Attention in one kernel: found however it is written, right on what hides scores, at float32's accuracy, and left alone
-- where it is something else.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local function qkv(shape, keys, depth, columns)
  local function of(n, d) return ("torch.randn(%s%d, %d)"):format(shape, n, d) end
  return ("[%s, %s, %s]"):format(of(70, depth), of(keys, depth), of(keys, columns or depth))
end

local function attentions(made)
  local n = 0
  for _, k in ipairs(made.kernels) do
    if k.kind == "attend" then n = n + 1 end
  end
  return n
end

-- Right, with so many kernels of attention.
local function right(n, forward, inputs, setup, more)
  local options = { arch = "sm_90a", attend = 1 }
  for key, value in pairs(more or {}) do options[key] = value end
  local made = composed.right(forward, inputs, setup, options)
  check.equal(attentions(made), n, "kernels of attention")
  return made
end

check.test("PyTorch's own, of sizes that are no multiples", function()
  for _, sizes in ipairs { { "2, 3, ", 75, 64 }, { "3, ", 33, 40, 24 }, { "", 130, 17, 9 }, { "1, 2, ", 64, 128 } } do
    right(1, "return F.scaled_dot_product_attention(x, y, z)", qkv(table.unpack(sizes)))
  end
end)

check.test("the instruction of every GPU since Ampere", function()
  right(1, "return F.scaled_dot_product_attention(x, y, z)", qkv("2, ", 75, 64), nil, { arch = "sm_80" })
end)

check.test("masks: causal, of truth values, added; a scale; rows that see nothing", function()
  local x = "[torch.randn(2, 2, 150, 32)]"
  right(1, "return F.scaled_dot_product_attention(x, x, x, is_causal=True)", x)
  right(1, "return F.scaled_dot_product_attention(x, x, x, attn_mask=y > 0, scale=0.3)", "[torch.randn(2, 2, 80, 32), torch.randn(80, 80)]")
  right(1, "return F.scaled_dot_product_attention(x, x, x, attn_mask=y)", "[torch.randn(2, 2, 80, 32), torch.randn(80, 80)]")
  right(1, "return F.scaled_dot_product_attention(x, x, x, attn_mask=y > 0)", "[torch.randn(2, 80, 32), torch.arange(80.0).reshape(80, 1).expand(80, 80).contiguous()]")
end)

check.test("written by hand, with what stands behind it", function()
  right(1, "q, k, v = (x @ y).view(2, 40, 3, 2, 16).permute(2, 0, 3, 1, 4)\na = q @ k.transpose(-2, -1) * 0.25\n"
    .. "a = a.masked_fill(self.mask[:, :, :40, :40] == 0, float('-inf'))\nreturn (torch.softmax(a, -1) @ v).transpose(1, 2).reshape(2, 40, 32)",
    "[torch.randn(2, 40, 24), torch.randn(24, 96)]", "self.register_buffer('mask', torch.tril(torch.ones(64, 64)).view(1, 1, 64, 64))")
  right(1, "a = torch.bmm(x, y.transpose(1, 2)) / 8\nreturn torch.relu(torch.bmm(a.softmax(2), z))", qkv("4, ", 75, 32))
  right(1, "a = F.relu(x @ y.transpose(1, 2) / 4 + 0.5)\nreturn a.softmax(-1) @ z", qkv("4, ", 75, 32))
end)

-- A softmax of a, as others write it; the last one gives zeros for a row of -inf alone.
local spellings = {
  "e = torch.exp(a - a.amax(-1, keepdim=True))\np = e / e.sum(-1, keepdim=True)",
  "e = torch.exp(a - a.max(dim=-1, keepdim=True)[0])\np = e * (1 / e.sum(-1, keepdim=True))",
  "e = (a - a.amax(-1).unsqueeze(-1)).exp()\np = e.sum(-1, keepdim=True).reciprocal() * e",
  "e = torch.exp(a - a.max(-1, keepdim=True).values)\np = torch.div(e, torch.sum(e, dim=-1)[..., None])",
  "t = a.amax(-1, keepdim=True)\np = torch.exp(a - t) / torch.exp(a - t).sum(-1, keepdim=True)",
  "t = a.amax(-1, keepdim=True)\nt = torch.where(t.abs() == float('inf'), 0.0, t)\ne = torch.exp(a - t)\ns = e.sum(-1, keepdim=True)\n"
    .. "p = torch.where(s == 0, 0.0, e / s)",
}

check.test("softmax as others write it", function()
  for _, p in ipairs(spellings) do right(1, "a = x @ y.transpose(-2, -1) / 5.0\n" .. p .. "\nreturn p @ z", qkv("2, ", 75, 32)) end
  right(1, "a = (x @ y.transpose(-2, -1)).masked_fill(self.m, float('-inf'))\n" .. spellings[2] .. "\nreturn p @ z", qkv("2, ", 75, 32),
    "self.register_buffer('m', torch.triu(torch.ones(70, 75), 1).bool())")
end)

check.test("masks and scales as others write them", function()
  local mask = "self.register_buffer('m', torch.tril(torch.ones(70, 75)).bool())"
  for _, a in ipairs { "a.where(self.m, torch.full_like(a, float('-inf'))) ", "torch.where(~self.m, float('-inf'), a * 2.0) / 3", "(a / 2 * 0.5).masked_fill(~self.m, -torch.inf)",
                       "0.3 * a", "a.masked_fill(~self.m, -torch.inf).masked_fill(y[:, :, 0].unsqueeze(1) > 2, -torch.inf)" } do
    right(1, "a = x @ y.transpose(-2, -1)\na = " .. a .. "\nreturn a.softmax(-1) @ z", qkv("2, ", 75, 32), mask)
  end
end)

check.test("what only looks like it stays as it is", function()
  local own = "a = x @ y.transpose(1, 2)\n%s\nreturn p @ z"
  local square = "[torch.randn(2, 70, 32), torch.randn(2, 70, 32), torch.randn(2, 70, 32)]"
  for _, p in ipairs { "p = torch.exp(a - a.amax(1, keepdim=True))\np = p / p.sum(-1, keepdim=True)", "p = torch.exp(a) / torch.exp(a).sum(-1, keepdim=True)",
                       "p = torch.exp(a - a.amax(-1, keepdim=True))\np = p / p.sum(-1).unsqueeze(-2)", "p = torch.exp(a - a.amax(-1, keepdim=True))\np = p / p.sum(1, keepdim=True)",
                       "e = torch.exp(a - a.amin(-1, keepdim=True))\np = e / e.sum(-1, keepdim=True)", "e = torch.exp(a - a.amax(-1, keepdim=True))\np = e.sum(-1, keepdim=True) / e" } do
    right(0, own:format(p), square)
  end
  local inputs = qkv("2, ", 70, 32)
  right(0, "p = (x @ y.transpose(1, 2)).softmax(-1)\nreturn p @ z, p", inputs)
  right(0, "return (x @ y.transpose(1, 2)).softmax(1) @ z", inputs)
  right(0, "return (x @ y.transpose(1, 2)).softmax(-1).transpose(1, 2) @ z", inputs)
  right(0, "a = x @ y.transpose(1, 2)\nreturn (torch.exp(a - a.amax(-1, keepdim=True)) / a.exp().sum(-1, keepdim=True)) @ z", inputs)
  right(0, "return F.scaled_dot_product_attention(x, y, z)", inputs, nil, { attend = false })
  right(0, "return F.scaled_dot_product_attention(x, y, z)", "[torch.randn(32, 160), torch.randn(32, 160), torch.randn(32, 160)]")
end)

local kinds = {
  normal = "torch.randn(2, 80, 64)",
  sharp = "torch.randn(2, 80, 64) * 6",
  ["every element of another size"] = "torch.randn(2, 80, 64) * 10.0 ** (torch.rand(2, 80, 64) * 12 - 11)",
  tiny = "torch.randn(2, 80, 64) * 1e-34",
  offset = "torch.randn(2, 80, 64) + 30",
}

check.test("its error is at most three times PyTorch's own in strict float32", function()
  for _, kind in pairs(kinds) do
    composed.close("return F.scaled_dot_product_attention(x, y, z)", ("[%s, %s, %s]"):format(kind, kind, kind),
      { attend = 1, least = 4096, words = "six products", kernels = function() return { pairs = false } end })
  end
end)

local special = "torch.where(torch.arange(2 * 80 * 32).reshape(2, 80, 32) == 777, float('%s'), torch.randn(2, 80, 32))"

check.test("NaN and infinities come out where the definition has them", function()
  local plain, forward = "torch.randn(2, 80, 32)", "a = x @ y.transpose(1, 2) * 0.2\nreturn a.softmax(-1) @ z"
  local nan, inf, less = special:format "nan", special:format "inf", special:format "-inf"
  for _, inputs in ipairs { { nan, plain, plain }, { plain, inf, plain }, { plain, plain, less }, { plain, plain, nan } } do
    right(1, forward, ("[%s]"):format(table.concat(inputs, ", ")))
  end
end)

check.test("a value that no query may see makes its NaN all the same: zero times NaN", function()
  right(1, "return F.scaled_dot_product_attention(x, x, y, is_causal=True)",
    "[torch.randn(1, 1, 160, 32), torch.where(torch.arange(160 * 32).reshape(1, 1, 160, 32) == 159 * 32 + 3, float('nan'), torch.randn(1, 1, 160, 32))]")
end)

return check.done()

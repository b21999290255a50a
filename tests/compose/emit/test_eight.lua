-- Products of numbers of 8 bits: torch._scaled_mm, and products of such numbers that are scaled first. What PyTorch rounds to 8 bits.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

local function options(arch) return { arch = arch, least = 1, narrowest = 4 } end

-- Inputs x, y of these sizes, y lying as its transposed; scales z of x, w of y for each row or for all; bias v.
local function inputs(m, n, k, rows, bias, types)
  types = types or { "e4m3fn", "e4m3fn" }
  local scale = "torch.rand(%s) + 0.5"
  return ("[torch.randn(%d, %d).to(torch.float8_%s), torch.randn(%d, %d).to(torch.float8_%s), %s, %s%s]"):format(m, k, types[1], n, k, types[2],
    scale:format(rows and m .. ", 1" or "()"), scale:format(rows and "1, " .. n or "()"), bias and (", torch.randn(%d).to(torch.%s)"):format(n, bias) or "")
end

local function scaled(out, more) return ("torch._scaled_mm(x, y.t(), z, w, out_dtype=torch.%s%s)"):format(out, more or "") end

local how = { sm_90a = "float8_e4m3fn %(wgmma%)", sm_89 = "float8_e4m3fn %(mma%)", sm_80 = "float16 %(mma%)" }

local function product(arch, forward, ...)
  local made = right("return " .. forward, inputs(...), nil, options(arch))
  check.matches(composed.how(made), how[arch])
  return made
end

check.test("a scaled product is one kernel, which reads the numbers as they lie", function()
  for arch in pairs(how) do
    local made = product(arch, scaled "bfloat16", 136, 80, 160)
    check.equal(#made.kernels, 1)
    check.equal(made.plan:find "_both" ~= nil, arch == "sm_80", arch)
  end
end)

check.test("scales of rows, biases, all types of results, sizes that end within a tile", function()
  product("sm_90a", scaled "float32", 130, 272, 400, true)
  product("sm_89", scaled "float16", 130, 48, 272, true)
  product("sm_90a", scaled("bfloat16", ", bias=v"), 64, 80, 1040, true, "bfloat16")
  product("sm_89", scaled("float16", ", bias=v"), 17, 80, 64, false, "float16")
  product("sm_90a", scaled("bfloat16", ", use_fast_accum=True"), 48, 96, 320)
end)

check.test("the widest tiles leave the tensor cores by halves", function()
  for _, n in ipairs { 512, 192 } do
    local o = options "sm_90a"
    o.chip = composed.chip { sms = 1 }
    local made = right("return " .. scaled "bfloat16", inputs(128, n, 256, true), nil, o)
    check.matches(made.source, "float part%[" .. math.min(n, 256) // 4)
  end
end)

check.test("factors of two types of 8 bits", function()
  local made = right("return " .. scaled "bfloat16", inputs(64, 80, 96, false, nil, { "e5m2", "e4m3fn" }), nil, options "sm_90a")
  check.matches(made.source, "f32%.e5m2%.e4m3")
  right("return " .. scaled "bfloat16", inputs(64, 80, 96, false, nil, { "e4m3fn", "e5m2" }), nil, options "sm_89")
end)

check.test("an epilogue is a part of the product's kernel", function()
  for arch in pairs(how) do
    local made = right("return F.gelu(" .. scaled "bfloat16" .. ".float()) + v", inputs(72, 64, 128, true):sub(1, -2) .. ", torch.randn(72, 64)]", nil, options(arch))
    check.equal(#made.kernels, 1)
  end
end)

check.test("numbers are rounded to 8 bits ahead of a scaled product", function()
  local forward = "s = x.abs().amax(1, keepdim=True) / 448\nt = self.w.abs().amax(1, keepdim=True) / 448\n"
    .. "return torch.relu(torch._scaled_mm((x / s).to(torch.float8_e4m3fn), (self.w / t).to(torch.float8_e4m3fn).t(), s, t.t(), out_dtype=torch.bfloat16))"
  for _, arch in ipairs { "sm_90a", "sm_89" } do
    local made = right(forward, "[torch.randn(64, 96)]", "self.w = nn.Parameter(torch.randn(80, 96))", options(arch))
    check.matches(composed.how(made), how[arch])
  end
end)

check.test("a product of numbers of 8 bits that are scaled first is as accurate as its type, in one product of halves", function()
  for _, case in ipairs { { "(x.float() * z) @ (y.float() * w.t()).t()" }, { "((x.bfloat16() / z.bfloat16()) @ y.bfloat16().t()) * w" }, { "x.float() @ y.t().float() * w" } } do
    for _, arch in ipairs { "sm_90a", "sm_80" } do
      local made = right("return " .. case[1], inputs(136, 80, 352, true), nil, options(arch))
      check.matches(composed.how(made), "float16 %(")
    end
  end
end)

check.test("what is beyond the numbers of 8 bits is NaN or infinite, ties are even, small ones are multiples of the smallest", function()
  local edges = "torch.tensor([448, 463.9, 464, 464.1, 480, 1e9, float('inf'), float('nan'), 57344, 61439, 61440, 65536, 0.001, 2.0 ** -9, 2.0 ** -10, "
    .. "3 * 2.0 ** -10, 1.0625, 1.1875, 2.0 ** -16, 2.0 ** -17, 3 * 2.0 ** -18, 1.125, 1.375, 0.0156, 0.0])"
  local made = right("z = x * self.f\nreturn z.to(torch.float8_e4m3fn).float(), z.to(torch.float8_e5m2).float()", "[torch.tensor([1.0, -1.0])[torch.randint(2, (25,))]]",
    ("self.register_buffer('f', %s)\n"):format(edges):gsub("\n$", ""), { arch = "sm_90a" })
  check.equal(#made.kernels > 0, true)
end)

return check.done()

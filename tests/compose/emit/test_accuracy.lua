-- Products on tensor cores against float64: on inputs of every kind their error is at most three times PyTorch's own in strict
-- float32, with no floor under it, but for sums that are nearly one term. The simulated tensor cores add up as an H100's do, bit for bit.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

-- Where one term makes up most of a sum, strict float32 rounds once, to 24 bits; a product of pairs of 11 bits has 22.
local TIMES = { ["one infinity, elements of every size"] = 8, ["one infinity on the right, elements of every size"] = 8, ["heavy-tailed rows, crowded columns"] = 8, ["every element of another size"] = 8, outlier = 4, ["outliers in both"] = 4 }

local function close(inputs, more, kind) composed.close("return x @ y", inputs, more, TIMES[kind]) end

local x, y = "torch.randn(80, 640)", "torch.randn(640, 72)"

local kinds = {
  uniform = { "torch.rand(80, 640)", "torch.rand(640, 72)" },
  normal = { x, y },
  outlier = { x .. " + 1e4 * (torch.arange(80 * 640).reshape(80, 640) == 777)", y },
  ["outliers in both"] = { x .. " + 2.0 ** 26 * (torch.rand(80, 640) < 0.004)", y .. " + 2.0 ** 26 * (torch.rand(640, 72) < 0.004)" },
  ["heavy-tailed rows, crowded columns"] = { "torch.rand(80, 640).clamp(min=1e-9) ** (-1.5 * torch.rand(80, 1)) * torch.randn(80, 1)",
    "torch.rand(640, 72) ** 4 * 4 ** (2 * torch.rand(640, 1) - 1)" },
  offset = { x .. " + 1000", y },
  tiny = { x .. " * 1e-37", y },
  ["tiny times tiny"] = { x .. " * 1e-18", y .. " * 1e-19" },
  ["rows and columns far apart"] = { x .. " * 10.0 ** torch.linspace(-15, 15, 80).reshape(80, 1)", y .. " * 10.0 ** torch.linspace(15, -15, 72)" },
  ["terms far apart, factors opposite"] = { x .. " * 10.0 ** (torch.arange(640) * 37 % 17 - 8.0)",
    y .. " / 10.0 ** (torch.arange(640) * 37 % 17 - 8.0).reshape(640, 1)" },
  ["every element of another size"] = { x .. " * 10.0 ** (torch.rand(80, 640) * 36 - 18)", y .. " * 10.0 ** (torch.rand(640, 72) * 36 - 18)" },
  ["one infinity, elements of every size"] = { "torch.where(torch.arange(80 * 640).reshape(80, 640) == 777, float('inf'), " .. x
    .. ") * 10.0 ** (torch.rand(80, 640) * 36 - 18)", y .. " * 10.0 ** (torch.rand(640, 72) * 36 - 18)" },
  ["one infinity on the right, elements of every size"] = { x .. " * 10.0 ** (torch.rand(80, 640) * 36 - 18)",
    "torch.where(torch.arange(640 * 72).reshape(640, 72) == 46000, float('inf'), " .. y .. ") * 10.0 ** (torch.rand(640, 72) * 36 - 18)" },
  ["one NaN"] = { "torch.where(torch.arange(80 * 640).reshape(80, 640) == 777, float('nan'), " .. x .. ")", y },
  ["one infinity"] = { "torch.where(torch.arange(80 * 640).reshape(80, 640) == 777, float('inf'), " .. x .. ")", y },
}

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  check.test(name, function() close(("[%s]"):format(table.concat(kinds[name], ", ")), nil, name) end)
end

check.test("whole numbers come out exact", function()
  local integers = "[torch.randint(-9, 10, (80, 640)).float(), torch.randint(-9, 10, (640, 72)).float()]"
  for _, arch in ipairs { "sm_90a", "sm_80" } do check.equal(composed.errors("return x @ y", integers, { arch = arch }).worst, 0) end
end)

check.test("where results are done again, or all of them, without three parts of bfloat16", function()
  for _, kind in ipairs { "heavy-tailed rows, crowded columns", "outliers in both", "every element of another size", "one infinity" } do
    close(("[%s]"):format(table.concat(kinds[kind], ", ")), { full = 1 << 60, again = 1 }, kind)
  end
end)

-- Some rows have one number that is not small, and where it stands the columns have nothing.
check.test("the same of sums of one step", function()
  close("[torch.where((torch.arange(80) % 16 == 3).reshape(80, 1) & (torch.arange(48) > 0), 2.0 ** -35, 1.0) * torch.randn(80, 48), "
    .. "torch.randn(48, 72) * (torch.arange(48) > 0).reshape(48, 1)]", { full = 1 << 60, again = 1 })
end)

-- Row 0 of the result is one term, whose small factor has large ones beside it.
check.test("a triangle beside numbers that keep few of their bits", function()
  local small = "torch.where(torch.arange(128)[:, None] == 0, (1 + torch.rand(128, 128)) * 2.0 ** -27, torch.randn(128, 128))"
  local function right(forward, inputs, more)
    local o = { least = 0 }
    for key, value in pairs(more) do o[key] = value end
    check.matches(composed.how(composed.right(forward, inputs, nil, o, {})), "fp16 pairs")
  end
  for _, more in ipairs { { arch = "sm_90a" }, { arch = "sm_80" }, { arch = "sm_90a", full = 1 << 60, again = 1 }, { arch = "sm_90a", full = 1, again = 1 } } do
    right("return torch.tril(x) @ y", ("[torch.randn(128, 128), %s]"):format(small), more)
    right("return x @ torch.triu(y)", ("[%s.T, torch.randn(128, 128)]"):format(small), more)
  end
  right("return torch.tril(x) @ y", "[torch.randn(3, 3), torch.where(torch.arange(3)[:, None] == 0, 2.0 ** -27, 1.0) * (1 + torch.rand(3, 9))]", { arch = "sm_80", narrowest = 2 })
end)

check.test("long sums", function() close "[torch.rand(8, 40000), torch.rand(40000, 8)]" end)

-- Tensor cores cut sums off toward zero: results of positive terms would be 1.6 times as far off as PyTorch's, if factors were not lifted.
check.test("sums of positive terms are as near as PyTorch's, and those of gradients nearer", function()
  local inputs = ("[%s]"):format(table.concat(kinds.uniform, ", "))
  for _, arch in ipairs { "sm_90a", "sm_80" } do
    local function errors_of(gradients) return composed.errors("return x @ y", inputs, { arch = arch, gradients = gradients }) end
    local own, others = errors_of(true), errors_of(false)
    assert(others.nrms < 1.2 * others.eager.nrms, ("%s: %.2g, eager's %.2g"):format(arch, others.nrms, others.eager.nrms))
    assert(own.nrms < 0.85 * others.nrms, ("%s: %.2g and %.2g"):format(arch, own.nrms, others.nrms))
  end
end)

-- As in the gradient of a convolution's weights: k is places within a batch.
check.test("sums over batch and places, in three parts at once where no library is called", function()
  local sums = "return x.transpose(0, 1).flatten(1) @ y.transpose(0, 1).flatten(1).T"
  local batches = "[(%s).reshape(80, 8, 80).transpose(0, 1).contiguous(), (%s).reshape(8, 80, 72).transpose(1, 2).contiguous()]"
  for _, arch in ipairs { "sm_90a", "sm_80" } do
    for _, name in ipairs { "normal", "every element of another size", "outliers in both", "one infinity", "one NaN" } do
      composed.close(sums, batches:format(table.unpack(kinds[name])), { arch = arch, libraries = false, words = "six products of bf16 parts" }, TIMES[name])
    end
  end
end)

-- As in the gradient of a convolution's input.
check.test("convolutions of gradients, in three parts at once", function()
  local bodies = { "return torch.nn.functional.conv2d(x, y, padding=1)", "return torch.nn.functional.conv_transpose2d(x, y, stride=2, padding=1)" }
  local images = "[(%s).reshape(2, 32, 10, 80), (%s)[:576].reshape(%s, 3, 3)]"
  for k, body in ipairs(bodies) do
    for _, arch in ipairs { "sm_90a", "sm_80" } do
      for _, name in ipairs { "every element of another size", "one infinity" } do
        local a, b = table.unpack(kinds[name])
        composed.close(body, images:format(a, b, k == 1 and "144, 32" or "32, 144"), { arch = arch, gradients = true, words = "six products of bf16 parts" }, TIMES[name])
      end
    end
  end
end)

check.test("convolutions of gradients whose packed input does not fit in memory, by boxes", function()
  local a, b = table.unpack(kinds["every element of another size"])
  local chip = composed.chip { memory = 1 << 20 }
  composed.close("return torch.nn.functional.conv2d(x, y, padding=1)", ("[(%s).reshape(2, 32, 10, 80), (%s)[:576].reshape(144, 32, 3, 3)]"):format(a, b),
    { chip = chip, least = 0, gradients = true, words = "boxes" }, TIMES["every element of another size"])
end)

check.test("the instruction of a warp", function()
  close(("[%s]"):format(table.concat(kinds.uniform, ", ")), { arch = "sm_80" })
  close(("[%s]"):format(table.concat(kinds.normal, ", ")), { arch = "sm_80" })
end)

return check.done()

-- Convolutions on tensor cores against float64, as test_compose_accuracy.lua has products: of packed factors and of boxes, on
-- inputs of every kind at most three times PyTorch's own error in strict float32, with no floor under it.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local forward = "return F.conv2d(x, y, padding=1)"
local point = "return F.conv2d(x, y[:, :, 1:2, 1:2])"        -- a thread's numbers are all of one place
local transposed = "return F.conv_transpose2d(x, y.transpose(0, 1), stride=2, padding=1)"
local ways = { packed = { conv = "packed" }, box = { conv = "box", words = "boxes" } }

local x, y = "torch.randn(2, 64, 9, 10)", "torch.randn(24, 64, 3, 3)"
local seventh = "(torch.arange(2 * 64 * 90).reshape(2, 64, 9, 10) == 777)"

local kinds = {
  normal = { x, y },
  uniform = { "torch.rand(2, 64, 9, 10)", "torch.rand(24, 64, 3, 3)" },
  ["rows of their own scales, crowded at zero"] = {
    "torch.rand(2, 64, 9, 10) ** (0.5 + 3.5 * torch.rand(2, 64, 9, 1)) * 4 ** (2 * torch.rand(2, 64, 9, 1) - 1)", y .. " / 24" },
  ["heavy-tailed rows"] = { "torch.rand(2, 64, 9, 10).clamp(min=1e-9) ** (-1.5 * torch.rand(2, 64, 9, 1)) * torch.randn(2, 64, 9, 1)", y },
  outliers = { x .. " + 1e9 * (torch.arange(2 * 64 * 90).reshape(2, 64, 9, 10) % 777 == 7)", y },
  ["outliers in both"] = { x .. " + 2.0 ** 26 * (torch.rand(2, 64, 9, 10) < 0.004)", y .. " + 2.0 ** 26 * (torch.rand(24, 64, 3, 3) < 0.004)" },
  offset = { x .. " + 1000", y },
  tiny = { x .. " * 1e-37", y },
  ["pixels and results far apart"] = { x .. " * 10.0 ** torch.linspace(-15, 15, 10)", y .. " * 10.0 ** torch.linspace(15, -15, 24).reshape(24, 1, 1, 1)" },
  ["channels far apart, factors opposite"] = { x .. " * 10.0 ** (torch.arange(64) * 37 % 17 - 8.0).reshape(64, 1, 1)",
    y .. " / 10.0 ** (torch.arange(64) * 37 % 17 - 8.0).reshape(64, 1, 1)" },
  ["every element of another size"] = { x .. " * 10.0 ** (torch.rand(2, 64, 9, 10) * 36 - 18)", y .. " * 10.0 ** (torch.rand(24, 64, 3, 3) * 36 - 18)" },
  ["one NaN"] = { "torch.where(" .. seventh .. ", float('nan'), " .. x .. ")", y },
  ["one infinity"] = { "torch.where(" .. seventh .. ", float('inf'), " .. x .. ")", y },
}

local function inputs(kind) return ("[%s]"):format(table.concat(kinds[kind], ", ")) end

-- Where one term makes up most of a sum, strict float32 rounds once, to 24 bits; a product of pairs of 11 bits has 22.
local TIMES = { ["heavy-tailed rows"] = 8, ["every element of another size"] = 8, outliers = 4, ["outliers in both"] = 4 }

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  check.test(name, function()
    composed.close(forward, inputs(name), ways.packed, TIMES[name])
    composed.close(forward, inputs(name), ways.box, TIMES[name])
    composed.close(point, inputs(name), ways.box, TIMES[name])
  end)
end

check.test("transposed ones", function()
  for _, name in ipairs { "normal", "rows of their own scales, crowded at zero", "channels far apart, factors opposite" } do
    composed.close(transposed, inputs(name), ways.packed)
  end
end)

-- An output that one place alone is read for is as small as that place, whatever stands beside it.
check.test("transposed ones of one channel, small numbers beside large ones", function()
  composed.close("return F.conv_transpose2d(x, y, stride=2, padding=1)", "[torch.randn(2, 1, 9, 10) * 10.0 ** (-8.0 * (torch.arange(10) % 2)), torch.randn(1, 16, 3, 3)]",
    ways.box)
end)

-- In every ninth pixel two of 64 channels are large, but the weights of every eighth result there are zero: what it is made of lost
-- its bits. Such results are made as large as others behind the convolution.
check.test("results that large numbers have no part in are computed again", function()
  local lost, large, result = "(torch.arange(9) == 4).view(9, 1)", "(torch.arange(64) % 32 == 5).view(64, 1, 1)", "(torch.arange(24) % 8 == 1)"
  composed.close("return F.conv2d(x, y) * z", ("[%s * 2.0 ** (-35.0 * (%s & ~%s)), torch.randn(24, 64, 1, 1) * ~(%s & %s.view(24, 1, 1, 1)), "
    .. "2.0 ** (35.0 * (%s & %s.view(24, 1, 1)))]"):format(x, lost, large, large, result, lost, result), ways.packed)
end)

check.test("whole numbers come out exact", function()
  local integers = "[torch.randint(-9, 10, (2, 64, 9, 10)).float(), torch.randint(-9, 10, (24, 64, 3, 3)).float()]"
  for _, way in pairs(ways) do check.equal(composed.errors(forward, integers, way).worst, 0) end
end)

return check.done()

-- Convolutions of one tap on tensor cores, of a factor that is not packed: right, and at float32's accuracy.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local way = { arch = "sm_90a", least = 0, conv = "gathered" }

local function right(inputs, layer, forward)
  local made = composed.right(forward or "return self.c(x)", inputs, "self.c = nn." .. layer, way)
  check.matches(composed.how(made), "wgmma, gathered")
  return made
end

check.test("strides, groups, one to three dimensions, more columns than a tile has, several tiles of a block", function()
  right("[torch.randn(2, 70, 17, 15)]", "Conv2d(70, 33, 1, stride=2)")
  right("[torch.randn(2, 32, 20, 12)]", "Conv2d(32, 300, 1, groups=2, bias=False)")
  right("[torch.randn(2, 130, 300)]", "Conv1d(130, 64, 1)")
  right("[torch.randn(1, 32, 5, 6, 7)]", "Conv3d(32, 34, 1)")
  right("[torch.randn(10, 16, 64, 32)]", "Conv2d(16, 16, 1)")
end)

check.test("what stands around takes no step of its own, weights are packed before the first call", function()
  local made = right("[torch.randn(2, 40, 14, 13), torch.randn(48, 1, 1)]", "Conv2d(40, 48, 1)", "return F.hardswish(self.c(torch.relu(x))) * y")
  check.equal(select(2, made.plan:gsub("launch%(", "")), 2)
  check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_[%w_]+_right"')
end)

local forward, x, y = "return F.conv2d(x, y)", "torch.randn(2, 48, 9, 10)", "torch.randn(24, 48, 1, 1)"
local seventh = "(torch.arange(2 * 48 * 90).reshape(2, 48, 9, 10) == 777)"

local kinds = {
  normal = { x, y },
  uniform = { "torch.rand(2, 48, 9, 10)", "torch.rand(24, 48, 1, 1)" },
  ["rows of their own scales, crowded at zero"] = {
    "torch.rand(2, 48, 9, 10) ** (0.5 + 3.5 * torch.rand(2, 48, 9, 1)) * 4 ** (2 * torch.rand(2, 48, 9, 1) - 1)", y },
  outliers = { x .. " + 1e9 * (torch.arange(2 * 48 * 90).reshape(2, 48, 9, 10) % 777 == 7)", y },
  tiny = { x .. " * 1e-37", y },
  ["every element of another size"] = { x .. " * 10.0 ** (torch.rand(2, 48, 9, 10) * 36 - 18)", y .. " * 10.0 ** (torch.rand(24, 48, 1, 1) * 36 - 18)" },
  ["one NaN"] = { "torch.where(" .. seventh .. ", float('nan'), " .. x .. ")", y },
  ["one infinity"] = { "torch.where(" .. seventh .. ", float('inf'), " .. x .. ")", y },
  ["an infinite weight"] = { x, "torch.where(torch.arange(24 * 48).reshape(24, 48, 1, 1) == 77, float('inf'), " .. y .. ")" },
}

-- Where one term makes up most of a sum, strict float32 rounds once; a tensor core cuts off every partial sum.
local TIMES = { ["every element of another size"] = 8, outliers = 4 }

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  check.test(name, function() composed.close(forward, ("[%s]"):format(table.concat(kinds[name], ", ")), way, TIMES[name]) end)
end

check.test("whole numbers come out exact", function()
  check.equal(composed.errors(forward, "[torch.randint(-9, 10, (2, 48, 9, 10)).float(), torch.randint(-9, 10, (24, 48, 1, 1)).float()]", way).worst, 0)
end)

return check.done()

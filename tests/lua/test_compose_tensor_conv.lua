-- Convolutions on tensor cores at float32's accuracy, against PyTorch in float64.

local composed = dofile "tests/lua/composed.lua"
local check = composed.check

local function right(inputs, layer, forward)
  local made = composed.right(forward or "return self.c(x)", inputs, "self.c = nn." .. layer, { arch = "sm_90a", least = 0 })
  assert(made.source:find "wgmma", layer .. " is not on tensor cores")
  return made
end

check.test("windows, strides, dilation, padding", function()
  right("[torch.randn(2, 64, 14, 13)]", "Conv2d(64, 48, 3, padding=1)")
  right("[torch.randn(2, 70, 17, 15)]", "Conv2d(70, 33, 3, stride=2, padding=1)")
  right("[torch.randn(2, 64, 20, 18)]", "Conv2d(64, 32, (3, 2), dilation=(2, 3), stride=(1, 2))")
  right("[torch.randn(2, 64, 26, 26)]", "Conv2d(64, 32, 1, stride=2)")
end)

check.test("few channels are folded with the window", function()
  right("[torch.randn(2, 3, 45, 40)]", "Conv2d(3, 64, 7, stride=2, padding=3)")
  right("[torch.randn(4, 16, 600)]", "Conv1d(16, 32, 5, dilation=2)")
end)

check.test("groups, and three dimensions", function()
  right("[torch.randn(2, 64, 18, 18)]", "Conv2d(64, 64, 3, groups=2)")
  right("[torch.randn(1, 32, 9, 10, 11)]", "Conv3d(32, 24, 3, padding=1)")
end)

check.test("transposed ones, by residues of the output", function()
  right("[torch.randn(2, 64, 12, 11)]", "ConvTranspose2d(64, 32, 3, stride=2, padding=1, output_padding=1)")
  right("[torch.randn(2, 64, 12, 12)]", "ConvTranspose2d(64, 32, 2, stride=3, bias=False)")
  right("[torch.randn(1, 96, 5, 6, 7)]", "ConvTranspose3d(96, 32, 3, stride=(1, 2, 2), padding=1, dilation=(1, 1, 2), groups=2)")
end)

check.test("what stands around", function()
  local made = right("[torch.randn(2, 64, 14, 13), torch.randn(48, 1, 1)]", "Conv2d(64, 48, 3, padding=1)",
    "return F.hardswish(self.c(torch.relu(x))) * y")
  local launches = select(2, made.plan:gsub("launch%(", ""))
  check.equal(launches, 4)                     -- packing twice, the product, and without tensor cores
end)

check.test("infinities are multiplied in float32", function()
  right("[torch.randn(2, 64, 14, 13) / (torch.arange(13) != 3)]", "Conv2d(64, 48, 3, padding=1)")
end)

return check.done()

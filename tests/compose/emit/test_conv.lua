-- Convolutions without libraries and tensor cores on the simulated device: one kernel with what stands behind, of one to three axes, with
-- strides, dilation, groups, transposed ones, parts of k.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

-- `how`: options of the kernel.
local function one(setup, shape, forward, how, battery)
  check.test("a convolution with what is behind it is one kernel: " .. setup, function()
    local made = composed.right(forward or "return F.relu(self.c(x)) * 2", ("[torch.randn(%s)]"):format(shape), "self.c = nn." .. setup,
      { libraries = false, kernels = how and function() return how end }, battery)
    check.equal(#made.kernels, 1, "kernels")
    check.equal(made.kernels[1].by, "conv")
  end)
end

one("Conv1d(3, 9, 4, stride=3, padding=2)", "2, 3, 21")
one("Conv2d(2, 9, 3)", "1, 2, 3, 3", "return self.c(x)")
one("Conv2d(4, 10, 3, padding=1)", "2, 4, 9, 12", "return self.c(x)")
one("Conv2d(6, 24, (3, 2), stride=(2, 1), padding=(2, 0), dilation=(2, 3), groups=3)", "2, 6, 12, 13")
one("Conv3d(2, 8, (2, 3, 3), stride=(1, 2, 1), padding=1)", "1, 2, 5, 6, 7")
one("Conv2d(64, 40, 3, padding=1)", "1, 64, 7, 7", nil, { tile = 2, splits = 3 }, { "mixed" })
one("Conv1d(16, 20, 5, groups=2)", "2, 16, 30", "return self.c(x)")
one("ConvTranspose1d(3, 4, 3)", "2, 3, 10")
one("ConvTranspose2d(4, 6, (3, 4), stride=(2, 3), padding=(1, 2), output_padding=(1, 0))", "2, 4, 6, 7")
one("ConvTranspose2d(6, 4, 3, stride=2, padding=(1, 0), dilation=(2, 3), groups=2)", "1, 6, 6, 5", "return torch.tanh(self.c(x))")
one("ConvTranspose2d(3, 3, (2, 1), stride=(3, 2))", "1, 3, 5, 4")
one("ConvTranspose1d(2, 3, 4, stride=6, dilation=4, padding=3)", "1, 2, 9")
one("ConvTranspose3d(3, 2, (3, 3, 5), stride=2, padding=(1, 1, 2), output_padding=(1, 1, 0))", "1, 3, 3, 4, 5")
one("ConvTranspose3d(3, 4, 3, stride=2, bias=False)", "1, 3, 4, 5, 3", "return self.c(x)")

check.test("a transposed convolution of one channel a group", function()
  for _, setup in ipairs { "ConvTranspose2d(6, 6, (3, 5), padding=(1, 3), groups=6)", "ConvTranspose1d(5, 5, 3, dilation=2, padding=1, groups=5)",
    "ConvTranspose2d(6, 6, 3, padding=(3, 0), groups=6, bias=False)", "ConvTranspose2d(6, 6, (3, 5), stride=2, padding=(1, 2), output_padding=1, groups=6, bias=False)",
    "ConvTranspose1d(5, 5, 2, stride=3, padding=1, output_padding=2, groups=5)", "ConvTranspose2d(6, 6, 3, stride=(1, 3), dilation=(1, 2), groups=6)" } do
    local shape = setup:find "1d" and "2, 5, 9" or "2, 6, 7, 8"
    composed.right("return torch.tanh(self.c(x))", ("[torch.randn(%s)]"):format(shape), "self.c = nn." .. setup, { libraries = false })
  end
  composed.right("return F.conv_transpose1d(x, y, stride=2, padding=1, groups=3)", "[torch.where(torch.arange(21.).view(1, 3, 7) == 3, float('inf'), torch.randn(1, 3, 7)), "
    .. "torch.where(torch.arange(9.).view(3, 1, 3) == 5, float('inf'), torch.randn(3, 1, 3))]", nil, { libraries = false }, {})
end)

check.test("what a transposed convolution does not multiply may be infinite: weights, and inputs", function()
  for _, x in ipairs { "torch.randn(1, 2, 7)", "torch.where(torch.arange(14.).view(1, 2, 7) == 3, float('inf'), torch.randn(1, 2, 7))" } do
    composed.right("return F.conv_transpose1d(x, y, stride=3, padding=1)",
      ("[%s, torch.where(torch.arange(24.).view(2, 3, 4) == 7, float('inf'), torch.randn(2, 3, 4))]"):format(x), nil, { libraries = false }, {})
  end
end)

return check.done()

-- Convolutions on tensor cores at float32's accuracy, against PyTorch in float64: of packed factors, and of boxes.

local composed = dofile "tests/support/composed.lua"
local cawb = require "cawb"
local compose = require "cawb.compose"
local options = require "cawb.base.options"
local conv = require "cawb.compose.emit.tensor.kernel_conv"
local check = composed.check

local function made_by(way, inputs, layer, forward)
  local made = composed.right(forward or "return self.c(x)", inputs, "self.c = nn." .. layer, { arch = "sm_90a", least = 0, conv = way })
  check.matches(composed.how(made), way == "box" and "mma, boxes" or "%(wgmma%)")
  return made
end

local function right(...) return made_by("packed", ...) end

local function boxed(...) return made_by("box", ...) end

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

check.test("a result that is seen in another shape of the same rank stays a kernel of its own", function()
  right("[torch.randn(2, 96, 32), torch.randn(2, 24, 64)]", "Conv1d(96, 48, 1, groups=2)",
    "return self.c(x).view(2, 2, 24, 32).permute(0, 2, 1, 3).reshape(2, 24, 64) + y")
end)

check.test("transposed ones, by residues of the output", function()
  right("[torch.randn(2, 64, 12, 11)]", "ConvTranspose2d(64, 32, 3, stride=2, padding=1, output_padding=1)")
  right("[torch.randn(2, 64, 12, 12)]", "ConvTranspose2d(64, 32, 2, stride=3, bias=False)")
  right("[torch.randn(1, 96, 5, 6, 7)]", "ConvTranspose3d(96, 32, 3, stride=(1, 2, 2), padding=1, dilation=(1, 1, 2), groups=2)")
end)

-- Remainders that are columns beside each other: a shift that one of them has no weight for must not bring it what is no number (the judge's
-- inputs have NaN); neighbours in memory are turned in shared memory where pairs of columns are no single access.
check.test("transposed ones whose remainders are joined, and whose shifts are folded", function()
  local layers = { ["ConvTranspose3d(32, 64, 3, stride=2, padding=1, output_padding=1)"] = "2, 32, 4, 5, 7",
                   ["ConvTranspose2d(64, 48, 4, stride=2, padding=1, output_padding=1)"] = "2, 64, 9, 11",
                   ["ConvTranspose2d(64, 37, 3, padding=1)"] = "2, 64, 12, 12" }
  for layer, shape in pairs(layers) do
    right(("[torch.randn(%s)]"):format(shape), layer, "return torch.tanh(self.c(x)) * 2")
  end
end)

-- Sets of a kernel: four where all remainders are apart, one where all are joined.
local function sets_of(layer)
  local way = { arch = "sm_90a", conv = "packed", chip = composed.chip {} }
  local kernel = assert(composed.make("return self.c(x)", "[torch.randn(8, 64, 32, 32)]", "self.c = nn." .. layer, way)).kernels[1]
  return #conv.geometry(kernel, kernel.members[1] or kernel.roots[1], way).sets
end

check.test("transposed ones: all remainders are joined where results are written as pairs, else those of the last axis alone", function()
  check.equal(sets_of "ConvTranspose2d(64, 64, 4, stride=2)", 1)
  check.equal(sets_of "ConvTranspose2d(64, 64, 4, stride=2, padding=1, output_padding=1)", 2)
end)

check.test("transposed ones: each block has tiles of all sets, of which some have fewer steps", function()
  local layers = { ["ConvTranspose3d(32, 32, 3, stride=2, padding=1)"] = "2, 32, 8, 9, 17", ["ConvTranspose2d(64, 64, 3, stride=4)"] = "2, 64, 29, 31" }
  for layer, shape in pairs(layers) do
    for _, m in ipairs(composed.metrics("return self.c(x)", ("[torch.randn(%s)]"):format(shape), "self.c = nn." .. layer, { arch = "sm_90a", least = 0, conv = "packed", chip = composed.chip { sms = 4 } })) do
      assert(m.skew <= 1.15, ("%s: a block does %g times the work of others"):format(layer, m.skew))
    end
  end
end)

check.test("what stands around", function()
  local made = right("[torch.randn(2, 64, 14, 13), torch.randn(48, 1, 1)]", "Conv2d(64, 48, 3, padding=1)",
    "return F.hardswish(self.c(torch.relu(x))) * y")
  local launches = select(2, made.plan:gsub("launch%(", ""))
  check.equal(launches, 3)                     -- packing twice, the product
end)

check.test("infinities are multiplied in float32", function()
  right("[torch.randn(2, 64, 14, 13) / (torch.arange(13) != 3)]", "Conv2d(64, 48, 3, padding=1)")
end)

-- Modelled seconds of a call on the task's own inputs.
local function seconds(inputs, layer)
  local task <close> = assert(composed.task("return self.c(x)", inputs, "self.c = nn." .. layer))
  local made = assert(compose.make(task, { arch = "sm_90a", least = 0, conv = "packed" }))
  local all = options.copy(cawb.defaults)
  all.verify.battery = {}
  local m = assert(cawb.measure(task, cawb.candidate { source = made.source, plan = made.plan }, { against = {}, options = all }))
  assert(m.ok, m.reason)
  return m.time_s.median
end

-- Two of 64 channels lose their bits beside the others, or all but three do.
check.test("numbers that lose bits leave the tensor cores only where no large one need meet another", function()
  local layer, some = "Conv2d(64, 48, 3, padding=1)", "[torch.randn(2, 64, 24, 23) * 2.0 ** (-35.0 * (torch.arange(64) %% 32 %s)).view(64, 1, 1)]"
  local few, most = some:format "== 3", some:format "> 1"
  right(few, layer)
  right(most:gsub("> 1", "> 0"), layer)
  if composed.device.info.modelled then
    local normal = seconds("[torch.randn(2, 64, 24, 23)]", layer)
    assert(seconds(few, layer) < 1.1 * normal, "a few small numbers left the tensor cores")
    assert(seconds(most, layer) > 1.5 * normal, "what only small numbers may meet stayed there")
  end
end)

-- Of all but two in 32 channels so little is left beside those that the convolution is in three parts of bfloat16.
check.test("a wide range: three parts of bfloat16, which hold every float32", function()
  local function full(shape, layer, channels)
    local inputs = ("[torch.randn(%s) * 2.0 ** (-35.0 * (torch.arange(%d) %% 32 > 1)).view(%d%s)]"):format(shape, channels, channels,
      (", 1"):rep(select(2, shape:gsub(",", "")) - 1))
    local made = composed.right("return self.c(x)", inputs, "self.c = nn." .. layer, { arch = "sm_90a", least = 0, conv = "packed", full = 0 })
    assert(made.plan:find("_full", 1, true), layer .. " has no kernels for a wide range")
  end
  full("2, 64, 14, 13", "Conv2d(64, 48, 3, padding=1)", 64)
  full("2, 70, 17, 15", "Conv2d(70, 33, 3, stride=2, padding=1)", 70)
  full("4, 32, 300", "Conv1d(32, 32, 5, dilation=2, groups=2)", 32)
  full("1, 96, 5, 6, 7", "ConvTranspose3d(96, 32, 3, stride=(1, 2, 2), padding=1, dilation=(1, 1, 2), groups=2)", 96)
end)

-- Every second output channel has weights for two input channels alone, which are so small beside the others that halves keep little of
-- them: these results are computed again, from what is packed and, of those two, from the input.
check.test("results of numbers that lost their bits are computed again, transposed ones too", function()
  local mask = " * ((torch.arange(48) %% 2 == 1).view(%s) | (torch.arange(70) %% 32 == 3).view(%s))"
  local small = " * 2.0 ** (-35.0 * (torch.arange(70) % 32 == 3)).view(70, 1, 1)"
  local function again(forward, shape, weight)
    local made = composed.right(forward, ("[torch.randn(%s)%s]"):format(shape, small), ("self.w = nn.Parameter(%s)"):format(weight),
      { arch = "sm_90a", least = 1, conv = "packed", full = 0 })
    check.matches(made.plan, "_again")
  end
  again("return F.conv2d(x, self.w, padding=1)", "2, 70, 9, 10", "torch.randn(48, 70, 3, 3)" .. mask:format("48, 1, 1, 1", "1, 70, 1, 1"))
  again("return F.conv_transpose2d(x, self.w, stride=2)", "2, 70, 5, 6", "torch.randn(70, 48, 3, 3)" .. mask:format("1, 48, 1, 1", "70, 1, 1, 1"))
end)

check.test("boxes: few channels, windows with strides and dilation, groups, one to three dimensions", function()
  boxed("[torch.randn(2, 3, 30, 34)]", "Conv2d(3, 24, 5, stride=2, padding=1, bias=False)")
  boxed("[torch.randn(2, 32, 10, 12)]", "Conv2d(32, 72, 3, dilation=2, padding=2, groups=2)")
  boxed("[torch.randn(1, 3, 9, 10, 11)]", "Conv3d(3, 20, 3, padding=1)")
  boxed("[torch.randn(2, 1, 300)]", "Conv1d(1, 32, 9)")
end)

check.test("boxes by groups of warps: channels by eights, neighbours where there are fewer, weights through a ring where they do not fit", function()
  local function group(inputs, layer) check.matches(composed.how(boxed(inputs, layer)), "wgmma") end
  group("[torch.randn(2, 8, 40, 30)]", "Conv2d(8, 64, 3)")
  group("[torch.randn(1, 16, 10, 12)]", "Conv2d(16, 72, 3, padding=1)")
  group("[torch.randn(1, 32, 4, 5)]", "Conv2d(32, 264, 3, padding=1)")
  group("[torch.randn(1, 40, 30)]", "Conv1d(40, 168, 9)")
  group("[torch.randn(2, 3, 14, 13)]", "Conv2d(3, 16, 3, padding=1)")
  group("[torch.randn(2, 4, 14, 13)]", "Conv2d(4, 16, (3, 5), dilation=(1, 2), padding=1)")
end)

check.test("boxes by warps, for other tensor cores", function()
  local function warps(inputs, layer)
    local made = composed.right("return self.c(x)", inputs, "self.c = nn." .. layer, { arch = "sm_80", least = 0, conv = "box" })
    check.matches(composed.how(made), "%(mma, boxes%)")
  end
  warps("[torch.randn(2, 32, 10, 12)]", "Conv2d(32, 72, 3, dilation=2, padding=2, groups=2)")
  warps("[torch.randn(2, 3, 14, 13)]", "Conv2d(3, 16, 3, padding=1)")
end)

check.test("boxes: transposed ones, by sets of outputs, some of which nothing meets", function()
  boxed("[torch.randn(2, 16, 7, 6)]", "ConvTranspose2d(16, 32, (3, 5), stride=(2, 3), padding=(1, 2), dilation=(2, 1), groups=2)")
  boxed("[torch.randn(2, 3, 5, 6, 7)]", "ConvTranspose3d(3, 16, 3, stride=2, padding=1, output_padding=1)")
end)

check.test("boxes: weights are packed before the first call, what stands ahead and behind takes no step of its own", function()
  local made = boxed("[torch.randn(2, 8, 14, 13), torch.randn(48, 1, 1)]", "Conv2d(8, 48, 3, padding=1)",
    "return F.hardswish(self.c(torch.relu(x))) * y")
  check.equal(select(2, made.plan:gsub("launch%(", "")), 2)
  check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_[%w_]+_weights"')
end)

check.test("boxes of numbers too far apart for 16 bits, and infinities, are multiplied in float32", function()
  boxed("[torch.randn(2, 8, 14, 13) * 10.0 ** (torch.arange(13) % 5 * 8 - 16)]", "Conv2d(8, 16, 3)")
  boxed("[torch.randn(2, 8, 14, 13) / (torch.arange(13) != 3)]", "Conv2d(8, 16, 3, padding=1)")
end)

check.test("boxes: results that read a place of small numbers alone are computed again, by sets of outputs and groups too", function()
  local small = " * 10.0 ** (-9.0 * (torch.arange(%d) %% 17 == 5))"
  boxed("[torch.relu(torch.randn(2, 16, 20, 13))" .. small:format(13) .. "]", "Conv2d(16, 24, 1, stride=2)")
  boxed("[torch.randn(2, 16, 9, 10)" .. small:format(10) .. "]", "ConvTranspose2d(16, 32, (3, 5), stride=(2, 3), padding=(1, 2), groups=2)")
end)

local function way_of(inputs, layer)
  local kernel = assert(composed.make("return torch.relu(self.c(x))", inputs, "self.c = nn." .. layer, { arch = "sm_90a" })).kernels[1]
  return kernel.call and "library" or kernel.made.how and kernel.made.how:match "%((.-)%)" or "plain"
end

check.test("one tap of a large input is gathered where a tile has all columns; a few products are a plain kernel, not a library's call", function()
  check.equal(way_of("[torch.rand(1, 64, 300, 400)]", "Conv2d(64, 128, 1)"), "wgmma, gathered")
  assert(way_of("[torch.rand(1, 64, 300, 400)]", "Conv2d(64, 160, 1)") ~= "wgmma, gathered")
  check.equal(way_of("[torch.rand(1, 6, 30, 40)]", "Conv2d(6, 64, 1)"), "plain")
  check.equal(way_of("[torch.rand(1, 3, 30, 40)]", "Conv2d(3, 6, 1)"), "plain")
  composed.right("return torch.relu(self.c(x)) + 1", "[torch.randn(2, 6, 30, 40)]", "self.c = nn.Conv2d(6, 64, 1)", { arch = "sm_90a" })
end)

check.test("a text that is too long gets shorter first, then the smallest products become a library's", function()
  local function made(largest)
    return composed.right("return self.d(torch.relu(self.c(x)))", "[torch.randn(4, 32, 20, 20)]", "self.c = nn.Conv2d(32, 32, 3)\nself.d = nn.Conv2d(32, 64, 5)",
      { arch = "sm_90a", largest = largest })
  end
  local whole = made(nil)
  local short = made(#whole.source - 1)
  assert(#short.source < #whole.source and not short.kernels[1].call)
  local less = made(#short.source - 1)
  check.equal(less.kernels[1].call, true)
  check.equal(less.kernels[#less.kernels].call, nil)
end)

check.test("what a schedule leaves to a library reads what stands ahead from memory", function()
  local way = { arch = "sm_90a", kernels = function(kernel) return kernel.kind == "conv" and { loop = "library" } or nil end }
  local made = composed.right("return self.c(torch.relu(x) * 2)", "[torch.randn(4, 32, 30, 30)]", "self.c = nn.Conv2d(32, 48, 3)", way)
  check.equal(#made.kernels, 2)
end)

check.test("where the way that a schedule asks for cannot be had, what stands ahead is in memory for a library", function()
  local way = { arch = "sm_90a", kernels = function(kernel) return kernel.kind == "conv" and { loop = "packed" } or nil end }
  local made = composed.right("return self.c(torch.relu(x) * 2)", "[torch.randn(1, 84, 112, 112)]", "self.c = nn.Conv2d(84, 12, 1)", way)
  check.equal(#made.kernels, 2)
end)

check.test("what is fused to a product that becomes a library's has kernels of its own", function()
  local less = composed.right("return torch.relu(self.c(torch.tanh(x))) * y", "[torch.randn(4, 32, 20, 20), torch.randn(18, 18)]",
    "self.c = nn.Conv2d(32, 32, 3)", { arch = "sm_90a", largest = 100 })
  check.equal(#less.kernels, 3)
  check.equal(less.kernels[2].call, true)
  less = composed.right("return torch.cat([self.c(x), self.d(x)], 1) * 2", "[torch.randn(4, 32, 20, 20)]",
    "self.c = nn.Conv2d(32, 32, 3)\nself.d = nn.Conv2d(32, 48, 3)", { arch = "sm_90a", largest = 100 })
  check.equal(less.kernels[1].call, true)
end)

return check.done()

-- Generated convolutions on the simulated device: one to three axes, groups, dilation, transposed.

local cawb = require "cawb"
local conv = require "cawb.compose.emit.product.text_conv"

local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check
local SMS = device.info.sms

local text = [[
import torch
shape, out, window, stride, padding, dilation, groups, transposed, extra = [1, 2, 4], 2, [3], [1], [0], [1], 1, False, [0]
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        name = "Conv%s%dd" % ("Transpose" if transposed else "", len(window))
        more = dict(output_padding=extra) if transposed else {}
        self.conv = getattr(torch.nn, name)(shape[1], out, window, stride, padding, dilation=dilation, groups=groups, **more)
    def forward(self, x):
        return torch.relu(self.conv(x)) * 2
def get_inputs():
    return [torch.randn(shape)]
def get_init_inputs():
    return []
]]

local function filled(list, n, default)
  local all = { table.unpack(list or {}) }
  while #all < n do table.insert(all, 1, default) end
  return all
end

local function description(case)
  local d = { name = "convolved", type = "float", batch = case.shape[1], groups = case.groups or 1, transposed = case.transposed }
  d.size, d.window = filled({ table.unpack(case.shape, 3) }, 3, 1), filled(case.window, 3, 1)
  d.stride, d.padding = filled(case.stride, 3, 1), filled(case.padding, 3, 0)
  d.dilation, d.out = filled(case.dilation, 3, 1), {}
  local extra = filled(case.extra, 3, 0)
  d.channels, d.each = case.shape[2] // d.groups, case.out // d.groups
  for a = 1, 3 do
    local wide = d.dilation[a] * (d.window[a] - 1) + 1
    d.out[a] = d.transposed and (d.size[a] - 1) * d.stride[a] - 2 * d.padding[a] + wide + extra[a]
      or (d.size[a] + 2 * d.padding[a] - wide) // d.stride[a] + 1
  end
  local function place(n) return ("((p * %d + d) * %d + h) * %d + w"):format(n[1], n[2], n[3]) end
  d.parameters = { "float *__restrict__ y1", "const float *__restrict__ x1", "const float *__restrict__ x2",
                   "const float *__restrict__ x3" }
  d.arguments = { "outputs[1]", "inputs[1]", 'params["conv.weight"]', 'params["conv.bias"]' }
  d.load = ("return x1[%s];"):format(place(d.size))
  local taps = d.window[1] * d.window[2] * d.window[3]
  d.weight = d.transposed and ("return x2[(c * %d + o) * %d + t];"):format(d.each, taps)
    or ("return x2[(o * %d + c) * %d + t];"):format(d.channels, taps)
  if case.four then
    d.weight4 = ("const float4 q = *(const float4 *)(x2 + o * %d + r);\nv[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;")
      :format(d.channels * taps)
  end
  d.store = ("const float c = value + x3[p %% %d];\ny1[%s] = (c < 0.0f ? 0.0f : c) * 2.0f;"):format(case.out, place(d.out))
  return d
end

local function right(what, case)
  check.test("a convolution is right: " .. what, function()
    local n = #case.window
    local constants = { shape = case.shape, out = case.out, window = case.window, groups = case.groups,
      transposed = case.transposed, stride = filled(case.stride, n, 1), padding = filled(case.padding, n, 0),
      dilation = filled(case.dilation, n, 1), extra = filled(case.extra, n, 0) }
    generated.right(text, constants, { conv.generate(description(case), case.how, SMS) }, case.battery)
  end)
end

right("one axis", { shape = { 2, 3, 21 }, out = 5, window = { 4 }, stride = { 3 }, padding = { 2 } })
right("one place", { shape = { 1, 2, 3, 3 }, out = 9, window = { 3, 3 } })
right("two axes, weights in packs of four", { shape = { 2, 4, 9, 11 }, out = 10, window = { 3, 3 }, padding = { 1, 1 },
  four = true })
right("dilation, stride, groups", { shape = { 2, 6, 12, 13 }, out = 9, window = { 3, 2 }, stride = { 2, 1 }, padding = { 2, 0 },
  dilation = { 2, 3 }, groups = 3 })
right("three axes", { shape = { 1, 2, 5, 6, 7 }, out = 3, window = { 2, 3, 3 }, stride = { 1, 2, 1 }, padding = { 1, 1, 1 } })
right("parts of k, large tiles", { shape = { 1, 64, 7, 7 }, out = 40, window = { 3, 3 }, padding = { 1, 1 },
  how = { tile = 2, splits = 3 }, battery = { "mixed" } })
right("transposed, one axis", { shape = { 2, 3, 10 }, out = 4, window = { 3 }, stride = { 1 }, transposed = true })
right("transposed, every second output", { shape = { 2, 4, 6, 7 }, out = 6, window = { 3, 4 }, stride = { 2, 3 }, padding = { 1, 2 },
  extra = { 1, 0 }, transposed = true })
right("transposed, groups, dilation", { shape = { 1, 6, 6, 5 }, out = 4, window = { 3, 3 }, stride = { 2, 2 }, padding = { 1, 0 },
  dilation = { 2, 3 }, groups = 2, transposed = true })
right("transposed, a stride beyond the window", { shape = { 1, 3, 5, 4 }, out = 3, window = { 2, 1 }, stride = { 3, 2 },
  transposed = true })
right("transposed, three axes", { shape = { 1, 3, 3, 4, 5 }, out = 2, window = { 3, 3, 5 }, stride = { 2, 2, 2 }, padding = { 1, 1, 2 },
  extra = { 1, 1, 0 }, transposed = true })

check.test("no outputs are no launches, and a table of taps has its limit", function()
  check.equal(#conv.generate(description { shape = { 0, 3, 10 }, out = 4, window = { 3 } }).launches, 0, "launches")
  local made, why = conv.generate(description { shape = { 1, 1, 5, 300 }, out = 1, window = { 3, 200 }, stride = { 3, 9 },
    transposed = true })
  check.equal(made, nil, "kernels")
  check.matches(why, "table of taps")
end)

-- The same from tasks that no library serves: one kernel with what stands behind.
local composed = dofile "tests/support/composed.lua"

local function one(forward, inputs, setup)
  check.test("a convolution with what is behind it is one kernel: " .. setup, function()
    local made = composed.right(forward, inputs, setup, { libraries = false })
    check.equal(#made.kernels, 1, "kernels")
    check.equal(made.kernels[1].by, "conv")
  end)
end

one("return F.relu(self.c(x)) * 2", "[torch.randn(2, 5, 9, 8)]", "self.c = nn.Conv2d(5, 9, 3, padding=1, stride=2)")
one("return self.c(x)", "[torch.randn(2, 16, 30)]", "self.c = nn.Conv1d(16, 20, 5, groups=2)")
one("return torch.tanh(self.c(x))", "[torch.randn(2, 4, 5, 6)]",
  "self.c = nn.ConvTranspose2d(4, 6, 3, padding=1, stride=2, output_padding=1, groups=2, dilation=2)")
one("return self.c(x)", "[torch.randn(1, 3, 4, 5, 3)]", "self.c = nn.ConvTranspose3d(3, 4, 3, stride=2, bias=False)")

return check.done()

-- Generated poolings and small convolutions on the simulated device, against PyTorch's own.

local cawb = require "cawb"
local window = require "cawb.compose.emit.window.window"

local chip = require "cawb.gpu.chip".named "h100"

local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check

local pooling = [[
import torch, torch.nn.functional as F
kind, shape, window, stride, padding, dilation = "max", [1, 1, 4], [2], [2], [0], [1]
ceil, dtype, strange = False, "float32", False
class Model(torch.nn.Module):
    def forward(self, x):
        n = len(window)
        if kind == "max":
            f = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
            return f(x, window, stride, padding, dilation, ceil)
        f = F.avg_pool2d if n == 2 else F.avg_pool3d
        return f(x, window, stride, padding, ceil, divisor_override=1)
def get_inputs():
    x = torch.randn(shape).to(getattr(torch, dtype))
    if strange:
        x.view(-1)[::17], x.view(-1)[5::19], x.view(-1)[3::23] = float("nan"), float("inf"), -float("inf")
    return [x]
def get_init_inputs():
    return []
]]

local convolution = [[
import torch
shape, out, window, stride, padding, dilation, groups = [1, 2, 4], 2, [3], [1], [0], [1], 2
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        make = [torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d][len(window) - 1]
        self.conv = make(shape[1], out, window, stride, padding, dilation, groups)
    def forward(self, x):
        return self.conv(x) * 2
def get_inputs():
    return [torch.randn(shape)]
def get_init_inputs():
    return []
]]

-- Three numbers from one for each axis of space.
local function three(list, default)
  local all = { table.unpack(list) }
  while #all < 3 do table.insert(all, 1, default) end
  return all
end

local function sizes(case)
  local s = { size = three({ table.unpack(case.shape, 3) }, 1), window = three(case.window, 1), stride = three(case.stride, 1),
              padding = three(case.padding or {}, 0), dilation = three(case.dilation or {}, 1), out = {} }
  for a = 1, 3 do
    local n = s.size[a] + 2 * s.padding[a] - s.dilation[a] * (s.window[a] - 1) - 1
    s.out[a] = n // s.stride[a] + 1
    if case.ceil and -(-n // s.stride[a]) * s.stride[a] < s.size[a] + s.padding[a] then s.out[a] = -(-n // s.stride[a]) + 1 end
  end
  return s
end

local function place(n) return ("((p * %d + d) * %d + h) * %d + w"):format(n[1], n[2], n[3]) end

local function accesses(d, behind, T)
  d.load = ("return x1[%s];"):format(place(d.size))
  d.store = ("y1[%s] = %s;"):format(place(d.out), behind:format "value")
  if T ~= "float" then return end
  d.load4 = "const float4 q = *(const float4 *)(x1 + %s);\nv[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;"
  d.load4 = d.load4:format(place(d.size))
  d.store4 = ("*(float4 *)(y1 + %s) = make_float4(%s);"):format(place(d.out),
    ("%s, %s, %s, %s"):format(behind:format "v[0]", behind:format "v[1]", behind:format "v[2]", behind:format "v[3]"))
end

local function described(case, T, parameters, arguments)
  local d = sizes(case)
  d.name, d.type, d.parameters, d.arguments = "windows", T, parameters, arguments
  accesses(d, case.behind or "%s", T)
  return d
end

local function pool(what, case)
  check.test("a pooling is right: " .. what, function()
    local T = case.dtype == "float64" and "double" or "float"
    local d = described(case, T, { T .. " *__restrict__ y1", ("const %s *__restrict__ x1"):format(T) },
      { "outputs[1]", "inputs[1]" })
    d.op, d.planes = case.kind or "max", case.shape[1] * case.shape[2]
    local constants = { shape = case.shape, window = case.window, stride = case.stride, kind = case.kind, dtype = case.dtype,
                        strange = case.strange, ceil = case.ceil,
                        padding = case.padding or { table.unpack({ 0, 0, 0 }, 1, #case.window) },
                        dilation = case.dilation or { table.unpack({ 1, 1, 1 }, 1, #case.window) } }
    for _, how in ipairs(case.how and { case.how } or { {}, { outputs = 4 }, { outputs = 2, down = 2 } }) do
      generated.right(pooling, constants, { window.made(d, how, chip) }, case.battery)
    end
  end)
end

local function conv(what, case)
  check.test("a small convolution is right: " .. what, function()
    case.behind = "(%s + x3[p % " .. case.out .. "]) * 2"
    case.behind = case.behind:gsub("%% (%d)", "%%%% %1")
    local d = described(case, "float", { "float *__restrict__ y1", "const float *__restrict__ x1", "const float *__restrict__ x2",
      "const float *__restrict__ x3" }, { "outputs[1]", "inputs[1]", 'params["conv.weight"]', 'params["conv.bias"]' })
    d.op, d.planes, d.groups = "product", case.shape[1] * case.out, case.groups
    d.channels, d.each = case.shape[2] // case.groups, case.out // case.groups
    local k = d.window
    d.weight = ("return x2[(((o * %d + c) * %d + a) * %d + b) * %d + k];"):format(d.channels, k[1], k[2], k[3])
    local constants = { shape = case.shape, out = case.out, window = case.window, stride = case.stride, groups = case.groups,
                        padding = case.padding or { table.unpack({ 0, 0, 0 }, 1, #case.window) },
                        dilation = case.dilation or { table.unpack({ 1, 1, 1 }, 1, #case.window) } }
    generated.right(convolution, constants, { window.made(d, case.how, chip) }, case.battery)
  end)
end

pool("one axis, a tail", { shape = { 2, 3, 37 }, window = { 3 }, stride = { 2 } })
pool("one window", { shape = { 2, 3, 5 }, window = { 5 }, stride = { 5 } })
for wide = 12, 15 do                     -- the last window ends at the edge, or up to two elements before it
  pool(("no padding, %d elements a line"):format(wide), { shape = { 1, 2, wide + 1, wide }, window = { 3, 2 }, stride = { 3, 2 } })
  pool(("ceil_mode, %d elements a line"):format(wide), { shape = { 1, 2, wide + 1, wide }, window = { 3, 2 }, stride = { 3, 2 }, ceil = true })
end
pool("padding in front alone is read", { shape = { 1, 2, 9, 9 }, window = { 2, 2 }, stride = { 5, 5 }, padding = { 1, 1 } })
pool("padding, packs of four", { shape = { 2, 2, 12, 16 }, window = { 3, 3 }, stride = { 2, 2 }, padding = { 1, 1 } })
pool("dilation and ceil_mode", { shape = { 1, 3, 17, 19 }, window = { 3, 2 }, stride = { 2, 3 }, padding = { 1, 1 },
  dilation = { 2, 3 }, ceil = true })
pool("NaN and infinities", { shape = { 1, 2, 12, 12 }, window = { 2, 2 }, stride = { 2, 2 }, strange = true, battery = {} })
pool("three axes", { shape = { 1, 2, 7, 9, 8 }, window = { 3, 2, 3 }, stride = { 1, 2, 1 }, padding = { 1, 0, 1 } })
pool("sums, padding", { kind = "sum", shape = { 2, 2, 9, 12 }, window = { 3, 3 }, stride = { 1, 1 },
  padding = { 1, 1 } })
pool("sums, an odd width", { kind = "sum", shape = { 2, 2, 9, 13 }, window = { 3, 4 }, stride = { 2, 2 },
  padding = { 1, 2 } })
pool("sums, ceil_mode", { kind = "sum", shape = { 1, 2, 10, 11 }, window = { 3, 3 }, stride = { 2, 2 },
  padding = { 1, 1 }, ceil = true })
pool("sums over three axes", { kind = "sum", shape = { 1, 2, 6, 7, 8 }, window = { 3, 3, 3 }, stride = { 2, 2, 2 },
  padding = { 1, 1, 1 } })
pool("float64, large windows", { kind = "sum", shape = { 1, 2, 22, 23 }, window = { 11, 11 }, stride = { 11, 1 },
  dtype = "float64" })

conv("depthwise", { shape = { 2, 5, 11, 12 }, out = 5, groups = 5, window = { 3, 3 }, stride = { 1, 1 }, padding = { 1, 1 } })
conv("depthwise, stride, dilation, an odd width", { shape = { 1, 4, 15, 17 }, out = 4, groups = 4, window = { 3, 5 },
  stride = { 2, 2 },
  padding = { 2, 3 }, dilation = { 2, 1 } })
conv("two outputs of a channel", { shape = { 2, 3, 40 }, out = 6, groups = 3, window = { 7 }, stride = { 1 }, padding = { 3 } })
conv("few channels, many outputs", { shape = { 2, 3, 9, 16 }, out = 8, groups = 1, window = { 3, 3 }, stride = { 1, 1 } })
conv("groups of several", { shape = { 1, 6, 9, 10 }, out = 4, groups = 2, window = { 3, 3 }, stride = { 2, 1 },
  padding = { 0, 1 }, how = { wide = 2 } })
conv("three axes", { shape = { 1, 2, 5, 6, 7 }, out = 2, groups = 2, window = { 3, 3, 3 }, stride = { 1, 1, 1 },
  padding = { 1, 1, 1 } })

pool("several rows of a thread", { kind = "sum", shape = { 1, 3, 13, 16 }, window = { 3, 3 }, stride = { 1, 1 },
  padding = { 1, 1 }, how = { down = 4 } })
pool("several rows of a thread, stride", { shape = { 1, 2, 17, 18 }, window = { 3, 3 }, stride = { 2, 2 }, how = { down = 2 } })
pool("several rows of a thread, dilation", { shape = { 1, 2, 17, 18 }, window = { 3, 3 }, stride = { 1, 1 }, dilation = { 2, 1 },
  how = { down = 3 } })
local strips = { strip = true, columns = 64, threads = 32 }
pool("columns first, dilation, a tail", { shape = { 2, 3, 200 }, window = { 8 }, stride = { 1 }, padding = { 4 }, dilation = { 3 }, how = strips })
pool("columns first, NaN and infinities", { shape = { 1, 2, 9, 260 }, window = { 3, 3 }, stride = { 2, 2 }, padding = { 1, 1 }, strange = true,
  battery = {}, how = { strip = true, columns = 128, down = 2 } })
pool("columns first, sums", { kind = "sum", shape = { 2, 2, 23, 131 }, window = { 11, 11 }, stride = { 11, 11 },
  padding = { 2, 2 }, how = strips })
pool("columns first, three axes, ceil_mode, float64", { kind = "sum", shape = { 1, 2, 5, 10, 84 }, window = { 3, 3, 3 }, stride = { 2, 1, 2 },
  padding = { 1, 1, 1 }, ceil = true, dtype = "float64", how = { strip = true, columns = 32, threads = 32, down = 3 } })
conv("several rows of a thread", { shape = { 1, 6, 9, 12 }, out = 12, groups = 3, window = { 3, 3 }, stride = { 1, 1 },
  padding = { 1, 1 }, how = { down = 4, wide = 2 } })

check.test("a line beyond registers is refused, no elements are no launches", function()
  local d = described({ shape = { 1, 1, 200 }, window = { 100 }, stride = { 1 } }, "float", {}, {})
  d.op, d.planes = "max", 1
  check.matches(window.refusal(d), "a line of 100 elements")
  d = described({ shape = { 0, 1, 8 }, window = { 2 }, stride = { 2 } }, "float", {}, {})
  d.op, d.planes = "max", 0
  check.equal(#window.made(d, nil, chip).launches, 0, "launches")
end)

-- The same from tasks: one kernel, whatever stands before and behind.
local composed = dofile "tests/support/composed.lua"

local function one(forward, inputs, setup)
  check.test("a window with what is around it is one kernel: " .. forward, function()
    local made = composed.right(forward, inputs, setup)
    check.equal(#made.kernels, 1, "kernels")
    check.equal(made.kernels[1].by, setup and "conv" or "window")
    check.equal(made.kernels[1].call, nil)
  end)
end

one("return F.max_pool2d(x, 3, 2, 1)", "[torch.randn(2, 3, 12, 16)]")
one("return F.relu(F.avg_pool2d(torch.tanh(x), 2)) * y", "[torch.randn(2, 3, 12, 16), torch.randn(6, 8)]")
one("return F.max_pool1d(x, 8, 1, 4, dilation=3)", "[torch.randn(2, 3, 300)]")
one("return F.max_pool3d(x, 3, 2, dilation=2, ceil_mode=True)", "[torch.randn(1, 2, 9, 10, 11)]")
one("return F.avg_pool2d(x[:, 1:3], 3)", "[torch.randn(2, 4, 12, 14)]")

one("return F.adaptive_avg_pool2d(x, (3, 2))", "[torch.randn(2, 3, 12, 14)]")
one("return self.c(x)", "[torch.randn(2, 6, 9, 12)]", "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6)")
one("return torch.relu(self.c(x)) + x", "[torch.randn(2, 6, 40)]", "self.c = nn.Conv1d(6, 6, 5, padding=2, groups=6)")

check.test("means of what is inside divide by a tensor", function()
  local made = composed.right("return F.avg_pool2d(x, 4, 3, 1, ceil_mode=True, count_include_pad=False)", "[torch.randn(2, 3, 9, 25)]")
  check.equal(made.kernels[1].by, "window")
end)

check.test("neighbours are read and written together", function()
  local counts = composed.metrics("return self.c(x)", "[torch.randn(2, 6, 9, 12)]", "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6)")[1]
  check.equal(counts.ptx_widest_load, 16)
  -- 1296 results, of which a warp writes 128 at a time.
  assert(counts["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] <= 16, "results are written one by one")
end)

check.test("a few windows have a thread each, many share threads", function()
  local function threads(shape)
    local launch = composed.make("return F.max_pool2d(x, 2)", shape).kernels[1].made.launches[1]
    return launch.grid[1] * launch.block[1]
  end
  assert(threads "[torch.randn(2, 16, 32, 32)]" >= 2 * 16 * 16 * 16)
  assert(threads "[torch.randn(4, 64, 128, 128)]" <= 4 * 64 * 64 * 64 / 4)
end)

check.test("what is no window stays what it was", function()
  assert(composed.right("return x.sum(2)", "[torch.randn(3, 4, 8)]").kernels[1].by ~= "window")
  assert(composed.right("return F.adaptive_avg_pool2d(x, 1)", "[torch.randn(2, 3, 5, 5)]").kernels[1].by ~= "window")
end)

check.test("sums that repeat elements, or go along a diagonal, are no windows", function()
  composed.right("return x.as_strided((14, 19), (2, 0), 3).sum(1),", "[torch.randn(60)]")
  composed.right("return torch.diagonal(x.unfold(0, 3, 1).unfold(1, 3, 1), dim1=2, dim2=3).sum(-1),", "[torch.randn(16, 16)]")
end)

return check.done()

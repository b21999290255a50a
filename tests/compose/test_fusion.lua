-- Fusion: the parts of a torch.cat are written where they lie in the whole; streams beside each other are one kernel.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local lists = require "cawb.base.lists"

local arch = composed.device.info.arch
local options = { arch = arch, least = 1 }

-- What is made has so many kernels that only copy, and is right.
local function copies(wanted, forward, inputs, setup, how)
  local made, n = composed.right(forward, inputs, setup, how or options), 0
  for _, kernel in ipairs(made.kernels) do
    local x = kernel.roots[1]
    n = n + (x.kind == "view" and #x.pieces > 1 and 1 or 0)
  end
  check.equal(n, wanted)
end

local two = "self.a = nn.Conv2d(3, 16, 1)\nself.b = nn.Conv2d(3, 24, 3, padding=1)"
local plain = "self.a = nn.Conv2d(3, 16, 1, bias=False)\nself.b = nn.Conv2d(3, 24, 3, padding=1, bias=False)"
local x = "[torch.randn(2, 3, 12, 20)]"

check.test("convolutions and what follows them, along channels, images, rows and columns", function()
  copies(0, "return torch.cat([torch.relu(self.a(x)), torch.sigmoid(self.b(x)) * 2, self.a(x)], 1)", x, two)
  for _, axis in ipairs { 0, 2, 3 } do
    copies(0, ("return torch.cat([torch.relu(self.b(x)), self.b(-x)], %d)"):format(axis), x, two)
  end
end)

check.test("a part and the whole that others read too", function()
  copies(0, "a = torch.relu(self.a(x))\ny = torch.cat([a, self.b(x)], 1)\nreturn y.cumsum(2), a.sum(1)", x, two)
  copies(0, "y = torch.cat([self.a(x), torch.relu(self.b(x))], 1)\nreturn self.c(y)", x, two .. "\nself.c = nn.Conv2d(40, 16, 3)")
end)

check.test("an input, one part twice, an output and parts of two wholes are copied", function()
  copies(1, "return torch.cat([x, torch.relu(self.b(x))], 1)", x, two)
  copies(1, "a = torch.relu(self.a(x))\nreturn torch.cat([a, a], 1)", x, two)
  copies(1, "a = torch.relu(self.a(x))\nreturn a, torch.cat([a, self.b(x)], 1)", x, two)
  copies(1, "a, b = self.a(x), self.b(x)\nreturn torch.cat([a, b], 1), torch.cat([b, a], 1)", x, plain)
end)

-- A stored node; `whole`: the one that it is a slice of.
local function stored(whole) return { kind = "map", dtype = "float32", shape = { 4 }, strides = { 1 }, inputs = {}, stored = true, slice_of = whole } end

check.test("slices of one whole that are read are one parameter, those of two wholes and one that is written are not", function()
  local body = require("cawb.compose.emit.body").new({}, 1)
  local first, second = stored(), stored()
  local a, b, c, d = stored(first), stored(first), stored(second), stored(first)
  local names = {}
  for k, x in ipairs { a, b, c, a } do names[k] = body:tensor(x) end
  names[5], names[6] = body:tensor(d, true), body:tensor(b, true)
  check.equal(table.concat(names, " "), "x1 x1 x2 x1 y3 x1")
  check.equal(table.concat(body:declarations(), ", "), "float *__restrict__ x1, const float *__restrict__ x2, float *__restrict__ y3")
end)

check.test("a text is taken for other slices if they are of one whole as well", function()
  local generators, repeated = require "cawb.compose.schedule.generators", require "cawb.compose.schedule.repeated"
  local first, second, known, texts, generate = stored(), stored(), {}, 0, generators.generate
  generators.generate = function()
    texts = texts + 1
    return { text = "", launches = {} }
  end
  for k, wholes in ipairs { { first, first, 1 }, { second, second, 1 }, { first, second, 2 }, { second, first, 2 } } do
    local x = stored()
    x.inputs = { stored(wholes[1]), stored(wholes[2]) }
    repeated.generate({ kind = "stream", name = ("k%d_x"):format(k), roots = { x }, own = { [x] = true } }, {}, known)
    check.equal(texts, wholes[3])
  end
  generators.generate = generate
end)

check.test("without tensor cores, with a library's convolutions, and where nothing is fused", function()
  local y, setup = "return torch.cat([self.a(x), self.b(x)], 1)", plain
  composed.right(y, x, setup, {})
  copies(1, y, x, setup, { arch = arch, concatenate = false })
  composed.right(y, x, setup, { arch = arch, fuse = false })
end)

-- So many kernels, and right.
local function kernels(wanted, forward, inputs, how)
  check.equal(#composed.right(forward, inputs, nil, how or options).kernels, wanted, forward)
end

check.test("streams of one shape that load the same tensor, or that are small, are one kernel", function()
  local large, small = "[torch.randn(300, 400), torch.randn(300, 400)]", "[torch.randn(30, 40), torch.randn(40, 30)]"
  kernels(1, "return torch.sin(x), torch.cos(x) * y, x.abs()", large)
  kernels(3, "return torch.sin(x), torch.cos(x) * y, x.abs()", large, { arch = arch, choice = function() return false end })
  kernels(1, "return torch.sin(x), torch.cos(y.t())", small)
  kernels(2, "return torch.sin(x), torch.cos(y)", large)
  kernels(2, "return torch.sin(x), torch.cos(y)", small)
end)

check.test("streams that read each other's results, that other kernels read, and that are many", function()
  local inputs = "[torch.randn(30, 40), torch.randn(40, 40)]"
  kernels(2, "a = torch.cos(x)\nreturn a, a.flatten().roll(1).view(30, 40) + a.flip(0) * a.roll(3, 1)", inputs)
  kernels(3, "a, b = torch.sin(x), torch.cos(x)\nreturn a, b, a @ y, b.cumsum(1)", inputs)
  kernels(2, "return [x + k for k in range(9)]", inputs)
end)

-- Right however it is fused, and with so many slices.
local function slices(wanted, forward, inputs, setup, how)
  local n = 0
  for _, kernel in ipairs(composed.right(forward, inputs, setup, how or options).kernels) do
    for _, root in ipairs(kernel.roots) do n = n + (root.slice_of and 1 or 0) end
  end
  check.equal(n, wanted, forward)
end

check.test("a part is written for those who read the whole, though the kernel that computes it is its only reader", function()
  local halves, weights = "v, w = torch.sin(x), torch.cos(x)\ny = torch.cat([v, w], 1)\n", "self.a = nn.Parameter(torch.randn(128, 128))"
  local scans = ", y.cumsum(0), y.cumsum(1)"
  slices(2, halves .. "return F.linear(v, self.a), F.linear(w, self.a)" .. scans, "[torch.randn(64, 128)]", weights)
  slices(2, halves .. "return torch.softmax(v, 1), torch.softmax(w, 1)" .. scans, "[torch.randn(33, 128)]", nil,
    { arch = arch, schedule = { stores = { "1.1", "2.1" } } })
  slices(2, "a = self.a(x)\ny = torch.cat([a, self.b(x)], 1)\nz = y.flip(1)[:, :16]\nreturn a * z, a - z, y.cumsum(1)", x, plain)
end)

-- Rows take no stream before it writes a slice, and streams take such streams; without `is_first` the first slice of a whole does not count.
local function late(is_first)
  return function(a, b)
    local streams = lists.filter({ a, b }, function(k) return k.kind == "stream" end)
    local function is_slice(y) return y.slice_of ~= nil and (is_first or y.offset > 0) end
    return #streams == 0 or lists.any(streams, function(k) return lists.any(k.roots, is_slice) end)
  end
end

check.test("the same of parts that rows compute, whichever part they take first", function()
  local forward = [[
v = torch.where(x > y, 1.0, -1.0)
z = torch.sigmoid(F.linear(torch.cat((v, v * 2), 1), self.a, self.b))
return torch.softmax(torch.exp(x - y), 1), z]]
  for _, is_first in ipairs { true, false } do
    slices(2, forward, "[torch.randn(37, 56), torch.randn(37, 1)]", "self.a = nn.Parameter(torch.randn(6, 112))\nself.b = nn.Parameter(torch.randn(6))",
      { choice = late(is_first) })
  end
end)

check.test("a kernel that writes a part does not read the whole", function()
  slices(2, "a = self.a(x)\ny = torch.cat([a, self.b(x)], 1)\nz = y.roll(3, 1)[:, :16]\nreturn a * z, a - z, y.cumsum(1)", x, plain)
end)

return composed.check.done()

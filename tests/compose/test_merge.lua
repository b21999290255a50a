-- Kernels that differ in whole numbers alone are one, where all texts are long.

local composed = dofile "tests/support/composed.lua"
local merge = require "cawb.compose.plan.merge"
local check = composed.check

-- A kernel as a generator makes it; $ is its name.
local function kernel(name, text, numbers, prepare)
  local made = { text = text:gsub("%$", name), launches = { { kernel = name, arguments = { numbers }, prepare = prepare } } }
  return { name = name, made = made }
end

local frame = [[
// $: a comment with a number, %d
static __device__ __forceinline__ int $_half() { return 3; }
static __device__ __forceinline__ float $_at(const float *x1, int i) { return x1[%d/**/ * i] + $_half(); }
extern "C" __global__ void __launch_bounds__(128)
$(const float *x1, float *y2) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  %s
  if (i < %d/**/) y2[i] = $_at(x1, i) + 1e-5;
}
]]

-- Two kernels with these numbers and statements, when they are shared.
local function two(a, b, prepare)
  local kernels = { kernel("k1_one", frame:format(a[1], a[1], a[2], a[3]), 11, prepare), kernel("k2_two", frame:format(b[1], b[1], b[2], b[3]), 22, prepare) }
  merge.apply(kernels, 0)
  return kernels
end

local function arguments(kernel) return table.concat(kernel.made.launches[1].arguments, " ") end

check.test("a number that differs is a parameter of the first kernel", function()
  local kernels = two({ 7, "", 500 }, { 9, "", 600 })
  check.equal(kernels[2].made.text, nil)
  check.equal(arguments(kernels[1]), "7 500 11")
  check.equal(kernels[2].made.launches[1].kernel, "k1_one")
  check.equal(arguments(kernels[2]), "9 600 22")
end)

check.test("one parameter for numbers that are the same in each kernel, a wide one for a wide number", function()
  check.equal(arguments(two({ 7, "", 7 }, { 9, "", 9 })[2]), "9 22")
  local wide = two({ 7, "", 500 }, { 7, "", 5000000000 })
  check.equal(arguments(wide[2]), "5000000000 22")
  check.matches(wide[1].made.text, "long long c1")             -- an int would cut it off, and no test has so many elements
end)

check.test("a number without a mark stays one", function()
  local kernels = two({ 7, "y2 += i / 40;", 500 }, { 7, "y2 += i / 41;", 500 })
  assert(kernels[1].made.text and kernels[2].made.text)
  kernels = two({ 7, "y2 += i / 40;", 500 }, { 8, "y2 += i / 40;", 500 })
  assert(kernels[2].made.text == nil)
end)

check.test("functions with arguments of a template, or of a macro, keep their numbers", function()
  for _, statement in ipairs { "y2[0] = $_of<3>(i);", "#define HALF $_half()" } do
    local kernels = two({ 7, statement, 500 }, { 8, statement, 500 })
    assert(kernels[1].made.text and kernels[2].made.text, statement)
  end
end)

check.test("a kernel that runs before the first call divides by parameters", function()
  for _, prepare in ipairs { true, false } do
    local kernels = two({ 7, "y2 += i / 40/*by*/;", 500 }, { 7, "y2 += i / 41/*by*/;", 500 }, prepare)
    check.equal(kernels[2].made.text == nil, prepare)
    check.equal(arguments(kernels[2]), prepare and "41 22" or "22")
    assert(not kernels[1].made.text:find "/%*", "a mark is left")
  end
end)

check.test("of texts that are not long, those that run before the first call alone are shared", function()
  for _, prepare in ipairs { true, false } do
    local kernels = { kernel("k1_one", frame:format(7, 7, "", 500), 11, prepare), kernel("k2_two", frame:format(7, 7, "", 600), 22, prepare) }
    merge.apply(kernels)
    check.equal(kernels[2].made.text == nil, prepare)
    check.equal(arguments(kernels[2]), prepare and "600 22" or "22")
  end
end)

check.test("texts that are not long stay as they are", function()
  local kernels = { kernel("k1_one", frame:format(7, 7, "", 500), 11), kernel("k2_two", frame:format(7, 7, "", 600), 22) }
  merge.apply(kernels)
  assert(kernels[1].made.text and kernels[2].made.text)
  check.equal(arguments(kernels[2]), "22")
end)

check.test("layers of other widths share their kernels, and are right", function()
  local forward = "for layer in self.l: x = torch.relu(layer(x))\nreturn x"
  local setup = "self.l = nn.ModuleList([nn.Conv2d(c, d, 3, padding=1) for c, d in ((64, 48), (48, 40), (40, 36), (36, 48))])"
  local function how(long) return { arch = "sm_90a", least = 0, conv = "packed", long = long } end
  local alike = composed.right(forward, "[torch.randn(2, 64, 13, 11)]", setup, how(0))
  local apart = composed.make(forward, "[torch.randn(2, 64, 13, 11)]", setup, how())
  assert(composed.count(alike) < composed.count(apart), composed.count(apart))
  assert(#alike.source < #apart.source, #apart.source)
end)

check.test("scales and shifts of norms are made ahead of the first call, those of all widths by few kernels", function()
  local forward = "for conv, norm in zip(self.c, self.n): x = nn.functional.silu(norm(conv(x)))\nreturn x"
  local setup = "widths = ((8, 48), (48, 40), (40, 36), (36, 24))\n" ..
    "self.c = nn.ModuleList([nn.Conv2d(c, d, 3, padding=1, bias=False) for c, d in widths])\n" ..
    "self.n = nn.ModuleList([nn.BatchNorm2d(d).eval() for c, d in widths])"
  local made, ahead = composed.right(forward, "[torch.randn(2, 8, 13, 11)]", setup, { arch = "sm_90a", least = 0 }), 0
  for _, kernel in ipairs(made.kernels) do
    local text = kernel.made and kernel.made.text or ""
    if kernel.prepare and text ~= "" then ahead = ahead + 1 end
    assert(kernel.prepare or not text:find "sqrtf", text)
  end
  assert(ahead <= 4, ahead)
end)

return check.done()

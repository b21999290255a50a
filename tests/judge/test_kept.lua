-- What prepare made is the same after a call as before it, wherever in a large tensor a call writes.

local composed = dofile "tests/support/composed.lua"
local cawb = require "cawb"

local check = composed.check
local COUNT = 6 << 20                                         -- numbers of 4 bytes: 24 pieces

local source = [[
extern "C" __global__ void make(float *kept, int n) {
  for (int t = blockIdx.x * 256 + threadIdx.x; t < n; t += gridDim.x * 256) kept[t] = 0;
}
extern "C" __global__ void scaled(const float *x, const float *w, float *y, float *kept) {
  const int i = threadIdx.x;
  y[i] = x[i] * w[i];
  %s
}]]

local plan = ([[
local kept = scratch{ shape = { COUNT }, dtype = "float32" }
prepare(function(params) launch("make", { grid = { 64 }, block = { 256 } }, kept, COUNT) end)
launch("scaled", { grid = { 1 }, block = { 64 } }, inputs[1], params["w"], outputs[1], kept)]]):gsub("COUNT", COUNT)

local function verdict(write)
  local task <close> = assert(composed.task("return x * self.w", "[torch.randn(64)]", "self.w = nn.Parameter(torch.randn(64))"))
  return assert(cawb.verify(task, cawb.candidate { source = source:format(write), plan = plan }, { trials = 1, repeats = 0, battery = {} }))
end

check.test("a call that leaves it alone passes", function() check.equal(verdict "".ok, true) end)

for name, place in pairs { first = 0, middle = COUNT // 2 + 5, last = COUNT - 1 } do
  check.test(("one number changed, the %s"):format(name), function()
    check.matches(verdict(("if (i == 0) kept[%d] = 1;"):format(place)).reason, "a call leaves scratch%[1%] changed, which prepare made")
  end)
end

return check.done()

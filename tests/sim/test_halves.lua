-- The two halves of a CUDA program (lua/cawb/sim/halves.lua), as texts: what each side sees, and on which line.

local check = dofile "tests/support/check.lua"
local halves = require "cawb.sim.halves"

local program = [=[
#include <vector>
#include <cuda_fp16.h>
using namespace std;
/* { a comment with <<<1, 2>>> */
struct Point { float x, y; };
const int width = 4;
std::vector<int> list = { 1, 2 };
__constant__ float weights[9];
__device__ float twice(float x) { return 2 * x; }
__host__ __device__ inline int both(int x) { return x; }
namespace inner {
template <class T, int N>
__global__ void
__launch_bounds__(256) fill(T *__restrict__ p, const Point q, int n = 3) {
  p[threadIdx.x] = twice(q.x);   // }
}
}
__global__ void nothing() {}
const char *text() { return "}<<<"; }
int main() {
  inner::fill<float, 2> <<<dim3(1, 2), width>>>(nullptr, Point{ 1, 2 });
  nothing<<<1, 1, 0, 0>>>();
}
]=]

local half = halves.of(program)

local function lines(text)
  local list = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list
end

check.test("the device has kernels, device functions, types and constants; of the host it has nothing", function()
  local d = lines(half.device)
  check.matches(d[1], "^ *$")
  check.equal(d[2], "#include <cuda_fp16.h>")
  for number, words in pairs { [5] = "struct Point", [6] = "const int width", [8] = "__constant__", [9] = "twice", [10] = "both", [15] = "p[threadIdx.x]" } do
    assert(d[number]:find(words, 1, true), d[number])
  end
  for _, words in ipairs { "std::vector", "main", "char *text", "using namespace std" } do assert(not half.device:find(words, 1, true), words) end
  check.matches(half.device, "cawb_keeps_1%(%) { auto p = &inner::fill<float, 2> ?;")
end)

check.test("the host has stubs in place of kernels, and calls in place of launches, on the lines of the source", function()
  local h = lines(half.host)
  check.matches(h[14], "fill%(T %*__restrict__ p, const Point q, int n = 3%) { void %*cawb_args%[%] = { %(void %*%)&p, %(void %*%)&q, %(void %*%)&n }; "
    .. "cawb_pop%(%(const void %*%)&fill<T, N>, cawb_args%); }")
  check.matches(h[18], "nothing%(%) { void %*cawb_args%[%] = { nullptr }")
  check.equal(h[19], 'const char *text() { return "}<<<"; }')
  check.equal(h[21], "  (cawb_push(dim3(1, 2), width) ? (void)0 : inner::fill<float, 2> (nullptr, Point{ 1, 2 }));")
  check.equal(h[22], "  (cawb_push(1, 1, 0, 0) ? (void)0 : nothing());")
  assert(not half.host:find("return 2 * x", 1, true), half.host)
  check.equal(#h, #lines(program))
end)

return check.done()

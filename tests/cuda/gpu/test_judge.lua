-- The judge's kernels on the GPU say of an output what the library for processors says; see judge_cases.py.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local python = require "cawb.base.python"

check.test("the kernels agree with the library", function()
  local f = assert(io.open(core.home .. "/core/judge/statistics/judge.cu"))
  local device <close> = assert(cawb.device "cuda:0")
  local built = assert(cawb.compile { source = f:read "a", device = device })
  f:close()
  assert(built.ok, built.reason)
  local host, hello = assert(python.start(120))
  host:close()
  assert(os.execute(("'%s' tests/cuda/gpu/judge_cases.py '%s' '%s' '%s'")
    :format(hello.path, core.home .. "/python", built.cubin, core.program:match "^(.*)/[^/]+/[^/]+$" .. "/lib/libcawb_native.so")))
end)

return check.done()

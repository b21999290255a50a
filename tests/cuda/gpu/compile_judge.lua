-- compile_judge: build the task host's kernels for a device ("cuda:0", "sim:h100") and
-- print where the PTX and the machine code are. For the tests in Python.

local cawb = require "cawb"
local core = require "cawb.core"

local function read(path)
  local f = assert(io.open(path))
  local text = f:read "a"
  f:close()
  return text
end

local device <close> = assert(cawb.device(... or "auto"))
local built = assert(cawb.compile { source = read(core.home .. "/core/judge/statistics/judge.cu"), device = device })
assert(built.ok, built.reason)
print(built.ptx)
print(built.cubin)

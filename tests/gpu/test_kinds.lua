-- What each kind of device can do, and that nobody asks for a device by its name.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local kinds = require "cawb.gpu.kinds"
local strategy = require "cawb.base.strategy"

check.test("abilities go by kind, and a refusal says what to do", function()
  check.equal(kinds.of "sim:h100/16", kinds.of "sim:t4")
  check.equal(kinds.of "auto", nil)
  local cpu <close> = assert(cawb.device "cpu")
  check.equal(kinds.torch_device(cpu), "cpu")
  check.equal(kinds.torch_device { info = { name = "cuda:3" } }, "cuda:3")
  check.equal(kinds.torch_device { info = { name = "sim:h100" } }, "cpu")
  local message, name = kinds.refusal(cpu, "kernels")
  check.equal(name, "unsupported")
  check.equal(message, "cpu runs Python candidates only; kernels run on sim:h100 or cuda:N")
  check.equal(kinds.refusal(cpu, "python"), nil)
  check.equal(kinds.refusal(cpu, nil), nil)
end)

check.test("a strategy says what it proposes, or inherits it", function()
  check.equal(assert(strategy.check({ turns = 3 }, "s.lua")).proposes, "kernels")
  check.equal(assert(strategy.check({ step = print }, "s.lua")).proposes, nil)
  local s, message = strategy.check({ step = print, proposes = "kernel" }, "s.lua")
  check.equal(s, nil)
  check.equal(message, "s.lua: 'proposes' is kernels or python, not 'kernel' (did you mean 'kernels'?)")
end)

-- Every Lua file of the workbench.
local function walk(dir, list)
  for _, name in ipairs(assert(core.fs.list(dir))) do
    local path = dir .. "/" .. name
    if core.fs.kind(path) == "folder" then walk(path, list)
    elseif name:match "%.lua$" then list[#list + 1] = path end
  end
  return list
end

check.test("nobody compares a device's name", function()
  for _, path in ipairs(walk("lua/cawb", {})) do
    local f <close> = assert(io.open(path))
    assert(path:match "device/kinds%.lua$" or not f:read "a":find '[=~]= *"cpu"', path .. " asks for cpu by its name")
  end
end)

return check.done()

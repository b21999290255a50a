-- cawb compare: two versions of a kernel, of files and of commits, and what the exit status says.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()
local here = assert(check.shell "pwd"):match "[^\n]+"
local small = "--device sim:h100 --set verify.trials=1 --set verify.battery=mixed"

check.write(dir .. "/task.py", [[
import torch
rows = 64
def op(x):
    return x * 2 + 1
examples = [torch.randn(rows, 256)]
]])

local source = [[
extern "C" __global__ void scale(float *y, const float *x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = FORM;
}
]]
local plan = [[launch("scale", { grid = BLOCKS, block = 256 }, outputs[1], inputs[1], inputs[1].numel)]]

local function write(name, form, blocks)
  check.write(("%s/%s.cu"):format(dir, name), (source:gsub("FORM", form)))
  check.write(("%s/%s.lua"):format(dir, name), (plan:gsub("BLOCKS", blocks)))
end

write("k", "x[i] * 2 + 1", 64)
local git = ("cd '%s' && git -c user.name=n -c user.email=e "):format(dir)
assert(select(2, check.shell(("cd '%s' && git init -q && git add k.cu k.lua"):format(dir))) == 0)
assert(select(2, check.shell(git .. "commit -qm first")) == 0)
write("k", "x[i] * 2 + 1", 1)                          -- the new version is slower
write("wrong", "x[i] * 2", 64)

local function compare(words)
  return check.shell(("cd '%s' && CAWB_HOME='%s' '%s' compare %s 2>&1"):format(dir, here, core.program, words))
end

check.test("a version that is slower than that of a commit ends with 1, and its interval is said", function()
  local out, status = compare("HEAD:k.cu k.cu task.py --json " .. small)
  check.equal(status, 1, out)
  local r = assert(core.json.decode(out))
  check.equal(r.verdict, "slower")
  assert(r.modelled and r.change.median > 0.05 and r.change.lo <= r.change.median and r.change.median <= r.change.hi)
  for i, name in ipairs { "A", "B" } do
    check.equal(r.versions[i].name, name)
    assert(r.versions[i].error.nrms < 1e-6 and r.versions[i].time_s.median > 0)
  end
end)

check.test("the other way round it is faster, and a kernel beside itself the same: both end with 0", function()
  local out, status = compare("k.cu HEAD:k task.py " .. small)
  check.equal(status, 0, out)
  check.matches(out, "^faster: B takes %d+%.%d%% less time than A %(modelled%)\n")
  out, status = compare("k k.cu task.py " .. small)
  check.equal(status, 0, out)
  check.matches(out, "^the same: ")
end)

check.test("a wrong version ends with 2, and is named", function()
  local out, status = compare("HEAD:k.cu wrong.cu task.py " .. small)
  check.equal(status, 2, out)
  check.matches(out, "^B is wrong: ")
end)

check.test("what cannot be compared ends with 3 and says why", function()
  for words, why in pairs {
    ["k.cu task.py"] = "two versions and a task are needed",
    ["nosuch:k.cu k.cu task.py"] = "nosuch: there is no such commit",
    ["HEAD:other.cu k.cu task.py"] = "commit HEAD has no other%.cu here",
    ["k.cu solution.py task.py"] = "solution%.py",
    ["k.cu k.cu task.py --seconds x"] = "%-%-seconds needs a number",
  } do
    local out, status = compare(words)
    check.equal(status, 3, out)
    check.matches(out, why)
  end
end)

return check.done()

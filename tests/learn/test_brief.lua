-- What a small model is told of a kernel: its tensors, values and addresses, as the kernel has them.

local brief = require "cawb.learn.teach.brief"
local cawb = require "cawb"
local compose = require "cawb.compose.candidate"
local check = dofile "tests/support/check.lua"
local file = require "cawb.base.file"

local device <close> = assert(cawb.device "sim:h100")
local folder = check.folder()

-- The plain lowering of a module's forward, with `vector` elements a thread, judged; and its brief.
local function lowered(forward, shapes, vector)
  local path = folder .. "/task.py"
  assert(file.write(path, ([[
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def forward(self, *x):
        return %s
def get_inputs():
    return [torch.randn(shape) for shape in %s]
def get_init_inputs():
    return []
]]):format(forward, shapes)))
  local task <close> = assert(cawb.task(path, { device = device, scale = { mode = "none" } }))
  local function make(schedule) return assert(compose.make(task, { arch = device.info.arch, memory = device.info.memory, schedule = schedule })) end
  local kernels = {}
  for _, kernel in ipairs(make({}).kernels) do kernels[compose.schedule.key(kernel)] = { vector = vector or 1, window = false } end
  local made = make { kernels = kernels }
  local facts = assert(cawb.judge(task, cawb.candidate { source = made.source, plan = made.plan }, { confirm = false }))
  check.equal(facts.ok, true, facts.reason)
  local lines, widths = brief.lines(made)
  return lines and table.concat(lines, "\n"), widths, made
end

-- Every address of a line for so many elements a thread is in the kernel's text.
local function agrees(text, made, width)
  local line, n = ("\n" .. text):match("\n" .. width .. ": ([^\n]+)"), 0
  for name, address in line:gmatch "(x%d)%[([^%]]+)%]" do
    n = n + 1
    check.equal(made.source:find(("%s[%s]"):format(name, address), 1, true) ~= nil, true, address)
  end
  for pack in line:gmatch "(x%d %+ [^,]+)" do
    n = n + 1
    check.equal(made.source:find(("(%s)"):format(pack), 1, true) ~= nil, true, pack)
  end
  check.equal(made.plan:find(("grid = { %s }"):format(line:match "^(%d+) blocks"), 1, true) ~= nil, true, line)
  return n
end

check.test("tensors in the order of their reads, values, and one line for each number of elements a thread", function()
  local text, widths, made = lowered("torch.minimum(torch.exp(x[0]), x[1])", "[(32, 4, 64), (4, 64)]")
  check.matches(text, "^x1 = inputs%[1%] float32 %[32, 4, 64%]\nx2 = inputs%[2%] float32 %[4, 64%]\nv1 = exp%(x1%)\nv2 = minimum%(v1, x2%)\n")
  check.matches(text, "y3 = outputs%[1%] float32 %[32, 4, 64%] = v2")
  check.equal(widths[1] and widths[2] and widths[4], true)
  check.equal(agrees(text, made, 1), 2)
  for _, width in ipairs { 2, 4 } do
    local _, _, wide = lowered("torch.minimum(torch.exp(x[0]), x[1])", "[(32, 4, 64), (4, 64)]", width)
    check.equal(agrees(text, wide, width), 2)
  end
end)

check.test("a pooling is a loop of one thread, with its guards, under the kernel's names", function()
  local text, widths, made = lowered("torch.tanh(F.max_pool2d(torch.cos(x[0]), 3, 2, 1))", "[(2, 3, 17, 20)]")
  check.equal(made.kernels[1].by, "stream")
  check.matches(text, "v1 = .*, else %-inf")
  check.matches(text, "acc1 = max of v1 over 3 x 3")
  check.matches(text, " if .*>= 0 && ")
  check.equal(agrees(text, made, 1), 1)
  local guard = text:match " if (.*)$"
  check.equal(made.source:find(guard, 1, true) ~= nil, true, guard)
  check.equal(widths[2], nil, "neighbours do not lie together")
  check.matches(text, "t < 540")
  check.equal(made.source:find("if (t >= 540)", 1, true) ~= nil, true)
end)

check.test("what is not one elementwise kernel has no brief", function()
  check.equal(lowered("torch.softmax(x[0], 1)", "[(16, 64)]"), nil)
  check.equal(lowered("torch.cumsum(x[0], 1) + 1", "[(16, 64)]"), nil)
end)

return check.done()

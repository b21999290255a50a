-- Tasks through the module: what is offered, and what is said of broken ones.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"

local dir = check.folder()
local device <close> = assert(cawb.device "sim:h100")

local function open(text, constants)
  local path = check.write(dir .. "/task.py", "import torch\n" .. text)
  return cawb.task(path, { device = device, task = constants })
end

local model = [[
class Model(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = torch.nn.Linear(width, 3)
    def forward(self, x, scale, pair):
        return torch.relu(self.fc(x)) * scale + pair[0]
]]

check.test("inputs of every kind, parameters by name, a graph without views", function()
  local task <close> = assert(open(model .. [=[
rows = 8
def get_inputs():
    return [torch.randn(rows, 4), 2.5, [torch.randn(3), 7]]
def get_init_inputs():
    return [4]
]=], { rows = 16 }))
  check.equal(task.inputs[1].shape[1], 16)
  check.equal(task.inputs[2].value, 2.5)
  check.equal(task.inputs[3].items[2].value, 7)
  check.equal(task.params[1].name, "fc.weight")
  check.equal(task.outputs[1].shape[2], 3)
  for _, op in ipairs(task.graph) do assert(op.kind ~= "view") end
  check.equal(task.graph[#task.graph].op, "aten.add.Tensor")
end)

check.test("fresh inputs differ, and the poison is there to be found", function()
  local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 4, cols = 8 } }))
  local poison = assert(task:fresh_inputs "test")
  local first = task:peek { which = "inputs" }
  local stats = assert(task:compare(poison))
  check.equal(stats.outputs[1].unwritten, 32)
  check.equal(stats.reference, "float64")
  assert(task:fresh_inputs "test")
  assert(first[1] ~= task:peek({ which = "inputs" })[1])
end)

check.test("secrets are a candidate's own, or all candidates' the same; an evaluation of the same candidate has others", function()
  local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 4, cols = 8 } }))
  local function secret(hash)
    task:begin_evaluation(hash)
    return task.next_seed "test"
  end
  assert(secret "a" ~= secret "b")
  task:share_secrets()
  local first = secret "c"
  check.equal(secret "d", first)
  assert(secret "c" ~= first)
end)

local function refused(pattern, text)
  local task, message, name = open(text)
  check.fails("task", pattern, task, message, name)
end

check.test("a broken task is one message with file and line", function()
  refused("task%.py:2: .*syntax", "def broken(:\n")
  refused("no Model in the file", "x = 1\n")
  refused("task%.py:%d+: NameError", "class Model(torch.nn.Module):\n  def forward(self): return nothing\n"
    .. "def get_inputs(): return []\ndef get_init_inputs(): return []\n")
  refused("task%.py:%d+: the output is not deterministic", "class Model(torch.nn.Module):\n"
    .. "  def forward(self, x): return torch.nn.functional.dropout(x, 0.5)\n"
    .. "def get_inputs(): return [torch.randn(64)]\ndef get_init_inputs(): return []\n")
  refused("task%.py:%d+: the output says nothing of the inputs", "class Model(torch.nn.Module):\n"
    .. "  def forward(self, x): return torch.softmax(x, 1).sum(1).round()\n"
    .. "def get_inputs(): return [torch.randn(8, 64)]\ndef get_init_inputs(): return []\n")
end)

check.test("a task that is not there", function()
  check.fails("missing", "nothing%.py", cawb.task(dir .. "/nothing.py", { device = device }))
end)

check.test("misuse raises with what to pass", function()
  check.raises("pass { device", cawb.task, "x.py")
  check.raises("'plan' must be a string", cawb.candidate, { source = "" })
  check.raises("unknown field 'sorce'", cawb.candidate, { sorce = "" })
  check.raises("pass { source", cawb.compile, {})
end)

return check.done()

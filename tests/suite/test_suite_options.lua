-- Options that a task of a suite has of its own.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local options = require "cawb.base.options"
local suite = require "cawb.suite.suite"

local dir = check.folder()
check.write(dir .. "/softmax.py", [[
import torch
size = 40
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)
def get_inputs():
    return [torch.randn(4, size)]
def get_init_inputs():
    return []
]])

-- A suite of one task with these options, as text.
local function with_options(text)
  local path = check.write(dir .. "/own.lua", ('return { { path = "softmax.py", %s } }'):format(text))
  return suite.load(path)
end

check.test("a task of a suite may have options of its own, and they reach its run", function()
  local list = assert(with_options 'task = { size = 32 }, options = { tolerance = { factor = 5, far = 0.5 } }')
  local path, config = suite.file(list[1], dir .. "/files")
  check.equal(core.fs.kind(path), "file")
  local all = options.copy(defaults)
  assert(options.overlay(all, dofile(config), config))
  check.equal(all.tolerance.factor, 5)
  check.equal(all.tolerance.far, 0.5)
  check.equal(all.tolerance.row, defaults.tolerance.row)
  check.equal(all.task.size, 32)
  local plain = assert(with_options 'task = { size = 32 }')
  assert(plain[1].hash ~= list[1].hash)
end)

check.test("what is wrong with the options of a task is said with the file and the entry", function()
  for text, expected in pairs {
    ['options = { tolerance = { factr = 5 } }'] = "own.lua: entry 1: .*factr",
    ['options = { task = { size = 2 } }'] = "the entry's 'task'",
    ['options = { reward = function() return 1 end }'] = "options of an entry are data",
  } do
    local list, message = with_options(text)
    check.equal(list, nil)
    assert(message:find(expected), message)
  end
end)

check.test("the bench judges a task by its own tolerance", function()
  check.write(dir .. "/own.lua", [[return {
    { path = "softmax.py", name = "as usual" },
    { path = "softmax.py", name = "bit by bit", options = { tolerance = { protocol = "allclose", allclose = 1e-12 } } } }]])
  local said = check.shell(("'%s' bench strategies/ladder.lua %s/own.lua --device sim:h100 --set turns=1 --set sweep.variants=1 "
    .. "--set verify.trials=1 --seed 7 --out %s/runs 2>&1"):format(core.program, dir, dir))
  assert(said:find "as_usual +pass", said)
  assert(said:find "bit_by_bit +rejected", said)
end)

check.done()

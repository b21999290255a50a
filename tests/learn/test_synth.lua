-- `cawb synth`: tasks are drawn, filtered, and the same again; a process that is killed goes on.

local check = dofile "tests/support/check.lua"
local confirm = require "cawb.learn.synth.confirm"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local filters = require "cawb.learn.synth.filters"
local graphs = require "cawb.learn.synth.graphs"
local maker = require "cawb.learn.synth.make"
local options = require "cawb.base.options"
local propose = require "cawb.learn.synth.propose"
local sets = require "cawb.learn.synth.set"
local sizes = require "cawb.learn.synth.sizes"
local strategy = require "cawb.base.strategy"
local synth = dofile "lua/commands/synth.lua"
local suite = require "cawb.suite.suite"

local dir = check.folder()
local usual = assert(strategy.load_table "configs/synth-paper.lua").synth

local function read(path)
  local f <close> = assert(io.open(path))
  return f:read "a"
end

local function cawb(words)
  local out, status = check.shell(("('%s' synth %s) 2>%s/err"):format(core.program, words, dir))
  return out, status, read(dir .. "/err")
end

-- Small tasks, so that this takes seconds.
local small = " --device sim:h100 --seed 7 --set synth.ops=1:1,2:4 --set synth.ranks=2:3,3:1 --set synth.memory=500000"
  .. " --set synth.operations=5000000 "

-- ---- one filter, one number at a time

local good = { outputs = 1, finite = true, deterministic = true, largest = 3.0, spread = 0.2, depends = 0.9, idle = 0.5,
               compiled = 1e-7 }

check.test("facts that pass pass, and each one that does not has its filter", function()
  check.equal(filters.of_facts(good, usual), nil)
  for key, case in pairs { finite = { false, "finite" }, deterministic = { false, "deterministic" }, largest = { 2e6, "large" },
    spread = { 1e-5, "constant" }, depends = { 0.001, "independent" }, idle = { 0.0, "idle" }, compiled = { 0.1, "compile" },
    failed = { "eager", "eager" }, outputs = { 0, "eager" } } do
    local facts = {}
    for k, v in pairs(good) do facts[k] = v end
    facts[key] = case[1]
    check.equal(filters.of_facts(facts, usual), case[2], key)
  end
end)

check.test("numbers that are none pass nothing", function()
  for key, status in pairs { largest = "large", compiled = "compile" } do
    local facts = setmetatable({ [key] = "nan" }, { __index = good })
    check.equal(filters.of_facts(facts, usual), status)
  end
end)

check.test("every status has its line in the table", function()
  local known = {}
  for _, f in ipairs(filters.order) do known[f[1]] = true end
  for _, status in ipairs { "finite", "large", "constant", "independent", "idle", "compile", "eager", "time", "crashed" } do
    assert(known[status], status)
  end
end)

-- ---- graphs

local function op(number, name, sources, args)
  local inputs = {}
  for i, source in ipairs(sources) do inputs[i] = { source = source, shape = {} } end
  return { number = number, name = name, inputs = inputs, args = args or {}, kind = "pointwise" }
end

check.test("a graph's text knows operators, sources and switches, and no sizes, names or order of independent ones", function()
  local function text(list, result) return graphs.text(list, { { source = result } }) end
  local one = text({ op(1, "relu", { "input:1" }), op(2, "mul", { "op:1", "param:fc.weight" }) }, "op:2")
  check.equal(one, "mul(relu(input1),param1)")
  check.equal(text({ op(3, "relu", { "input:2" }), op(5, "mul", { "op:3", "param:w" }) }, "op:5"), one)
  check.equal(text({ op(1, "relu", { "input:1" }), op(2, "exp", { "input:1" }), op(3, "mul", { "op:1", "op:1" }) }, "op:3"),
    "mul(relu(input1),#2)")
  assert(text({ op(1, "mul", { "input:1", "input:1" }) }, "op:1") ~= text({ op(1, "mul", { "input:1", "input:2" }) }, "op:1"))
  assert(text({ op(1, "gelu", { "input:1" }, { approximate = "tanh" }) }, "op:1")
    ~= text({ op(1, "gelu", { "input:1" }, { approximate = "none" }) }, "op:1"))
  check.equal(text({ op(1, "softmax", { "input:1" }, { dim = 1 }) }, "op:1"), text({ op(1, "softmax", { "input:1" }, { dim = 2 }) }, "op:1"))
end)

check.test("batches are 2^k or 3 * 2^k, the nearest", function()
  for batch, want in pairs { [1] = 1, [5] = 6, [90] = 96, [100] = 96, [1000] = 1024, [1500] = 1536 } do
    check.equal(sizes.round(batch), want, batch)
  end
end)

-- ---- options and words

check.test("weights are read, and what is wrong with them is said", function()
  local how = assert(maker.read(usual))
  check.equal(how.ops["2"], 80)
  check.equal(how.shares.nn, 5)
  assert(#how.without > 5, "names that are not drawn")
  for option, bad in pairs { ops = "2", shares = "numpy:1", ranks = "9:1" } do
    local given = options.copy(usual)
    given[option] = bad
    local got, message = maker.read(given)
    check.equal(got, nil)
    check.matches(message, "synth." .. option)
  end
  local none = options.copy(usual)
  none.ops = "1:0"
  check.matches(select(2, maker.read(none)), "above 0")
end)

check.test("wrong words are exit code 2, and say what to do", function()
  for words, says in pairs { ["x"] = "takes flags alone", ["--count many"] = "a whole number", ["--shard 5"] = "write i/n",
    ["--set synth.times=warm"] = "none of eager", ["--set synth.opps=1"] = "did you mean 'ops'", ["--set synth.ops=x"] = "write pairs", ["--out " .. dir .. "/none --count 0"] = "no set of tasks" } do
    local _, status, err = cawb(words .. " --device sim:h100")
    check.equal(status, 2, words .. ": " .. err)
    check.matches(err, says)
  end
end)

-- ---- sets

local whole = dir .. "/whole"

check.test("20 tasks from a seed, killed on the way with kill -9; it goes on", function()
  -- Killed once two are kept, whenever that is.
  local _, killed = check.shell(("mkfifo %s/said; '%s' synth %s --out %s --count 20 2>%s/said >%s/null & p=$!; "
    .. "while read -r line; do case $line in '[2/'*) kill -9 $p;; esac; done <%s/said; wait $p"):format(dir, core.program, small, whole,
    dir, dir, dir))
  check.equal(killed, 137, "it was killed")
  local out, status, err = cawb(small .. "--out " .. whole .. " --count 20")
  check.equal(status, 0, err)
  check.matches(out, "kept +20 %(")
  check.matches(out, "20 tasks of %d+ draws; the compiler makes kernels for %d+ of them")
  check.matches(read(whole .. "/card.md"), "20 tasks, kept of %d+ draws")
  local parquet = whole .. "/tasks.parquet"
  if core.fs.kind(parquet) then check.equal(#assert(suite.load(parquet)), 20)
  else check.matches(err, "no Parquet: writing .* needs pyarrow: .* %-m pip install pyarrow") end
end)

check.test("its file is a suite: each row loads, the three columns first, no graph twice", function()
  local list = assert(suite.load(whole .. "/tasks.jsonl"))
  check.equal(#list, 20)
  local seen = {}
  for line in io.lines(whole .. "/tasks.jsonl") do
    check.matches(line, '^{"ops": "%[.-%]", "data_source": "torch#%d", "code": "')
    local row = assert(core.json.decode(line))
    assert(not seen[row.graph], "a graph twice")
    seen[row.graph] = true
    assert(row.eager_modelled_s >= 1e-3 and row.eager_modelled_s <= 0.1, "its time")
    assert(row.kernels or row.not_lowered, "compose has been asked")
  end
end)

check.test("a folder that was begun otherwise is refused, with what differs", function()
  local there <close> = assert(sets.open(whole))
  local other = options.copy(there.about)
  other.seed = "8"
  local got, message, name = sets.open(whole, other)
  check.equal(got, nil)
  check.equal(name, "usage")
  check.matches(message, "holds a set that is drawn otherwise: .*seed %(7 there, 8 now%)")
end)

-- Lines of a set's file, by the draw's number.
local function by_number(folder)
  local lines, n = {}, 0
  for line in io.lines(folder .. "/tasks.jsonl") do
    lines[assert(core.json.decode(line)).number], n = line, n + 1
  end
  return lines, n
end

check.test("the same seed is the same bytes, in shards too; merged, they are one set without a graph twice", function()
  for i = 1, 2 do
    local _, status, err = cawb(("%s --out %s/part%d --shard %d/2 --count 2 --quiet"):format(small, dir, i, i))
    check.equal(status, 0, err)
  end
  local out, status = check.shell(("'%s' merge %s/joined %s/part1 %s/part2 && '%s' merge %s/joined %s/part1"):format(core.program, dir, dir,
    dir, core.program, dir, dir))
  check.equal(status, 0)
  check.matches(out, "part1: .* 0 draws of tasks were new\n$")
  out, status = cawb("--out " .. dir .. "/joined --count 0")
  check.equal(status, 0, out)
  local joined <close> = assert(sets.open(dir .. "/joined"))
  local full <close> = assert(sets.open(whole))
  check.equal(joined.id, full.id)
  local known, again, same = by_number(whole), by_number(dir .. "/joined"), { [0] = 0, 0 }
  for number, line in pairs(again) do
    if known[number] then
      check.equal(line, known[number])
      same[number % 2] = same[number % 2] + 1
    end
  end
  assert(same[0] >= 1 and same[1] >= 1, "each shard has rows of the whole")
end)

check.test("a set that was drawn without a benchmark is written without what it has in common with one", function()
  local joined, suite = dir .. "/joined", dir .. "/suite.jsonl"
  local before, count = by_number(joined)
  local number = assert(next(before))
  local f <close> = assert(io.open(suite, "w"))
  f:write(core.json.encode { level = 1, problem_id = 1, name = "known", code = core.json.decode(before[number]).code }, "\n")
  f:close()
  local out, status, err = cawb(("--out %s --count 0 --benchmark %s"):format(joined, suite))
  check.equal(status, 0, err)
  check.matches(err, ("draw %d  benchmark: 1/1_known"):format(number))
  check.matches(out, "benchmark +1 ")
  local after = by_number(joined)
  check.equal(after[number], nil)
  local card = assert(io.open(joined .. "/card.md")):read "a"
  check.matches(card, "in common with one of the benchmark's 1 tasks")
  check.equal(select(2, cawb("--out " .. joined .. " --count 0 --quiet")), 0)
  local again, all = by_number(joined)
  check.equal(all, count)
  check.equal(again[number], before[number])
end)

check.test("a share for transformers where it is not installed is a machine that lacks it", function()
  local function asked(version) return { hello = { path = "PY" }, ask = function() return { transformers = version, seeds = {}, looked = 0 } end } end
  local how = assert(maker.read(setmetatable({ shares = "nn:1,transformers:1" }, { __index = usual })))
  local got, message, name = synth.library(asked "", how)
  check.equal(got, nil)
  check.equal(name, "missing")
  check.matches(message, "which PY lacks: PY %-m pip install transformers, or leave it out")
  check.equal(synth.library(asked "5.0", how), "5.0")
  check.equal(synth.library(nil, assert(maker.read(usual))), "")
end)

check.test("a task host that has made many draws makes room for another", function()
  local closed = 0
  local host = { alive = function() return true end, close = function() closed = closed + 1 end }
  local one = maker.new { options = { deadlines = { start = 0.001 } }, host = host, drawn = maker.draws }
  local row, message = one:make(1)
  check.equal(row, nil)
  check.matches(message, "0.001 s")
  check.equal(closed, 1)
end)

-- ---- a model

local written = [[
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.fc = nn.Linear(features, features)

    def forward(self, x):
        return x * torch.sigmoid(self.fc(x))


batch_size = 16
features = 512


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
]]

check.test("what a model writes goes through the same filters, in a column of its own", function()
  local function reply(text) return core.json.encode { reply = { text = text } } end
  local idle = written:gsub("return x %* torch.sigmoid%(self.fc%(x%)%)", "return torch.relu(F.softplus(self.fc(x)))")
  local tape = check.write(dir .. "/talk.jsonl", table.concat({ '{"cassette":1,"about":"written by hand"}', reply "I would rather not.",
    reply("```python\n" .. idle .. "```"), reply("Here it is.\n```python\n" .. written .. "```") }, "\n") .. "\n")
  local out, status, err = cawb(small .. "--out " .. dir .. "/llm --count 1 --propose llm --set model.name=m --set cassette.replay=" .. tape)
  check.equal(status, 0, err)
  check.matches(out, "draws rejected +llm m")
  check.matches(out, "form +1 %(")
  check.matches(out, "idle +1 %(")
  local list = assert(suite.load(dir .. "/llm/tasks.jsonl"))
  check.equal(list[1].name, "nn.Linear+torch.sigmoid")
  check.matches(list[1].code, "\nbatch_size = %d+\n")
end)

check.test("a reply without a batch is no task", function()
  local made = propose.read("```python\n" .. written:gsub("batch_size = 16", "n = 16") .. "```", "m")
  check.equal(made.status, "form")
  check.matches(made.reason, "batch_size")
end)

-- ---- times on a GPU

check.test("kept tasks are timed once each, and modelled times held against the measured ones", function()
  local set <close> = assert(sets.open(whole))
  local asked = 0
  local timer = {}
  function timer:time(path)
    asked = asked + 1
    check.matches(read(path), "class Model")
    return asked == 3 and { failed = { eager = "no memory" } } or { eager = 1e-3 * asked, compile = 1e-3, failed = {} }
  end
  local spec = { name = "GPU", folder = dir, count = 4, say = function() end, timer = timer }
  check.equal(confirm.run(set, spec), "finished")
  check.equal(asked, 4)
  spec.count = 100
  check.equal(confirm.run(set, spec), "finished")
  check.equal(asked, 20)
  local a = confirm.agreement(set, "GPU")
  check.equal(a.tasks, 19)
  assert(a.rank >= -1 and a.rank <= 1 and a.error >= 0, "numbers")
  check.equal(confirm.agreement(set, "another"), nil)
  local _, status = cawb("--out " .. whole .. " --count 0 --quiet")
  check.equal(status, 0)
  check.matches(read(whole .. "/tasks.jsonl"), '"device": "GPU", "eager_s": 0.001, "compile_s": 0.001}')
end)

check.test("tasks are timed in an order that is the same each time, and not that of their numbers", function()
  local set <close> = assert(sets.open(whole))
  local order, again, sorted = confirm.order(set), confirm.order(set), true
  check.equal(#order, 20)
  for i, row in ipairs(order) do
    check.equal(again[i].number, row.number)
    check.equal(row.status, "kept")
    sorted = sorted and (i == 1 or order[i - 1].number < row.number)
  end
  assert(not sorted, "the first would be those that were drawn first")
end)

check.test("a GPU that is not there ends the timing, and is no task's fault", function()
  local timer <close> = confirm.timer { device = "cuda:77", kinds = assert(confirm.kinds "eager"), options = defaults, seconds = 60 }
  local times, message, name = timer:time(check.write(dir .. "/task.py", written))
  check.equal(times, nil)
  check.equal(name, "missing")
  check.matches(message, "cuda:77")
end)

check.test("--confirm on a simulated device is wrong usage", function()
  local _, status, err = cawb("--out " .. whole .. " --confirm --device sim:h100")
  check.equal(status, 2)
  check.matches(err, "give %-%-device cuda:N")
end)

return check.done()

-- `cawb synth --teach`: texts that are right, of tasks that are split by structure; interrupted and joined sets go on.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local parts = require "cawb.learn.synth.parts"
local sets = require "cawb.learn.synth.set"
local split = require "cawb.learn.teach.split"
local suite = require "cawb.suite.suite"
local teacher = require "cawb.learn.teach.teacher"

local dir = check.folder()

local function read(path)
  local f <close> = assert(io.open(path))
  return f:read "a"
end

local function cawb(words)
  local out, status = check.shell(("('%s' synth %s) 2>%s/err"):format(core.program, words, dir))
  return out, status, read(dir .. "/err")
end

local function lines(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = core.json.decode(line) end
  return list
end

-- ---- splits

local none, all = { families = 0, pairs = 0, sizes = 0 }, { families = 1, pairs = 1, sizes = 1 }

check.test("the ways to write an operator are one family", function()
  for _, op in ipairs { "nn.AdaptiveAvgPool1d", "nn.AdaptiveAvgPool3d", "F.adaptive_avg_pool2d" } do
    check.equal(split.family(op), "adaptiveavgpool")
  end
  check.equal(split.family "torch.log1p", "log1p")
  check.equal(split.family "nn.ReLU" ~= split.family "nn.ReLU6", true)
end)

check.test("a task belongs to one part, by its family, its pair, its sizes", function()
  local ops = { "nn.ReLU", "torch.sum" }
  check.equal(split.of(ops, { 8, 16 }, none), "train")
  check.equal(split.of(ops, { 8, 16 }, all), "families")
  check.equal(split.of(ops, { 8, 16 }, { families = 0, pairs = 1, sizes = 1 }), "pairs")
  check.equal(split.of({ "nn.ReLU" }, { 8, 16 }, { families = 0, pairs = 1, sizes = 1 }), "sizes", "one operator has no pair")
  check.equal(split.of({ "nn.ReLU", "F.relu" }, { 8 }, { families = 0, pairs = 1, sizes = 0 }), "train", "nor has one family")
end)

check.test("order and batch do not change the part", function()
  for i = 1, 40 do
    local how = { families = 0.1, pairs = 0.3, sizes = 0.3 }
    local a, b = "torch.f" .. i, "torch.g" .. i
    check.equal(split.of({ a, b }, { 8, i }, how), split.of({ b, a }, { 512, i }, how))
  end
end)

check.test("about as many are held out as were asked for", function()
  local n = 0
  for i = 1, 1000 do if split.of({ "torch.x" .. ("%c"):format(97 + i % 26):rep(1 + i // 26) }, { 4, 4 }, { families = 0.2, pairs = 0, sizes = 0 }) ~= "train" then n = n + 1 end end
  check.equal(n > 120 and n < 280, true, n)
end)

-- ---- small things

check.test("a task's sizes are put into its text, and into nothing else", function()
  local code = "batch_size = 4096\nfeatures = 512\nx = batch_size = 4096\n"
  check.equal(teacher.at_sizes(code, { batch_size = 8, features = 16 }), "batch_size = 8\nfeatures = 16\nx = batch_size = 4096\n")
end)

check.test("a process gets the words of its command, without those that are its own", function()
  local words = parts.without { "--teach", "--jobs", "4", "--out", "x", "--seed", "3", "--count=9", "--texts", "7", "--draws", "5", "--set", "teach.texts=2" }
  check.equal(table.concat(words, " "), "--teach --seed 3 --set teach.texts=2")
end)

check.test("misuse is told", function()
  for words, why in pairs { ["--jobs 2 --shard 1/2"] = "goes without", ["--jobs x"] = "a whole number", ["--texts 3"] = "goes with %-%-teach",
                            ["--teach --texts 3 --count 2"] = "without %-%-count",
                            ["--teach --set teach.text=3"] = "teach" } do
    local _, status, said = cawb("--out " .. dir .. "/no " .. words)
    check.equal(status, 2, words)
    check.matches(said, why)
  end
end)

check.test("what breaks while a signal ends the process is not written down", function()
  local corpus, loop = require "cawb.learn.teach.corpus", require "cawb.learn.synth.loop"
  local teach, asked, stopped, written = teacher.teach, core.clock.interrupted, false, {}
  function teacher.teach() return nil, "it sent an answer before", "protocol" end
  function core.clock.interrupted() return stopped end
  local set = { teach = function(_, number, data) written[number] = data.refused return true end, numbers = function() return {} end,
                kept = function() return 0 end, add = function(_, number, row) written[number] = row.status return true end }
  local maker = { folder = dir, begin = function() return true end, close = function() end, make = function()
    stopped = true
    return { status = "crashed" }
  end }
  check.equal(corpus.teach(set, maker, { number = 1, code = "" }, {}, {}), 0)
  check.equal(written[1], "it sent an answer before", "a task's own fault is")
  stopped = true
  check.equal(select(3, corpus.teach(set, maker, { number = 2, code = "" }, {}, {})), "interrupted")
  stopped = false
  check.equal(loop.run(set, maker, { count = 1 }, { 3, 1 }, 9, function() end), "interrupted")
  check.equal(written[2] or written[3], nil)
  teacher.teach, core.clock.interrupted = teach, asked
end)

-- ---- other sizes

local corpus = require "cawb.learn.teach.corpus"

-- The splits of a graph's tasks, whose first inputs have these widths, in the files.
local function splits_at(width, other, how)
  local function lesson(n)
    return { code = "", prompt = "p" .. n, shape = { 4, n }, texts = { { message = "m" .. n, time_s = 1e-6, schedule = "" } } }
  end
  local data = lesson(width)
  data.beside = lesson(other)
  local set = { texts = function() return { data } end }
  local found = corpus.rows(set, { { number = 1, status = "kept", graph = "g", data = { ops = { "nn.ReLU" } } } }, how)
  local words = {}
  for i, task in ipairs(found.tasks) do words[i] = task.name:match "^[^_]+" .. " " .. task.split end
  check.equal(#found.texts, #found.tasks)
  return table.concat(words, ", ")
end

check.test("what is held out by its sizes has no graph that is learnt at others", function()
  local how, of = { families = 0, pairs = 0, sizes = 0.5 }, { train = {}, sizes = {} }
  for n = 1, 40 do table.insert(of[split.of({ "nn.ReLU" }, { 4, n }, how)], n) end
  check.equal(splits_at(of.train[1], of.train[2], how), "1 train, 1b train")
  check.equal(splits_at(of.train[1], of.sizes[1], how), "1b sizes")
  check.equal(splits_at(of.sizes[1], of.train[1], how), "1 sizes")
  check.equal(splits_at(of.sizes[1], of.sizes[2], how), "1 sizes, 1b sizes")
end)

-- ---- a set

local small = (" --device sim:h100 --seed 7 --teach --set synth.ops=1:1 --set synth.ranks=2:1 --set 'synth.only=nn.Hardtanh torch.square F.max_pool1d'"
  .. " --set synth.memory=500000 --set synth.operations=5000000 --set teach.memory=65536 --set teach.battery=mixed --set teach.slow=1 "):gsub("%s+", " ")

local first = dir .. "/first"

check.test("texts are written for the kept tasks, and their files agree", function()
  local out, status, said = cawb(("--out %s --count 2 %s"):format(first, small))
  check.equal(status, 0, said)
  check.matches(out, "texts of %d tasks")
  local texts, tasks = lines(first .. "/texts.jsonl"), lines(first .. "/taught.jsonl")
  check.equal(#tasks > 0 and #texts >= #tasks, true)
  local by_name = {}
  for _, task in ipairs(tasks) do by_name[task.name] = task end
  for _, text in ipairs(texts) do
    local task = by_name[text.task]
    check.equal(task ~= nil, true, text.task)
    check.equal(text.split, task.split)
    check.equal(text.prompt[1].content, task.prompt)
    check.equal(text.prompt[1].role .. text.completion[1].role, "userassistant")
    check.matches(text.completion[1].content, "^```cuda\n.*\n```\n```lua\n.*\n```$")
    check.equal(text.of_best > 0 and text.of_best <= 1, true)
    local batch = task.code:match "\nbatch_size = (%d+)"
    check.matches(task.prompt, "^x1 = inputs%[1%] float32 %[" .. batch .. ",", "the prompt has the sizes that are taught")
  end
  check.equal(#assert(suite.load(first .. "/taught.jsonl")), #tasks)
  check.matches(read(first .. "/texts.md"), "## Splits")
end)

check.test("a task has the same texts, whether it is taught as it is drawn or afterwards, and it is taught at other sizes, too", function()
  local same = small:gsub("synth.memory=500000", "synth.memory=65536"):gsub("only=nn.Hardtanh torch.square F.max_pool1d", "only=torch.square")
    :gsub("synth.operations=5000000", "synth.operations=33554432")
  for _, name in ipairs { "drawn", "after" } do
    local words = ("--out %s/%s --count 1 --quiet%s"):format(dir, name, same)
    if name == "after" then check.equal(select(2, cawb((words:gsub("%-%-teach %-%-set", "--set")))), 0) end
    check.equal(select(2, cawb(words)), 0)
  end
  local tasks = lines(dir .. "/drawn/taught.jsonl")
  check.equal(#tasks, 2)
  check.equal(tasks[1].graph, tasks[2].graph)
  check.equal(tasks[1].prompt ~= tasks[2].prompt and tasks[1].name ~= tasks[2].name, true)
  check.equal(read(dir .. "/after/texts.jsonl"), read(dir .. "/drawn/texts.jsonl"))
  check.equal(select(2, cawb(("--out %s/once --count 1 --quiet %s --set teach.twice=false"):format(dir, same))), 0)
  check.equal(#lines(dir .. "/once/taught.jsonl"), 1)
end)

check.test("the same command does nothing again, and --count 0 writes the files again", function()
  local before = read(first .. "/texts.jsonl")
  local _, status, said = cawb(("--out %s --count 2 %s"):format(first, small))
  check.equal(status, 0, said)
  check.equal(said:find("draw 1 ", 1, true), nil)
  assert(os.remove(first .. "/texts.jsonl"))
  check.equal(select(2, cawb("--out " .. first .. " --count 0 --quiet")), 0)
  check.equal(read(first .. "/texts.jsonl"), before)
end)

check.test("--texts draws until so many are there, and goes on from where it was", function()
  local out, status, said = cawb(("--out %s/texts --texts 3 %s"):format(dir, small))
  check.equal(status, 0, said)
  local before = #lines(dir .. "/texts/texts.jsonl")
  check.equal(before >= 3, true, out)
  check.matches(said, "%[0/3 texts%] draw 1 ")
  out, status = cawb(("--out %s/texts --texts %d --quiet --json %s"):format(dir, before + 1, small))
  check.equal(status, 0)
  local told = core.json.decode(out)
  check.equal(told.texts, #lines(dir .. "/texts/texts.jsonl"))
  check.equal(told.texts > before, true)
  _, status, said = cawb(("--out %s/texts --texts 50 --draws 1 %s"):format(dir, small))
  check.equal(status, 1)
  check.matches(said, "1 draws made " .. told.texts .. " texts of 50; %-%-draws N allows more")
end)

check.test("processes that made the same texts go on until there are so many different ones", function()
  local both = dir .. "/again"
  check.equal(select(2, cawb(("--out %s --texts 4 --jobs 2 --quiet %s"):format(both, small))), 0)
  check.equal(#lines(both .. "/texts.jsonl") >= 4, true)
  local held = #lines(both .. "/part-1/tasks.jsonl") + #lines(both .. "/part-2/tasks.jsonl")
  check.equal(parts.held(both, 2, function(set) return set:kept() end), held)
  check.equal(select(3, parts.held(dir .. "/nowhere", 2, function() return 0 end)), "usage")
end)

check.test("names alone that were asked for are drawn; where PyTorch is as fast, a share is taught; a name that is none is told", function()
  local words = small:gsub("teach.slow=1", "teach.slow=0 --set teach.least=100"):gsub("synth.ops=1:1", "synth.ops=2:1")
  local _, status, said = cawb(("--out %s/only --count 1 %s --set 'synth.only=nn.ReLU torch.square'"):format(dir, words))
  check.equal(status, 0, said)
  check.matches(said, "torch.compile is as fast")
  for _, task in ipairs(lines(dir .. "/only/tasks.jsonl")) do
    for op in task.ops:gmatch '"([^"]+)"' do check.equal(op == "nn.ReLU" or op == "torch.square", true, op) end
  end
  _, _, said = cawb(("--out %s/none --count 1 --draws 1 %s --set synth.only=nn.Relu"):format(dir, small))
  check.matches(said, "synth.only: there is no nn.Relu")
end)

check.test("processes side by side make a set, and what one has taught is not taught again", function()
  local out, status, said = cawb(("--out %s/both --count 2 --jobs 2 --quiet %s"):format(dir, small))
  check.equal(status, 0, said)
  check.matches(out, "texts of %d tasks")
  local set <close> = assert(sets.open(dir .. "/both"))
  local n = 0
  for _ in pairs(set:taught()) do n = n + 1 end
  check.equal(n, 2)
end)

return check.done()

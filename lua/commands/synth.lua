-- cawb synth: training tasks, composed of PyTorch's operators and filtered by execution.

local benchmark = require "cawb.learn.synth.benchmark"
local card = require "cawb.learn.synth.card"
local command = require "cawb.door.command"
local confirm = require "cawb.learn.synth.confirm"
local core = require "cawb.core"
local corpus = require "cawb.learn.teach.corpus"
local defaults = require "cawb.base.defaults"
local export = require "cawb.learn.synth.export"
local file = require "cawb.base.file"
local job = require "cawb.door.job"
local lesson_card = require "cawb.learn.teach.card"
local lessons = require "cawb.learn.teach.lessons"
local loop = require "cawb.learn.synth.loop"
local maker = require "cawb.learn.synth.make"
local options = require "cawb.base.options"
local parts = require "cawb.learn.synth.parts"
local propose = require "cawb.learn.synth.propose"
local sets = require "cawb.learn.synth.set"
local strategy = require "cawb.base.strategy"

local M = { summary = "training tasks, synthesised and filtered by execution: cawb synth --out DIR --count N" }

M.goes_on = true              -- after an interruption the same command does

M.usage = [[
usage: cawb synth --out DIR [--count N | --teach --texts N] [flags]

Composes operators of PyTorch into tasks of KernelBench's form, runs each, and keeps those that pass every
filter. DIR gets the store, tasks.jsonl, tasks.parquet (with pyarrow) and card.md. The same command goes on
after any interruption, and the same seed makes the same tasks.

flags
  --out DIR            where all of it goes (cawb-runs)
  --count N            tasks to keep (100); with --shard, of this shard; 0 writes DIR's files again, and with
                       --benchmark without what a set that was drawn without one has in common with it
  --seed N             what is drawn (1)
  --shard 3/16         the third of sixteen parts; each has a DIR of its own, which cawb merge joins
  --benchmark FILE     keep nothing that has an operator graph, or nearly its source, in common with this
                       suite: a folder, .jsonl, .parquet or .lua file
  --draws N            draws at most, kept or not (100 for each task or text)
  --propose llm        a model composes, of seeds that it is given: options model, cassette
  --teach              write down what compose makes of each kept task, as texts for a model to learn from:
                       texts.jsonl, taught.jsonl, texts.md; --config configs/synth-teach.lua draws short tasks
  --texts N            with --teach, in place of --count: draw until there are N different texts
  --jobs N             N processes, each with a shard, joined at the end; they tell their progress in part-*/log
  --confirm            with --device cuda:N: time the kept tasks there, at their real sizes; --count at most
  --seeds              list the operators that compositions are drawn from, and end
  --device sim:h100    whose published rates the modelled times are of
  --config FILE.lua, --set synth.KEY=VALUE   see configs/synth-paper.lua; --set teach.KEY=VALUE: configs/synth-teach.lua
  --quiet              print nothing but the table at the end; --json: one JSON object

exit codes: 0 as many tasks or texts as asked for; 1 fewer; 2 wrong usage; 3 the machine lacks something; 130 interrupted
]]

local own = { ["--count"] = "value", ["--shard"] = "value", ["--benchmark"] = "value", ["--draws"] = "value",
              ["--propose"] = "value", ["--confirm"] = "flag",
              ["--teach"] = "flag", ["--texts"] = "value", ["--jobs"] = "value",
              ["--seeds"] = "flag" }

local need, wrong = command.need, command.wrong

local function interrupted() command.fail("interrupted", "interrupted") end

-- Defaults, with those of synthesis, under --config and --set.
local function layered(parsed)
  local all = options.copy(defaults)
  all.synth = command.sound(strategy.load_table(core.home .. "/configs/synth-paper.lua")).synth
  all.teach = command.sound(strategy.load_table(core.home .. "/configs/synth-teach.lua")).teach
  command.options(parsed, all)
  -- The filters' kinds of inputs are few: a task is asked whether it tells right from wrong, not how well.
  all.verify.battery = { "mixed", "integers" }
  all.measure.against = {}
  return all
end

local function whole(given, name, default)
  local n = math.tointeger(tonumber(given[name] or default))
  if not n or n < 0 then wrong(("--%s '%s': a whole number is expected"):format(name, given[name])) end
  return n
end

local function shard_of(text)
  local i, n = (text or "1/1"):match "^(%d+)/(%d+)$"
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if not (i and n and i >= 1 and i <= n) then
    wrong(("--shard '%s': write i/n with 1 <= i <= n, such as 3/16"):format(text))
  end
  return { i, n }
end

-- What of the options is not as configs/synth-paper.lua has it.
local function changed(how)
  local usual, list = assert(strategy.load_table(core.home .. "/configs/synth-paper.lua")).synth, {}
  for key, value in pairs(usual) do
    if how[key] ~= value and key ~= "times" then list[key] = how[key] end
  end
  return list
end

-- What a set is drawn from. All that changes a task stands here, and nothing else.
local function about_of(state, given)
  local about = { seed = state.seed, device = state.device.info.name, torch = state.torch, cawb = core.version, generator = M.generator(),
    transformers = (state.how.shares.transformers or 0) > 0 and state.transformers or nil,
    changed = changed(state.all.synth), similar = state.all.synth.similar, propose = given.propose, model = given.propose and state.all.model.name }
  return state.benchmark and benchmark.noted(state.benchmark, about) or about
end

--- A hash of the code that draws and filters; what only tells of it, such as the card, may change meanwhile.
function M.generator()
  local texts = {}
  local names = core.fs.list(core.home .. "/python/cawb_host/learn") or {}
  table.sort(names)
  for _, name in ipairs(names) do
    if name:match "%.py$" and name ~= "timed.py" then texts[#texts + 1] = file.read(core.home .. "/python/cawb_host/learn/" .. name) end
  end
  texts[#texts + 1] = file.read(core.home .. "/configs/synth-paper.lua")
  for _, name in ipairs { "filters", "graphs", "make", "propose", "sizes" } do
    texts[#texts + 1] = file.read(("%s/lua/cawb/learn/synth/%s.lua"):format(core.home, name))
  end
  return core.hash.sha256(table.concat(texts, "\0")):sub(1, 12)
end

local AT_ONCE = 16            -- names that are looked at for one question, which has its time to be answered

-- All seeds, a few names a time, for a class of transformers may take seconds: { seeds =, looked = names }.
local function all_seeds(m, borrow, say)
  local found = { seeds = core.json.array {}, looked = 0 }
  repeat
    local reply = need(m:ask { op = "synth_seeds", first = found.looked, count = AT_ONCE, borrow = borrow })
    table.move(reply.seeds, 1, #reply.seeds, #found.seeds + 1, found.seeds)
    found.looked = math.min(found.looked + AT_ONCE, reply.looked)
    say(("%d of %d names"):format(found.looked, reply.looked))
  until found.looked >= reply.looked
  return found
end

-- The last line: how many, and how many sources those of transformers have, since models copy from each other.
local function counted(found)
  local sources, borrowed, own = {}, 0, 0
  for _, seed in ipairs(found.seeds) do
    if seed.source then
      borrowed = borrowed + 1
      if not sources[seed.source] then sources[seed.source], own = true, own + 1 end
    end
  end
  return ("%d seeds of %d names that were looked at%s"):format(#found.seeds, found.looked,
    borrowed > 0 and ("; %d of them from transformers, with %d different sources"):format(borrowed, own) or "")
end

local function list_seeds(m, parsed, borrow, say)
  local found = all_seeds(m, borrow, say)
  if parsed.json then
    print(core.json.encode(found))
    return 0
  end
  local rows = {}
  for i, seed in ipairs(found.seeds) do
    local ranks = {}
    for rank in pairs(seed.forms) do ranks[#ranks + 1] = rank end
    table.sort(ranks)
    rows[i] = { seed.name, seed.kind, table.concat(ranks, " "), seed.wants, seed.gives }
  end
  command.print_table({ "seed", "kind", "dimensions", "wants", "gives" }, rows)
  print(counted(found))
  return 0
end

--- The version of transformers, where its classes are drawn: text, or nil, message, name.
function M.library(m, how)
  if (how.shares.transformers or 0) == 0 then return "" end
  local reply, message, name = m:ask { op = "synth_seeds", first = 0, count = 0 }
  if not reply then return nil, message, name end
  if reply.transformers == "" then
    return nil, ("synth.shares draws from transformers, which %s lacks: %s -m pip install transformers, or leave it out")
      :format(m.hello.path, m.hello.path), "missing"
  end
  return reply.transformers
end

-- The files of what teaches, where there is some: what corpus.lua found, or nil.
local function finish_texts(set, rows, how, program) return next(set:taught()) and need(corpus.write(set, rows, how, program)) or nil end

local function tell_texts(set, found, say)
  for _, line in ipairs(lesson_card.table(found)) do print(line) end
  print(("%d texts of %d tasks"):format(#found.texts, #found.tasks))
  say(("%s/texts.jsonl, taught.jsonl and texts.md are written"):format(set.folder))
end

-- The files beside the store, and the table. Returns how many tasks and texts there are.
local function finish(set, parsed, say, how, program, rows)
  rows = rows or set:rows()
  local written = need(export.write(set, rows, program))
  need(file.replace(set.folder .. "/card.md", card.markdown(set, rows) .. "\n"))
  local kept, counts, all = card.counts(rows)
  local found = finish_texts(set, rows, how, program)
  local there = { tasks = #kept, texts = found and #found.texts or 0 }
  if parsed.json then
    print(core.json.encode { kept = there.tasks, texts = found and there.texts, draws = all, counts = counts, set = set.id })
    return there
  end
  for _, line in ipairs(card.table(rows)) do print(line) end
  local refused = card.not_lowered(rows)
  print(("%d tasks of %d draws; the compiler makes kernels for %d of them"):format(#kept, all, #kept - #refused))
  if found then tell_texts(set, found, say) end
  say(("%s/tasks.jsonl and card.md are written%s"):format(set.folder, written.parquet and "; no Parquet: " .. written.parquet
    or written.tasks > 0 and ", tasks.parquet too" or ""))
  return there
end

-- How many of what was asked for there are.
local function reached(state, there) return state.texts and there.texts or there.tasks end

-- Begin, or go on with, a set.
local function perform(state, parsed, given, say)
  local set <close> = need(sets.open(parsed.out, about_of(state, given)))
  state.maker.set, state.maker.benchmark = set, state.benchmark
  local taught = given.teach and lessons.new { set = set, maker = state.maker, all = state.all, say = say } or nil
  if taught then need(taught:rest()) end
  local ended
  repeat                        -- a text may turn out to be there already
    local goal = { count = state.count, texts = state.texts and taught:count() }
    ended = need(loop.run(set, state.maker, goal, state.shard, state.draws, say,
      taught and function(number, row) return taught:one(number, row.code) end))
  until ended ~= "finished" or not state.texts or taught:count() >= state.count
  if ended == "interrupted" then interrupted() end
  local there = reached(state, finish(set, parsed, say, state.all.teach, state.maker.hello.path))
  if ended == "exhausted" then
    io.stderr:write(("cawb synth: %d draws made %d %s of %d; --draws N allows more\n"):format(state.draws, there, state.texts and "texts" or "tasks",
      state.count))
  end
  return there >= state.count and job.codes.passed or job.codes.failed
end

local function rewrite(parsed, state, say)
  local set <close> = need(sets.open(parsed.out))
  return finish(set, parsed, say, state.all.teach)
end

-- The files without what the set has in common with a benchmark; the store keeps all.
local function rewrite_without(parsed, state, say)
  local set <close> = need(sets.open(parsed.out))
  local rows = set:rows()
  need(benchmark.leave_out(state.benchmark, state.maker, set, rows, set.about.similar, say))
  benchmark.noted(state.benchmark, set.about)
  finish(set, parsed, say, state.all.teach, state.maker.hello.path, rows)
  return job.codes.passed
end

-- By several processes. What there is by then is joined and written down where they were interrupted, too. Two parts may have the same
-- graph, so some of their texts are one: then all go on.
local function in_parts(argv, parsed, state, say)
  say(("%d processes; each tells what it does in %s/part-*/log"):format(state.jobs, parsed.out))
  local goal, codes, there = { count = state.count, texts = state.texts and 0 }, nil, nil
  repeat
    codes = need(parts.run(argv, parsed.out, state.jobs, goal, state.draws, job.codes.interrupted))
    need(parts.join(parsed.out, state.jobs))
    if codes[job.codes.usage] or codes[job.codes.missing] then
      command.fail(("a process could not go on: see %s/part-*/log"):format(parsed.out), codes[job.codes.usage] and "usage" or "missing")
    end
    there = reached(state, rewrite(parsed, state, say))
    if state.texts and there < state.count and not codes[job.codes.interrupted] then
      local function count(set) return #corpus.rows(set, set:rows(), state.all.teach).texts end
      goal.count = state.count - there + need(parts.held(parsed.out, state.jobs, count))
    end
  until there >= state.count or not state.texts or codes[job.codes.interrupted] or codes[job.codes.failed]
  if codes[job.codes.interrupted] then interrupted() end
  return there >= state.count and job.codes.passed or job.codes.failed
end

-- One process makes a set at a time; its lock and the folder for files that are looked at.
local function place(out)
  local work = out .. "/work"
  need(core.fs.mkdir(work))
  local lock, message, name = core.fs.lock(out .. "/lock", false)
  if name == "busy" then wrong(out .. ": another process makes this set; a shard has a folder of its own") end
  return need(lock, message, name), work
end

local function with_device(parsed, given, state, say)
  local dev <close> = command.device(parsed.device == "auto" and "sim:h100" or parsed.device, state.all)
  if not dev.info.rates then wrong "--device: tasks are sized by a simulated device's rates, such as sim:h100" end
  local m <close> = maker.new { device = dev, seed = state.seed, options = state.all, how = state.how, folder = state.work }
  state.transformers = need(M.library(m, state.how))
  if given.seeds then return list_seeds(m, parsed, state.transformers ~= "", say) end
  local hello = need(m:ask { op = "hello" })
  state.device, state.maker, state.torch = dev, m, hello.torch
  m.propose = given.propose and need(propose.new(state.all)) or nil
  if given.benchmark then state.benchmark = need(benchmark.open(given.benchmark, m, state.work, hello.torch, say)) end
  return state.count == 0 and rewrite_without(parsed, state, say) or perform(state, parsed, given, say)
end

-- Times of what is kept on a GPU, and how well the modelled ones agree.
local function confirmed(parsed, state, say)
  local dev <close> = command.device(parsed.device, state.all)
  if dev.info.modelled then wrong "--confirm measures: give --device cuda:N" end
  local set <close> = need(sets.open(parsed.out))
  local card_name = dev.info.model or dev.info.name
  local timer <close> = confirm.timer { device = dev.info.name, kinds = state.kinds, options = state.all, seconds = state.how.seconds }
  local ended = need(confirm.run(set, { timer = timer, name = card_name, folder = state.work, count = state.count, say = say }))
  if ended == "interrupted" then interrupted() end
  local a = confirm.agreement(set, card_name)
  if a then
    print(("%d tasks on %s: rank correlation of modelled and measured eager time %.3f, median error %.0f%%"):format(a.tasks, card_name,
      a.rank or 0, 100 * a.error))
  end
  finish(set, parsed, say, state.all.teach)
  return job.codes.passed
end

local function read(parsed, given)
  if #parsed.words > 0 then wrong(("'%s': the command takes flags alone"):format(parsed.words[1])) end
  local state = { seed = parsed.seed or "1", texts = given.texts ~= nil, count = whole(given, given.texts and "texts" or "count", 100),
                  jobs = whole(given, "jobs", 1) }
  if state.texts and (given.count or not given.teach) then wrong "--texts goes with --teach, and without --count" end
  state.draws, state.shard = whole(given, "draws", 100 * state.count + 100), shard_of(given.shard)
  state.all = layered(parsed)
  state.how = command.sound(maker.read(state.all.synth))
  state.kinds = command.sound(confirm.kinds(state.how.times))
  if state.jobs > 1 and (given.shard or given.confirm or given.seeds) then wrong "--jobs goes without --shard, --confirm and --seeds" end
  if given.propose and given.propose ~= "llm" then wrong(("--propose '%s': llm is the one there is"):format(given.propose)) end
  return state
end

function M.main(argv)
  local given, parsed = command.parse(argv, own)
  local state = read(parsed, given)
  local function say(text) if not parsed.quiet and not parsed.json then io.stderr:write(text, "\n") end end
  if state.count == 0 and not given.seeds and not given.benchmark then
    rewrite(parsed, state, say)
    return job.codes.passed
  end
  local lock <close>, work = place(parsed.out)
  if state.jobs > 1 and state.count > 0 then return in_parts(argv, parsed, state, say) end
  state.work = work
  if given.confirm then return confirmed(parsed, state, say) end
  return with_device(parsed, given, state, say)
end

return M

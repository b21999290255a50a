-- teacher: texts for one task. compose lowers it under several schedules; each text is put into the short form, read back as a model's
-- reply would be, and judged. The texts that are right are kept, of different speeds where there are some.

local compose = require "cawb.compose.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local judge = require "cawb.judge.judge"
local options = require "cawb.base.options"
local prompt = require "cawb.agent.prompt"
local random_search = require "cawb.compose.tune.random_search"
local short = require "cawb.agent.short"
local tasks = require "cawb.judge.task.task"

local M = {}

--- The options that texts are judged with: those of `all`, brief, at the sizes that `how` (configs/synth-teach.lua) names.
function M.options(all, how)
  local own = options.copy(all)
  own.scale.mode, own.scale.memory, own.scale.operations = "fit", how.memory, how.operations
  own.verify.trials, own.verify.repeats, own.verify.denormals, own.verify.sizes = how.trials, 0, false, 0
  own.verify.battery = {}
  for kind in how.battery:gmatch "%S+" do table.insert(own.verify.battery, kind) end
  own.sweep.variants, own.confirm.enabled = 1, false
  own.measure.against, own.measure.matrix = { "eager", "compile" }, {}
  own.deadlines.run, own.deadlines.compile, own.deadlines.measure = how.seconds, how.seconds, how.seconds
  return own
end

--- A task's text with other values of its whole numbers.
function M.at_sizes(code, overrides)
  for name, value in pairs(overrides) do
    code = ("\n" .. code):gsub("\n" .. name .. " = %d+\n", ("\n%s = %d\n"):format(name, value)):sub(2)
  end
  return code
end

-- ---- schedules

-- A schedule in which each thread of every kernel takes so many neighbours: one makes the shortest text.
local function narrow(made, vector)
  local kernels = {}
  for _, kernel in ipairs(made.kernels) do kernels[compose.schedule.key(kernel)] = { vector = vector } end
  return { kernels = kernels }
end

-- Makers of the first candidates: compose's own, with narrow accesses, and without fusion.
local function first_ones(make)
  local own = make {}
  if not own then return {} end
  return { function() return own end, function() return make(narrow(own, 1)) end, function() return make(narrow(own, 2)) end,
           function() return make({}, { fuse = false, libraries = false }) end }
end

local FIRST = 4

-- A function that returns the next candidate of compose's and how many came before it; nil when there is no other. Behind the first
-- ones come schedules that are drawn a few edits away.
local function drawn(task, seed, tries)
  local info = task.device.info
  local function make(schedule, more)
    local opts = setmetatable({ arch = info.arch, memory = info.memory, schedule = schedule }, { __index = more })
    local fine, made = pcall(compose.make, task, opts)
    return fine and made or nil
  end
  local first, cached, draw, number = first_ones(make), random_search.cached(make), random_search.drawing(seed), 0
  return function()
    number = number + 1
    if #first == 0 or number > tries then return nil end
    if first[number] then return first[number](), number end
    local _, made = random_search.walk(cached, {}, draw)
    return made, number
  end
end

-- ---- texts

local function text_of(made)
  for _, kernel in ipairs(made.kernels) do if kernel.call then return nil end end
  return short.write(made.source, made.plan)
end

-- Whether two texts that are kept take as long already.
local function crowded(texts, seconds, apart)
  local n = 0
  for _, text in ipairs(texts) do
    if math.abs(text.time_s - seconds) < apart * seconds then n = n + 1 end
  end
  return n >= 2
end

local function median(part) return part and part.median or nil end

-- What a text is worth, as a row; or false where it is not right, or nil, message, name.
local function judged(task, message, made, all)
  local found = short.parse(message)
  if not found then return false end
  local facts, why, name = judge.judge(task, short.whole(found, task, "teacher"), all, { confirm = false })
  if not facts then return nil, why, name end
  if not facts.ok then return false, ("%s: %s"):format(facts.stage, facts.reason) end
  return { message = message, schedule = compose.schedule.text(made.schedule), time_s = facts.time_s.median,
           eager = median(facts.speedup.eager), compile = median(facts.speedup.compile) }
end

-- Whether a task is left out because PyTorch is as fast: a share of such tasks is taught.
local function is_dull(row, spec)
  local gain = row.compile or row.eager
  if not gain or gain >= spec.how.least then return false end
  return tonumber(core.hash.sha256("slow:" .. spec.seed):sub(1, 8), 16) / 2.0 ^ 32 >= spec.how.slow
end

local function collect(task, spec, all)
  local how, texts, seen, wrong, long = spec.how, {}, {}, {}, nil
  local next_one = drawn(task, spec.seed, how.tries)
  local made, number = next_one()
  if not number then return nil, "compose does not lower it" end
  while number and #texts < how.texts do
    local message = made and text_of(made)
    if message and #message > how.bytes then long = math.min(long or #message, #message)
    elseif message and not seen[message] then
      seen[message] = true
      local row, why, name = judged(task, message, made, all)
      if row == nil then return nil, why, name end
      if not row then wrong[#wrong + 1] = why
      elseif #texts == 0 and is_dull(row, spec) then return nil, "torch.compile is as fast"
      elseif not crowded(texts, row.time_s, how.apart) then texts[#texts + 1] = row end
    end
    if number == FIRST and #texts == 0 then break end
    made, number = next_one()
  end
  if #texts == 0 then return nil, wrong[1] or long and ("its shortest text has %d bytes"):format(long) or "its kernels call libraries" end
  return texts, wrong
end

--- The texts of one task: `spec` = { code =, path = for its file, device =, host = { process, hello }, options = M.options, how =, seed = a number }.
--- Returns { code = at the sizes that are taught, prompt =, shape = of its first input, texts = rows, wrong = why others were not right } or
--- { refused = why }; or nil, message, name.
function M.teach(spec)
  local ok, message, name = file.write(spec.path, spec.code)
  if not ok then return nil, message, name end
  local all = options.copy(spec.options)
  local task <close>, lost, why = tasks.open(spec.path, { device = spec.device, options = all, host = spec.host,
    seed = ("%016x"):format(spec.seed) })
  if not task then return nil, lost, why end
  local texts, wrong
  texts, wrong, name = collect(task, spec, all)
  if not texts then
    if name then return nil, wrong, name end
    return { refused = wrong }
  end
  local code = M.at_sizes(spec.code, all.task)
  return { code = code, prompt = assert(prompt.fill("short", nil, { task = prompt.task(code, task) })), shape = task.inputs[1] and task.inputs[1].shape or {},
           texts = texts, wrong = wrong }
end

return M

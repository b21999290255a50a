-- teacher: texts for one task. compose lowers it to one elementwise kernel under several schedules; each text is put into the short
-- form, read back as a model's reply would be, and judged. The texts that are right are kept. The model is asked with the kernel's brief.

local brief = require "cawb.learn.teach.brief"
local compose = require "cawb.compose.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local judge = require "cawb.judge.judge"
local maker = require "cawb.learn.synth.make"
local options = require "cawb.base.options"
local short = require "cawb.agent.short"
local sizes = require "cawb.learn.synth.sizes"
local tasks = require "cawb.judge.task.task"
local wire = require "cawb.base.wire"

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

local WIDTHS = { 2, 4 }                -- elements that a thread takes, beside one

-- A schedule in which each thread of every kernel takes so many neighbours, and a pooling is a loop of one thread.
local function plain(made, vector)
  local kernels = {}
  for _, kernel in ipairs(made.kernels) do kernels[compose.schedule.key(kernel)] = { vector = vector, window = false } end
  return { kernels = kernels }
end

-- compose's candidates for a task, as many elements a thread as its brief has, the shortest text first, and that brief; nil and why there is none.
local function drawn(task)
  local info = task.device.info
  local function make(schedule)
    local fine, made = pcall(compose.make, task, { arch = info.arch, memory = info.memory, schedule = schedule })
    return fine and made or nil
  end
  local own = make {}
  local first = own and make(plain(own, 1))
  if not first then return nil, "compose does not lower it" end
  local lines, widths = brief.lines(first)
  if not lines then return nil, "it is not one elementwise kernel" end
  local list = { first }
  for _, width in ipairs(WIDTHS) do if widths[width] then list[#list + 1] = make(plain(own, width)) end end
  return list, lines
end

-- ---- texts

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

-- Texts for a task and why others were not right; nil and why there is none; nil, message, name.
local function collect(task, list, spec, all)
  local how, texts, seen, wrong = spec.how, {}, {}, {}
  for _, made in ipairs(list) do
    local message = short.write(made.source, made.plan)
    if #message > how.bytes and #texts == 0 then return nil, ("its shortest text has %d bytes"):format(#message) end
    if #message <= how.bytes and not seen[message] then
      seen[message] = true
      local row, why, name = judged(task, message, made, all)
      if row == nil then return nil, why, name end
      if not row then wrong[#wrong + 1] = why
      elseif #texts == 0 and is_dull(row, spec) then return nil, "torch.compile is as fast"
      else texts[#texts + 1] = row end
    end
  end
  if #texts == 0 then return nil, wrong[1] end
  return texts, wrong
end

-- What is asked of a model for a task, and its texts; or nil as collect has it.
local function lesson(task, spec, all)
  local list, lines = drawn(task)
  if not list then return nil, lines end
  local texts, wrong, name = collect(task, list, spec, all)
  if not texts then return nil, wrong, name end
  return { prompt = table.concat(lines, "\n"), texts = texts, wrong = wrong }
end

-- ---- sizes

-- The task's shapes and op graph with these sizes, or nil.
local function sketched(spec, overrides)
  local seconds = spec.options.deadlines.task
  return spec.host[1]:call({ op = "sketch", path = wire.path(spec.path), overrides = overrides, init_seed = 42 }, { timeout = seconds })
end

-- The sizes that were found when the task was made, where they were to be as small.
local function found_before(spec, all)
  local there = spec.fitted
  return there and there.memory == all.scale.memory and there.operations == all.scale.operations and there.task or nil
end

-- Enters the sizes that are taught into the options, as a maker finds them: the batch is small, the others are halved together, as few times
-- as will do. Where they do not go together the task is shrunk size by size as it is opened.
local function shrink(spec, all)
  local quick, own = found_before(spec, all), nil
  if not quick then own = sketched(spec, all.task) end
  local constants = own and own.task.constants or {}
  if math.type(constants.batch_size) == "integer" then
    local how = { seconds = all.deadlines.task, memory = all.scale.memory, operations = all.scale.operations }
    all.task.batch_size = math.min(maker.batch, constants.batch_size)
    quick = sizes.shrink(spec.host[1], spec.path, constants, all.task.batch_size, how)
  end
  if quick then all.task, all.scale.mode = quick, "none" end
end

-- Three quarters of each size that four divides, as overrides; nil where there is none, or they do not go together.
local function others(spec, given)
  local overrides, any = {}, false
  for name, value in pairs(given) do
    local less = name ~= "batch_size" and math.type(value) == "integer" and value >= 16 and value % 4 == 0
    overrides[name], any = less and value * 3 // 4 or value, any or less
  end
  return any and sketched(spec, overrides) and overrides or nil
end

-- What is taught of a task at the sizes that `all` names: { code =, prompt =, shape = of its first input, texts = rows, wrong = why others
-- were not right } or { refused = why }; or nil, message, name.
local function taught(spec, all)
  local task <close>, lost, why = tasks.open(spec.path, { device = spec.device, options = all, host = spec.host,
    seed = ("%016x"):format(spec.seed) })
  if not task then return nil, lost, why end
  task:share_secrets()
  local found
  found, why, lost = lesson(task, spec, all)
  if not found then
    if lost then return nil, why, lost end
    return { refused = why }
  end
  found.code, found.shape = M.at_sizes(spec.code, all.task), task.inputs[1] and task.inputs[1].shape or {}
  return found
end

--- The texts of one task: `spec` = { code =, path = for its file, device =, host = { process, hello }, options = M.options, how =, seed = a number,
--- fitted = sizes that were found when the task was made, or nil }.
--- Returns { code = at the sizes that are taught, prompt =, shape = of its first input, texts = rows, wrong = why others were not right,
--- beside = the same at other sizes, or nil } or { refused = why }; or nil, message, name.
function M.teach(spec)
  local ok, message, name = file.write(spec.path, spec.code)
  if not ok then return nil, message, name end
  local all = options.copy(spec.options)
  shrink(spec, all)
  local found
  found, message, name = taught(spec, all)
  local other = found and found.texts and spec.how.twice and others(spec, all.task)
  if not other then return found, message, name end
  local again = options.copy(spec.options)
  again.task, again.scale.mode = other, "none"
  found.beside, message, name = taught(spec, again)
  if not found.beside then return nil, message, name end
  return found
end

return M

-- candidate: what a client proposes, in any of the forms that are taken, as a candidate. What is no candidate is one
-- that failed: it is answered with a reward, and is not the client's error.

local candidates = require "cawb.judge.task.candidate"
local compose = require "cawb.compose"
local core = require "cawb.core"
local kinds = require "cawb.gpu.kinds"
local proposals = require "cawb.agent.proposals"
local short = require "cawb.agent.short"

local M = {}

local most_bytes = 1 << 20

local function failed(reason) return nil, { ok = false, stage = "reply", reason = reason } end

-- The last block fenced as Python that defines ModelNew.
local function python_in(text)
  local found
  for block in text:gmatch "```[Pp]ython[^\n]*\n(.-)\n%s*```" do
    if block:find "class%s+ModelNew" then found = block .. "\n" end
  end
  return found
end

-- A model's reply: kernel and plan in fenced blocks, or Python with a ModelNew.
local function from_text(text)
  local python = python_in(text)
  if python then return candidates.new { python = python, name = "reply" } end
  local c, why = proposals.parse(text, "reply")
  if c then return c end
  return failed(why)
end

local schedule_keys = { fuse = "boolean", libraries = "boolean", tensor_cores = "boolean", skip = "table", no_partial_sums = "table", stores = "table",
                        cuts = "table", kernels = "table", decisions = "boolean" }

-- The part of a schedule that is one of compose's own, or nil and what is wrong.
local function inner_schedule(schedule)
  for key, value in pairs(schedule) do
    if type(value) ~= schedule_keys[key] then
      return nil, ("schedule: '%s' is no choice, or of another type; there are fuse, libraries, tensor_cores and decisions, "
        .. "true or false, and skip, no_partial_sums, stores, cuts and kernels as the tool compose and `cawb tune` have them"):format(tostring(key))
    end
  end
  local own = { skip = schedule.skip, no_partial_sums = schedule.no_partial_sums, stores = schedule.stores, cuts = schedule.cuts,
                kernels = schedule.kernels }
  local good, why = compose.schedule.check(own)
  if not good then return nil, why end
  return own
end

-- What compose makes of a task under a schedule.
local function from_schedule(schedule, held)
  local own, wrong = inner_schedule(schedule)
  if not own then return failed(wrong) end
  local info = held.task.device.info
  local wide = schedule.tensor_cores ~= false and held.options.compose.tensor_cores
  local made, why = compose.make(held.task, { arch = info.arch, tensor_cores = wide, memory = info.memory, fuse = schedule.fuse,
                                              libraries = schedule.libraries, schedule = own })
  if not made then return failed(tostring(why)) end
  local decisions = schedule.decisions and core.json.array(compose.decisions.of(made)) or nil
  return candidates.new { source = made.source, plan = made.plan, options = made.options, name = "schedule" }, nil, decisions
end

-- A message in the short form, as a candidate of the task that is held.
local function from_short(text, held)
  local found, why = short.parse(text)
  if not found then return failed(why) end
  return short.whole(found, held.task)
end

local texts = { source = "string", plan = "string", python = "string", text = "string", short = "string", name = "string", note = "string",
                defines = "table", options = "table", tunables = "table", schedule = "table" }

local plain = { string = true, number = true, boolean = true }

-- Why a table of a candidate is not what it has to be, or nil.
local function misfit_table(key, t)
  local list = key == "options"
  for name, value in pairs(t) do
    local fits = plain[type(value)]
    if list then fits = type(value) == "string" and math.type(name) == "integer"
    elseif key == "schedule" then fits = type(name) == "string"
    else fits = fits and type(name) == "string" and name:match "^[%a_][%w_]*$" end
    if not fits then
      return list and "candidate: 'options' must be a list of texts"
        or ("candidate: '%s' must be an object of names and plain values"):format(key)
    end
  end
end

-- Why the fields of a candidate do not fit, or nil.
local function misfit(spec)
  if type(spec) ~= "table" then return "'candidate' must be an object: {source, plan}, {python}, {text}, {short} or {schedule}" end
  for key, value in pairs(spec) do
    if type(value) ~= texts[key] then
      return texts[key] and ("candidate: '%s' must be a %s"):format(key, texts[key] == "table" and "object or a list" or "string")
        or ("candidate: there is no field '%s'; it has source and plan, python, text, short or schedule"):format(tostring(key):sub(1, 40))
    end
    local why = type(value) == "table" and misfit_table(key, value)
    if why then return why end
    if type(value) == "string" and #value > most_bytes then
      return ("candidate: '%s' has %d bytes; at most %d are taken"):format(key, #value, most_bytes)
    end
  end
end

--- Why the form of a candidate cannot be read at all, or nil: that is the client's error.
function M.misfit(spec)
  local why = misfit(spec)
  if why then return why end
  local forms = (spec.source and spec.plan and 1 or 0) + (spec.python and 1 or 0) + (spec.text and 1 or 0)
    + (spec.short and 1 or 0) + (spec.schedule and 1 or 0)
  if forms ~= 1 then return "candidate: give one of source with plan, python, text, short, schedule" end
  if not spec.source and (spec.plan or spec.tunables or spec.defines) then
    return "candidate: 'plan', 'defines' and 'tunables' go with 'source'"
  end
end

--- Why a device does not execute a candidate, as a failure in words for who wrote it; or nil. The candidate may be right elsewhere.
function M.elsewhere(device, c)
  local why, name = kinds.refusal(device, c.python and "python" or "kernels")
  return why and { ok = false, stage = "reply", name = name, reason = ("not judged: %s. %s"):format(why, c.python
    and "Here a candidate is kernel.cu in a block that begins with ```cuda, and plan.lua in another with ```lua" or "Here a candidate is Python with ModelNew") }
end

--- Whether a form becomes a candidate only where its task is loaded.
function M.needs_task(spec) return spec.schedule ~= nil or spec.short ~= nil end

--- The candidate of a form that fits; one that needs its task gets it as `held`, on a place. Returns it; or nil and a failure as
--- data; then the decisions of a schedule that asks for them.
function M.new(spec, held)
  if spec.text then return from_text(spec.text) end
  if spec.short then return from_short(spec.short, held) end
  if spec.schedule then return from_schedule(spec.schedule, held) end
  local ok, c, why = pcall(candidates.new, { source = spec.source, plan = spec.plan, python = spec.python, name = spec.name,
    note = spec.note, defines = spec.defines, options = spec.options, tunables = spec.tunables })
  if ok and c then return c end
  return failed(tostring(ok and why or c))
end

return M

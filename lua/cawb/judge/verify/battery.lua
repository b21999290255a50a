-- battery: kinds of inputs that the task never announced. Which to try on a task, what each can
-- say of it, and under which tolerance; python/cawb_host/judge/inputs/battery.py makes them.

local verdict = require "cawb.judge.verify.tolerance"
local options = require "cawb.base.options"
local traits = require "cawb.torch.traits"

local M = {}

-- Whether whole numbers go through all operators without rounding, in any order of their sums.
local function is_exact(task)
  for _, op in ipairs(task.graph) do
    if not traits.of(op, "exact") then return false end
  end
  return true
end

-- Whether a factor is known to hold zeros: a diagonal, a triangle, the padding that weights
-- meet which are inputs.
local function has_structure(task)
  for _, op in ipairs(task.graph) do
    local weight = op.inputs and op.inputs[2]
    if traits.of(op, "structure") then return true end
    if op.kind == "convolution" and weight and not (weight.source or ""):find "^param:" then return true end
  end
  return false
end

-- From about here on rounding decides whether a result is infinite.
local overflows = { float32 = 1e37, bfloat16 = 1e37, float16 = 3e4, float64 = 1e307 }

local least_normal = { float32 = 1.17e-38, bfloat16 = 1.17e-38, float16 = 6.1e-5, float64 = 2.2e-308 }

local function unsuitable_output(o, case)
  local e = o.eager
  if o.unfit then return o.unfit end
  if case ~= "nan" and case ~= "nonfinite" and (o.odd or 0) > 0 then return "the reference is not finite" end
  if o.scale and o.scale > overflows[o.dtype] then return "the reference is out of the type's range" end
  if not (e and e.worst and e.nrms and e.nrms <= 1e-2) then return "PyTorch itself is far from the reference" end
end

-- Indices say something where it is known what they point to, other whole numbers wherever there is one right value.
local function unsuitable_whole(o, case)
  if not o.index then return o.unsure end
  if case == "nan" or case == "nonfinite" then return "PyTorch documents no place for NaN among values in order" end
  if not (o.index.eager <= 1e-2) then return "PyTorch itself is far from the reference" end
end

--- Why a kind says nothing of this task: the reference has values that are no numbers, PyTorch's own result is far
--- from it, or one rounding moves it far; or nil. Of several outputs those of which it says nothing are `spared`; each other one
--- is judged as if it were alone.
function M.unsuitable(task, compared, case)
  if compared.unfit then return compared.unfit end
  if (case == "nan" or case == "nonfinite") and has_structure(task) then
    return "zeros times NaN are NaN, and a kernel that knows of the zeros need not multiply"
  end
  local outs, spared, why = compared.slots[1], {}, nil
  for i, o in ipairs(outs) do
    local constant = ((task.results or {})[i] or {}).source == "const"     -- a number that the task has for all inputs
    local no = not o.mismatches and unsuitable_output(o, case) or o.mismatches and not constant and unsuitable_whole(o, case)
    if no then spared[#spared + 1], why = i, why or no end
  end
  if #spared == #outs then return why end
  for _, slot in ipairs(compared.slots) do
    for _, i in ipairs(spared) do slot[i].spared = true end
  end
  compared.spared = #spared > 0
end

local all = "!"                                -- as in python/cawb_host/judge/trials.py

--- Where a kind said nothing of some outputs: the same kind nearer to the task's own inputs, where it says something of each.
function M.nearer(case, compared)
  if compared.spared and not case:find("[:!]") then return { case = case .. all, kind = case .. all } end
end

local well_conditioned = { mixed = true, integers = true, edges = true, ties = true }

--- The tolerance for one kind of inputs, from that for the task's own. Where an operator is badly conditioned the sizes of
--- its terms say how much, row by row; `without_terms` is the factor for an output of which nobody knows them.
function M.tolerance_of(task, tolerance, case, compared)
  local t = options.copy(tolerance)
  if case == "integers" and is_exact(task) then
    local right = true
    for _, o in ipairs(compared.slots[1]) do
      right = right and (o.mismatches ~= nil or o.eager.worst == 0 and o.scale < 2 ^ 24)
    end
    if right then
      for _, floor in pairs(t.floors) do floor.worst, floor.nrms = 0, 0 end
    end
  elseif not well_conditioned[case] then
    t.without_terms = t.battery_factor
  end
  return t
end

local function bytes_of(specs)
  local total = 0
  for _, spec in ipairs(specs) do total = total + (spec.bytes or (spec.items and bytes_of(spec.items)) or 0) end
  return total
end

-- ---- relations: what needs no reference (python/cawb_host/judge/compare/relations.py)

local relations = { none = {}, linear = { "linear" }, rows = { "rows" }, all = { "linear", "rows" } }
local says = { linear = "2 f(x) - f(y) is not f(2 x - y)", rows = "with its rows in another order it computes something else" }

-- How well eager PyTorch keeps a relation: { holds, stages, eager = errors by output } or { holds = false,
-- why = }; or nil, message, name. Asked once of a task.
local function relation(task, name)
  task.held = task.held or {}
  if task.held[name] then return task.held[name] end
  local found, message, kind = task:ask { op = "relation", name = name, seed = task.next_seed "relation" }
  if not found and kind == "memory" then found = { holds = false, why = message } end
  if not found then return nil, message, kind end
  for _, e in ipairs(found.eager or {}) do
    if not (e.worst and e.nrms and e.nrms <= 1e-2) then
      found.holds, found.why = false, "PyTorch itself does not keep it"
    end
  end
  task.held[name] = found
  return found
end

-- Each run may be off by as much as one that is compared with a reference; the weights of
-- `linear` add up to 4.
local function relation_tolerance(tolerance)
  local t = options.copy(tolerance)
  for _, floor in pairs(t.floors) do floor.worst, floor.nrms = 4 * floor.worst, 4 * floor.nrms end
  return t
end

local function weigh_relation(task, compared, report, name, seen, tolerance)
  for i, o in ipairs(compared.slots[1]) do o.eager = task.held[name].eager[i] end
  verdict.note_error(seen.error, compared)
  seen.nrms, seen.eager = seen.error.nrms, seen.error.eager.nrms
  local why = verdict.judge(compared, report, relation_tolerance(tolerance))
  return why and ("%s: %s"):format(says[name], why)
end

-- ---- what is tried

--- What a candidate wrote for one kind of inputs, or for a stage of a relation: why it is
--- unacceptable under a tolerance, or nil. What was seen is put into battery[case], of a relation under its name.
function M.weigh(task, compared, report, case, battery, tolerance)
  local name, stage = case:match "^(%a+):(%d+)$"
  if name == "places" then name, case = nil, name end
  local of_each = case:sub(-1) == all
  case = of_each and case:sub(1, -2) or case
  local seen = (case == "places" or of_each) and battery[case] or { error = { eager = {} } }      -- of all of its stages
  battery[name or case] = seen
  if name and tonumber(stage) == task.held[name].stages then
    return weigh_relation(task, compared, report, name, seen, tolerance)
  elseif name then                             -- there is nothing to compare with yet
    local why = verdict.judge(compared, report, tolerance)
    return why and ("on inputs for the relation '%s': %s"):format(name, why)
  end
  seen.lowered = compared.lowered
  local left_out = M.unsuitable(task, compared, case)
  if left_out then
    seen.left_out = not of_each and left_out or nil
    M.unsuited(task, of_each and case .. all or case)
    return nil
  end
  verdict.note_error(seen.error, compared)
  seen.nrms, seen.eager = seen.error.nrms, seen.error.eager.nrms
  local why = verdict.judge(compared, report, M.tolerance_of(task, tolerance, case, compared))
  return why and ("on inputs of the kind '%s': %s"):format(case, why)
end

local wholes = { int64 = true, int32 = true, int16 = true, int8 = true, uint8 = true, bool = true }

local function has_wholes(task)
  for _, o in ipairs(task.outputs) do if o.index or wholes[o.dtype] then return true end end
  return false
end

local function without(list, name)
  local rest = {}
  for _, case in ipairs(list) do if case ~= name then rest[#rest + 1] = case end end
  return rest
end

--- Whether inputs are so large that few kinds are tried.
function M.is_huge(task, verify) return bytes_of(task.inputs) > verify.battery_bytes end

--- What inputs that are denormal numbers say: whether results were flushed to zero. Told, and no failure.
function M.flushes(task, compared, tolerance)
  for _, o in ipairs(compared.slots[1]) do
    if o.mismatches or unsuitable_output(o, "tiny") or not (o.scale and o.scale > 0 and o.scale < least_normal[o.dtype]) then
      return nil
    end
  end
  return verdict.judge(compared, nil, tolerance) ~= nil
end

--- The kinds of inputs to try, few where inputs are large: by the options `verify`, or those `asked` for.
function M.kinds(task, verify, asked)
  local list = asked or verify.battery
  list = (M.is_huge(task, verify) and #list > 0) and verify.huge or list
  return (asked or has_wholes(task)) and list or without(list, "ties")
end

--- The kind of which every second timed input is: what is timed must not be told from what is
--- verified. Nil where a protocol has no kinds, or the task's reference cannot deal with it.
function M.timed(task, verify)
  for _, case in ipairs(verify.battery) do
    if case == "mixed" then return not (task.unsuited and task.unsuited[case]) and case or nil end
  end
end

--- Let it be known that a kind says nothing of a task.
function M.unsuited(task, case)
  task.unsuited = task.unsuited or {}
  task.unsuited[case] = true
end

-- Where a task chooses: the largest and the smallest at every place in turn, as far as that is few draws.
local function add_places(task, verify, steps)
  local stages = math.min(task.places or 0, verify.places)
  if stages == 0 or M.is_huge(task, verify) then return end
  local seed = task.next_seed "run"
  for stage = 1, stages do steps[#steps + 1] = { case = ("places:%d"):format(stage), kind = "places", seed = seed } end
end

--- Whether that is known of a kind (nil: no).
function M.is_unsuited(task, kind) return kind ~= nil and task.unsuited ~= nil and task.unsuited[kind] == true end

--- All that is tried beside the task's own inputs, in order: { { case =, seed = the same for
--- the stages of a relation, kind = of a stage } }. Relations stand in for the kinds that large inputs are spared;
--- why a task has none is put into `battery`. Or nil, message, name.
function M.steps(task, verify, asked, battery)
  local steps = {}
  for _, case in ipairs(M.kinds(task, verify, asked)) do steps[#steps + 1] = { case = case } end
  if #steps > 0 and not asked then add_places(task, verify, steps) end
  if #steps == 0 or not M.is_huge(task, verify) then return steps end
  for _, name in ipairs(relations[verify.relations]) do
    local found, message, kind = relation(task, name)
    if not found then return nil, message, kind end
    if not found.holds then battery[name] = { left_out = found.why } end
    local seed = task.next_seed "run"
    for stage = 1, found.holds and found.stages or 0 do
      steps[#steps + 1] = { case = ("%s:%d"):format(name, stage), seed = seed }
    end
  end
  return steps
end

return M

-- admission: can a task tell right from wrong? Mutants of its reference (zeros, the mean, the
-- input itself, TF32, bf16, a forgotten term, a stale row, another seed's output) are judged
-- like candidates. What a protocol lets pass, a lazy kernel can pass with.

local battery = require "cawb.judge.verify.battery"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local verdict = require "cawb.judge.verify.tolerance"
local options = require "cawb.base.options"
local strategy = require "cawb.base.strategy"

local M = {}

--- The mutants, in the order of a table.
M.mutants = { "zeros", "mean", "identity", "tf32", "bf16", "drop_last", "skip_row", "constant" }

--- The protocols that a task is looked at with: the files configs/tolerance-NAME.lua.
M.protocols = { "strict", "kernelbench", "paper" }

-- The options of a protocol over others.
local function options_of(given, name)
  local all = options.copy(given)
  all.tolerance = options.copy(defaults.tolerance)
  local path = ("%s/configs/tolerance-%s.lua"):format(core.home, name)
  local layer, message = strategy.load_table(path)
  local ok
  if layer then ok, message = options.overlay(all, layer, path) end
  if not ok then return nil, message end
  return all
end

-- Mutants on the task's own inputs (case nil), or on a kind of inputs.
local function ask(task, case)
  return task:ask { op = "mutants", seed = task.next_seed "admission", case = case }
end

local function passes(entries, tolerance)
  return verdict.judge({ slots = { entries } }, nil, tolerance) == nil
end

-- Which mutants pass everywhere under a protocol: on the task's own inputs, and on each kind
-- of inputs that the protocol uses. `seen` holds the replies by case.
local function survivors(task, all, seen)
  local alive = {}
  for name, entries in pairs(seen[1].mutants) do alive[name] = passes(entries, all.tolerance) end
  for _, case in ipairs(all.verify.battery) do
    local reply = seen[case]
    -- A NaN that is missing gives every mutant away, and says nothing of values.
    local usable = reply and case ~= "nan" and case ~= "nonfinite"
      and not battery.unsuitable(task, { slots = { reply.mutants.eager }, unfit = reply.unfit }, case)
    if usable then
      local tolerance = battery.tolerance_of(task, all.tolerance, case, { slots = { reply.mutants.eager } })
      for name, entries in pairs(reply.mutants) do
        alive[name] = alive[name] ~= false and passes(entries, tolerance)
      end
    end
  end
  return alive
end

local function score(alive)
  local killed, total = 0, 0
  for _, name in ipairs(M.mutants) do
    if alive[name] ~= nil then
      total = total + 1
      if not alive[name] then killed = killed + 1 end
    end
  end
  return killed, total
end

-- Why a task is not to be trusted, whatever the protocol.
local function unfit(seen, strict)
  for i, o in ipairs(seen[1].mutants.eager) do
    if (o.odd or 0) > 0 then return ("outputs[%d] of the reference has %d values that are no numbers"):format(i, o.odd) end
    if o.scale and o.scale > 0 and (o.scale < 1e-30 or o.scale > 1e30) then
      return ("outputs[%d] of the reference is out of range: its largest magnitude is %.3g"):format(i, o.scale)
    end
  end
  if strict.eager == false then return "PyTorch's own output does not pass" end
  if seen[1].unfit then return "on its own inputs nothing can be judged: " .. seen[1].unfit end
  for _, name in ipairs { "constant", "zeros", "mean" } do
    if strict[name] then return ("'%s' passes: the output hardly depends on the input"):format(name) end
  end
end

--- Look at a task, with the options `given`: { admitted =, reason =, identity = the task is the identity, protocols = { name
--- = { alive = { mutant = passes }, killed =, mutants =, score = } }, left_out = { mutant = why } },
--- or nil, message, name.
function M.examine(task, given)
  local seen, message, name = {}, nil, nil
  seen[1], message, name = ask(task)
  if not seen[1] then return nil, message, name end
  for _, case in ipairs(battery.kinds(task, given.verify)) do
    seen[case] = ask(task, case)               -- one that the task cannot digest is left out
  end
  local r = { task = task.name, protocols = {}, left_out = seen[1].left_out, notes = task.notes }
  for _, protocol in ipairs(M.protocols) do
    local all
    all, message = options_of(given, protocol)
    if not all then return nil, message, "usage" end
    local alive = survivors(task, all, seen)
    local killed, total = score(alive)
    r.protocols[protocol] = { alive = alive, killed = killed, mutants = total, score = total > 0 and killed / total or 0 }
  end
  -- A copy of its input is right where the input is the answer; calibration times such tasks.
  local alive = r.protocols.strict.alive
  r.identity = (r.left_out.identity or ""):find "PyTorch" ~= nil or alive.identity == true
  r.reason = unfit(seen, alive)
  r.admitted = r.reason == nil
  return r
end

return M

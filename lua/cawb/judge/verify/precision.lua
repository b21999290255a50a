-- precision: in what precision a candidate computes, from what it was built of and from the
-- errors that it makes. The two are independent: an instruction says what could be, an error
-- what was.

local traits = require "cawb.torch.traits"

local M = {}

-- From wide to narrow. `unit` is the roundoff, half a unit in the last place.
local classes = {
  { name = "float64", unit = 1.1e-16 },
  { name = "float32", unit = 6.0e-8 },
  { name = "tf32", unit = 4.9e-4 },
  { name = "fp16", unit = 4.9e-4 },
  { name = "bf16", unit = 3.9e-3 },
  { name = "fp8", unit = 6.25e-2 },
}
local rank = {}
for i, c in ipairs(classes) do rank[c.name] = i end

local of_dtype = { float64 = "float64", float32 = "float32", float16 = "fp16", bfloat16 = "bf16" }

--- The class of a tensor's type, or nil for one that has none.
function M.of_dtype(dtype) return of_dtype[dtype] end

--- Whether class `a` is coarser than `b`; fp16 and tf32 round alike.
function M.coarser(a, b)
  local x, y = classes[rank[a]], classes[rank[b]]
  return x ~= nil and y ~= nil and x.unit > y.unit
end

local library = { float32 = "float32", tf32 = "tf32", bf16 = "bf16", fp16 = "fp16" }

--- What products are computed in, from the census and the plan's steps: { tf32 = true, ... };
--- "packed" stands for pairs of 16-bit numbers outside of tensor cores.
function M.used(census, steps)
  local used = {}
  local total = census and census.total or {}
  for name in pairs(total.tensor or {}) do used[name] = true end
  for name in pairs(total.arithmetic or {}) do
    if name == "f16x2" or name == "bf16x2" or name == "f16" or name == "bf16" then used.packed = true end
  end
  for _, step in ipairs(steps or {}) do
    if step.compute then
      local name = step.compute == "float32" and of_dtype[step.dtype] or library[step.compute]
      if name then used[name] = true end
    end
  end
  return used
end

-- Of errors relative to the root mean square of a sign-mixed result. Factors rounded to
-- `unit` once each make 0.6 to 0.8 units of it; three quarters of a decade around that
-- belongs to the class, and float32 ends where a tenth of tf32's begins.
local function by_error(nrms)
  if not (nrms >= 0) then return nil end
  if nrms <= 1e-12 then return "float64" end
  if nrms < 3e-5 then return "float32" end
  if nrms < 1e-3 then return "tf32" end
  if nrms < 1e-2 then return "bf16" end
  return "fp8"
end

-- What narrower factors do to this very task stands beside it: `scales` holds the errors of
-- its reference with factors in TF32 and in bf16. Nothing where those are not far from
-- float32's own.
local function by_scales(nrms, eager, scales)
  local tf32, bf16 = scales.tf32, scales.bf16
  if not (tf32 and bf16 and eager and nrms and tf32 >= 10 * eager) then return nil end
  -- Tensor cores cut TF32 off: where all is of one sign that adds up to more than bf16's rounding.
  bf16 = math.max(bf16, 4 * tf32)
  if not (nrms >= math.max(tf32 / 8, math.sqrt(3 * eager * tf32))) then return nrms == nrms and "float32" or nil end
  if nrms < math.sqrt(tf32 * bf16) then return "tf32" end
  if nrms < 4 * bf16 then return "bf16" end
  return nrms < 64 * bf16 and "fp8" or nil
end

local function has_products(task)
  for _, op in ipairs(task.graph or {}) do
    if traits.of(op, "products") then return true end
  end
  return false
end

local function bytes_of(specs)
  local total = 0
  for _, spec in ipairs(specs or {}) do total = total + (spec.bytes or bytes_of(spec.items)) end
  return total
end

--- The errors of a task's reference with its products' factors in narrower types, on inputs of
--- a kind (nil: its own): { eager =, tf32 =, bf16 = normalised rms }; empty where it has no
--- products, is too large by the options `verify`, or cannot say. Asked once of a task.
function M.scales(task, case, verify)
  local key = case or "own"
  task.scales = task.scales or {}
  if task.scales[key] then return task.scales[key] end
  local found = {}
  task.scales[key] = found
  if not (task.ask and has_products(task)) or bytes_of(task.inputs) > 8 * verify.battery_bytes then
    return found
  end
  local reply = task:ask { op = "mutants", seed = task.next_seed "precision", case = case,
                           names = { "tf32", "bf16" } }
  for name, entries in pairs(reply and reply.mutants or {}) do
    found[name] = entries[1].nrms
  end
  return found
end

--- What to call an error: its class by the task's own scales, or nil where they say nothing.
function M.named(task, case, nrms, eager, verify)
  return by_scales(nrms, eager, M.scales(task, case, verify))
end

local function narrowest(used)
  local found
  for name in pairs(used) do
    if rank[name] and (not found or rank[name] > rank[found]) then found = name end
  end
  return found
end

--- The precision of a candidate that was verified: { task = its outputs' class, instructions
--- = the narrowest that products are computed in, error = the class of its errors, class =
--- what to call it }. The errors decide; instructions tell fp16 from tf32.
function M.of(task, facts, census, verify)
  local p = { task = of_dtype[task.outputs[1] and task.outputs[1].dtype], used = M.used(census, facts.steps) }
  p.instructions = narrowest(p.used)
  local e = facts.error or {}
  local nrms = facts.battery and facts.battery.mixed and facts.battery.mixed.nrms or e.nrms
  p.nrms = nrms
  local eager = facts.battery and facts.battery.mixed and facts.battery.mixed.eager or (e.eager or {}).nrms
  local case = facts.battery and facts.battery.mixed and "mixed" or nil
  p.error = p.task == "float32" and M.named(task, case, nrms, eager, verify)
  p.scaled = p.error and true or nil
  p.error = p.error or nrms and by_error(nrms)
  -- A sum that cancels is as far off in PyTorch's own precision.
  if nrms and eager and nrms <= 3 * eager and p.task then p.error = p.task end
  p.class = p.error
  -- An output of 16 bits hides what it was computed in behind its own rounding.
  if p.error and p.task and not M.coarser(p.error, p.task) then p.class = p.task end
  -- Errors say that it is coarser than the task asks for; instructions may say more of how.
  local narrow = p.instructions and p.error and not M.coarser(p.error, p.instructions)
  if narrow and M.coarser(p.error, p.task or p.error) then p.class = p.instructions end
  return p
end

return M

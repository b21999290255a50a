-- protocols: other people's measures of right, on the same statistics. Every protocol is data
-- (configs/tolerance-*.lua) and can be applied to trials that were recorded.

local M = {}

local function place(index)
  if type(index) ~= "table" or #index == 0 then return "" end
  return (" at [%s]"):format(table.concat(index, ", "))
end

-- The number that a protocol asks of a type.
local function limit(dtype, tolerance)
  local half = dtype == "float16" or dtype == "bfloat16"
  return half and tolerance.allclose_half or tolerance.allclose
end

local function judge_output(o, label, tolerance)
  if o.mismatches then
    if o.mismatches == 0 then return nil end
    return ("%s: %d of %d elements differ"):format(label, o.mismatches, o.numel)
  end
  local most = limit(o.dtype, tolerance)
  if o.close and o.close <= most then return nil end
  return ("%s%s is not close to the reference: allclose would need a tolerance of %s, it is %g"):format(label,
    place(o.worst and o.worst.index), o.close and ("%.3g"):format(o.close) or "no number", most)
end

--- Why allclose(out, reference, tolerance, tolerance) does not hold for some output, or nil.
--- `slots` are lists of statistics, as task:compare returns them.
function M.allclose(slots, tolerance)
  for _, outputs in ipairs(slots) do
    for i, o in ipairs(outputs) do
      local why = judge_output(o, ("outputs[%d]"):format(i), tolerance)
      if why then return why end
    end
  end
end

return M

-- compile: does it build, and what does it use? The plan is recorded too.

local execute = require "cawb.judge.worker.execute"
local feedback = require "cawb.agent.feedback"

local function kernel_line(k)
  local parts = { ("%s: %s registers"):format(k.name, k.registers or "?") }
  if (k.shared or 0) > 0 then parts[#parts + 1] = ("%d bytes of static shared memory"):format(k.shared) end
  local spilled = (k.spill_stores or 0) + (k.spill_loads or 0)
  parts[#parts + 1] = spilled > 0 and ("%d bytes SPILLED"):format(spilled) or "no spills"
  return table.concat(parts, ", ")
end

-- "softmax: grid 512, block 256"
local function step_line(i, s)
  local parts = {}
  for _, key in ipairs { "kernel", "kind", "grid", "block", "shared", "cluster" } do
    local value = s[key]
    if type(value) == "table" then value = table.concat(value, "x") end
    if value and value ~= 0 and not (key == "kind" and s.kernel) then parts[#parts + 1] = key .. " " .. tostring(value) end
  end
  return ("step %d: %s"):format(i, table.concat(parts, ", "))
end

return {
  description = "Compile kernel.cu and check plan.lua, without running anything.",
  parameters = { { "details", "boolean", "the compiler's whole log", optional = true } },
  run = function(session, arguments)
    local c, why = session:candidate()
    if not c then return why, true end
    local got, message = execute.prepare(session.task, c, session.run.options)
    if not got then return "the machine failed: " .. message, true end
    if not got.ok then
      return feedback.failure(c, got) .. (arguments.details and "\n\n" .. (got.log or "") or ""), true
    end
    local lines = { "OK, it compiles and the plan is accepted." }
    for _, k in ipairs(got.built.kernels) do lines[#lines + 1] = kernel_line(k) end
    for i, s in ipairs(got.steps) do if i <= 20 then lines[#lines + 1] = step_line(i, s) end end
    if arguments.details then lines[#lines + 1] = got.built.log end
    return table.concat(lines, "\n")
  end,
}

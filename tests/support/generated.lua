-- generated: tasks computed by kernels that a generator made, and judged as any candidate is. The
-- words of a plan stand for a kernel's arguments: "inputs[1]", "outputs[1]".
--   local generated = dofile "tests/support/generated.lua" (device)
--   generated.right(task.py as text, { constant = value }, { made, ... })

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local python = require "cawb.base.python"

local host, hello = assert(python.start(cawb.defaults.deadlines.start))   -- one for all tasks

local function list(values)
  local words = {}
  for i, v in ipairs(values) do words[i] = tostring(v) end
  return table.concat(words, ", ")
end

-- An argument as the plan has it; scratch is declared in front, once.
local function word(a, declared, lines)
  if type(a) ~= "table" then return tostring(a) end
  if not declared[a.scratch] then
    declared[a.scratch] = true
    lines[#lines + 1] = ("local %s = scratch{ shape = { %d }, dtype = %q }"):format(a.scratch, a.numel, a.dtype)
  end
  return a.scratch
end

local function plan(all)
  local lines, declared = {}, {}
  for _, made in ipairs(all) do
    for _, l in ipairs(made.launches) do
      local words = {}
      for i, a in ipairs(l.arguments or {}) do words[i] = word(a, declared, lines) end
      lines[#lines + 1] = ("launch(%q, { grid = { %s }, block = { %s }, cluster = { %s }, shared = %d }, %s)"):format(l.kernel,
        list(l.grid), list(l.block), list(l.cluster or { 1 }), l.shared or 0, table.concat(words, ", "))
    end
  end
  return table.concat(lines, "\n")
end

-- A run of kernels on a task, verified. Kinds of inputs beside the task's own: `battery`.
local function verdict(device, text, constants, all, battery)
  local parts = core.home .. "/lua/cawb/compose/emit/parts/"
  local source = { assert(file.read(parts .. "unroll.cuh")), assert(file.read(parts .. "pack.cuh")) }
  for _, made in ipairs(all) do
    for _, need in ipairs(made.needs or {}) do source[#source + 1] = assert(file.read(parts .. need .. ".cuh")) end
    source[#source + 1] = made.text
  end
  local path = check.write(check.folder() .. "/task.py", text)
  local task <close> = assert(cawb.task(path, { device = device, task = constants, host = { host, hello } }))
  local candidate = cawb.candidate { source = table.concat(source, "\n"), plan = plan(all) }
  return assert(cawb.verify(task, candidate, { trials = 1, battery = battery, repeats = 0 }))
end

return function(device)
  return {
    check = check,
    verdict = function(...) return verdict(device, ...) end,
    --- Raises where the kernels are not right on the task.
    right = function(text, constants, all, battery)
      local result = verdict(device, text, constants, all, battery)
      if not result.ok then
        local log = result.log and ("\n" .. result.log) or ""
        error(tostring(result.reason) .. log, 2)
      end
      if result.findings then error(result.findings[1].text or result.findings[1].kind, 2) end
    end,
  }
end

-- The task's own module, given as the candidate with rules off, passes: on some of KernelBench's tasks, of all
-- kinds, at sizes of a few kilobytes. CAWB_OWN=all takes all of them, in half an hour.
-- CAWB_KERNELBENCH names a dev.jsonl; else it is looked for beside the checkout, and without it this says so.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local options = require "cawb.base.options"
local subject = require "cawb.judge.python_candidate"

local place = os.getenv "CAWB_KERNELBENCH" or core.home .. "/../shared/kernelbench/dev.jsonl"
local chosen = { ["1/51"] = "indices", ["1/95"] = "a loss of indices", ["2/17"] = "statistics that forward changes" }
local device <close> = assert(cawb.device "cpu")
local folder = check.folder()

-- Sizes that were made to fit, as the candidate's own file has to have them.
local function sizes(overrides)
  local lines = {}
  for name, value in pairs(overrides) do
    local text = type(value) == "table" and ("(%s,)"):format(table.concat(value, ", ")) or tostring(value)
    lines[#lines + 1] = ("%s = %s\n"):format(name, text)
  end
  return table.concat(lines)
end

-- Whether the task's own module passes; nil, why, where the task is not admitted.
local function passes(entry)
  local path = check.write(("%s/l%d_%d.py"):format(folder, entry.level, entry.problem_id), entry.code)
  local all = options.copy(cawb.defaults)
  all.rules, all.scale.mode, all.scale.memory, all.scale.operations = "off", "fit", 1 << 18, 1 << 22
  local task <close>, message = cawb.task(path, { device = device, options = all })
  if not task then return nil, message end
  local own = assert(subject.new(task, cawb.candidate { python = entry.code .. "\nModelNew = Model\n" .. sizes(task.overrides) },
    all, { against = {} }))
  local result = assert(own:open {})
  if result.ok then result = assert(own:verify { trials = 1 }) end
  own:close()
  return result.ok, result.reason
end

if core.fs.kind(place) ~= "file" then
  print("no KernelBench tasks at " .. place)
else
  for line in io.lines(place) do
    local entry = core.json.decode(line)
    local id = ("%d/%d"):format(entry.level, entry.problem_id)
    if chosen[id] or os.getenv "CAWB_OWN" == "all" then
      check.test(("%s %s: its own module passes%s"):format(id, entry.name, chosen[id] and ", with " .. chosen[id] or ""), function()
        local ok, why = passes(entry)
        assert(ok ~= false, why)
        if ok == nil then print("     not admitted: " .. why) end
        assert(ok or not chosen[id], why)
      end)
    end
  end
end

return check.done()

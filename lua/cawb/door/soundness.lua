-- soundness: does the judge work on this machine? Three kernels whose verdicts are known, judged as any other: a right one,
-- one with a mistake, and one that cheats.

local cawb = require "cawb"
local core = require "cawb.core"
local answer = require "cawb.door.answer"
local file = require "cawb.base.file"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"

local M = {}

local need = needed.need

-- Each is the right kernel with one text replaced by another; a wrong kernel may fail at these stages only.
local cases = {
  { name = "right", about = "softmax", stages = {} },
  { name = "wrong", about = "softmax without its maximum, which overflows for large inputs", stages = { verify = true },
    from = "top = warp_max(tops[lane % WARPS], WARPS);", to = "top = 0;" },
  { name = "cheating", about = "softmax that reads the clock to learn whether it is timed", stages = { compiled = true },
    from = "if (lane == 0) tops[warp] = top;", to = "if (lane == 0) tops[warp] = clock64() == 77 ? 0 : top;" },
}

local function candidate(case)
  local path = core.home .. "/kernels/softmax/v3_shuffle"
  local source, plan = need(file.read(path .. ".cu")), need(file.read(path .. ".lua"))
  if case.from then
    local at, last = source:find(case.from, 1, true)
    source = source:sub(1, at - 1) .. case.to .. source:sub(last + 1)
  end
  return cawb.candidate { source = source, plan = plan, name = case.name, tunables = { block = 256 } }
end

local function judged(task, case, all)
  local facts = need(cawb.judge(task, candidate(case), { options = all, once = true }))
  local as_known = facts.ok and not next(case.stages) or not facts.ok and case.stages[facts.stage] or false
  return { name = case.name, about = case.about, sound = as_known, ok = facts.ok, stage = facts.stage,
           says = facts.ok and answer.sentence_of(facts) or (facts.reason:gsub("\n.*", "")) }
end

--- Judge the three on an open device, and tell each to `each`: { name =, about =, sound = the verdict is as it has to be, ok =,
--- stage =, says = in words }. Returns whether all are sound; or nil, message, name.
function M.try(device, each)
  return needed.caught(function()
    local all, sound = options.copy(cawb.defaults), true
    all.verify.trials, all.rules, all.measure.against = 1, "strict", { "eager" }   -- torch.compile would take most of the time
    local task <close> = need(cawb.task(core.home .. "/examples/softmax.py", { device = device, options = all, task = { rows = 32, cols = 512 } }))
    for _, case in ipairs(cases) do
      local one = judged(task, case, all)
      sound = sound and one.sound
      each(one)
    end
    return sound
  end)
end

return M

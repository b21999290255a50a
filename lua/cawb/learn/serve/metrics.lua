-- metrics: what an operator watches, in the text form that Prometheus reads.

local activity = require "cawb.base.activity"
local core = require "cawb.core"

local M = {}

local Metrics = {}
Metrics.__index = Metrics

local bounds = { 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 }         -- seconds of an evaluation

--- Count one more of a name, with labels as '{a="b"}'.
function Metrics:add(name, labels)
  local key = name .. (labels or "")
  self.counts[key] = (self.counts[key] or 0) + 1
end

--- A finished turn.
function Metrics:evaluated(turn)
  self:add("candidates", ('{verdict="%s"}'):format(turn.ok and "pass" or turn.stage or "none"))
  local seconds = 0
  for _, s in pairs(turn.seconds or {}) do seconds = seconds + s end
  self.seconds, self.evaluations = self.seconds + seconds, self.evaluations + 1
  for i, bound in ipairs(bounds) do
    if seconds <= bound then self.buckets[i] = self.buckets[i] + 1 end
  end
end

local help = { candidates = "candidates evaluated, by verdict or by the stage that they failed at",
               memo_hits = "candidates answered from the record", requests = "requests by route and status",
               sessions_opened = "sessions begun", sessions_refused = "sessions refused: there were too many" }

local function counters(self, lines)
  local names, by_name = {}, {}
  for key, count in pairs(self.counts) do
    local name, labels = key:match "^([%l_]+)(.*)$"
    if not by_name[name] then
      by_name[name], names[#names + 1] = {}, name
    end
    table.insert(by_name[name], ("cawb_%s_total%s %d"):format(name, labels, count))
  end
  table.sort(names)
  for _, name in ipairs(names) do
    table.sort(by_name[name])
    lines[#lines + 1] = ("# HELP cawb_%s_total %s"):format(name, help[name])
    lines[#lines + 1] = ("# TYPE cawb_%s_total counter"):format(name)
    table.move(by_name[name], 1, #by_name[name], #lines + 1, lines)
  end
end

local function histogram(self, lines)
  lines[#lines + 1] = "# HELP cawb_evaluation_seconds how long an evaluation kept its place"
  lines[#lines + 1] = "# TYPE cawb_evaluation_seconds histogram"
  for i, bound in ipairs(bounds) do
    lines[#lines + 1] = ('cawb_evaluation_seconds_bucket{le="%g"} %d'):format(bound, self.buckets[i])
  end
  lines[#lines + 1] = ('cawb_evaluation_seconds_bucket{le="+Inf"} %d'):format(self.evaluations)
  lines[#lines + 1] = ("cawb_evaluation_seconds_sum %.6f"):format(self.seconds)
  lines[#lines + 1] = ("cawb_evaluation_seconds_count %d"):format(self.evaluations)
end

-- Where an evaluation's time goes: what its processes were asked for.
local function asked(lines)
  local list = activity.asked()
  local function column(name, about, format, key)
    lines[#lines + 1] = ("# HELP cawb_%s_total %s"):format(name, about)
    lines[#lines + 1] = ("# TYPE cawb_%s_total counter"):format(name)
    for _, one in ipairs(list) do
      lines[#lines + 1] = ('cawb_%s_total{process="%s",op="%s"} ' .. format):format(name, one.process, one.op, one[key])
    end
  end
  column("asked", "requests to the processes that evaluate", "%d", "count")
  column("asked_seconds", "how long these took, waiting included", "%.6f", "seconds")
end

--- All of it as text. `gauges` = { { name, what it is, value }, ... } of what is so now.
function Metrics:text(gauges)
  local lines = {}
  for _, g in ipairs(gauges) do
    lines[#lines + 1] = ("# HELP cawb_%s %s"):format(g[1], g[2])
    lines[#lines + 1] = ("# TYPE cawb_%s gauge"):format(g[1])
    lines[#lines + 1] = ("cawb_%s %.14g"):format(g[1], g[3])
  end
  counters(self, lines)
  histogram(self, lines)
  asked(lines)
  return table.concat(lines, "\n") .. "\n"
end

function M.new()
  local buckets = {}
  for i = 1, #bounds do buckets[i] = 0 end
  return setmetatable({ counts = {}, buckets = buckets, seconds = 0.0, evaluations = 0, since = core.clock.now() }, Metrics)
end

return M

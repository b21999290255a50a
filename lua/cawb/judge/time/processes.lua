-- processes: what the times of several processes of each of those who were timed beside each other say. A process has a speed of
-- its own, which its calls alone would take for that of what it runs. `seen` is the seconds of every pass, by a process's
-- name: that of whose it is, or with " process N" behind it.

local stats = require "cawb.base.stats"

local M = {}

--- What processes of the candidate are called.
M.candidate = "candidate"

--- Whose process a name is of.
function M.owner(name) return name:match "^(.-) process %d+$" or name end

--- How many processes of each there are to be: a process has a speed of its own, so that what one of
--- each says holds for these two only. Fewer where what they hold would be much.
function M.count(task, measure)
  local each, most = 0, measure.processes
  for _, list in ipairs { task.inputs, task.outputs, task.params } do
    for _, spec in ipairs(list) do each = each + (spec.bytes or 0) end
  end
  return math.max(math.min(most, 2), math.min(most, measure.process_bytes // math.max(1, each)))
end

--- A process and `more` of the same, or of these those that were drawn; nobody's are none.
function M.taken(first)
  return first and (first.drawn or { first, table.unpack(first.more or {}) }) or {}
end

--- Of a process and more of the same so many are taken from here on; `number` draws a whole number.
function M.draw(first, count, number)
  local all = { first, table.unpack(first.more) }
  count = math.min(#all, count)
  for i = 1, count do
    local j = i + number() % (#all - i + 1)
    all[i], all[j] = all[j], all[i]
  end
  first.drawn = table.move(all, 1, count, 1, {})
end

-- What was usual in each pass: the median of everyone.
local function usual_of(seen)
  local usual, passes = {}, math.huge
  for _, times in pairs(seen) do passes = math.min(passes, #times) end
  for pass = 1, passes < math.huge and passes or 0 do
    local all = {}
    for _, times in pairs(seen) do all[#all + 1] = times[pass] end
    usual[pass] = stats.quantile(all, 0.5)
  end
  return usual
end

-- The times of all processes by whose they are, each beside what was usual in its pass: what made everyone slow for a while
-- says nothing of a process.
local function beside_each_other(seen)
  local groups, usual = {}, usual_of(seen)
  for process, times in pairs(seen) do
    local list, who = {}, M.owner(process)
    for pass, one in ipairs(usual) do list[pass] = times[pass] / one end
    groups[who] = groups[who] or {}
    table.insert(groups[who], list)
  end
  return groups
end

-- What processes say of a rival. It is asked at every look, and the answers of looks are much alike: half of the error for each
-- keeps all of them within it. Nil where a group was not seen.
local function between(groups, who, how)
  local others = {}
  for other, group in pairs(groups) do
    if other ~= who and other ~= M.candidate then others[#others + 1] = group end
  end
  local mine, theirs = groups[M.candidate], groups[who]
  return mine and theirs and #mine[1] > 0 and stats.between(theirs, mine, how.error_rate / 2, others) or nil
end

--- An interval holds for other processes, too: those of `result.speedup` take the far ends of what rounds say and of what
--- processes say. Where nothing is known of how these differ (`measure.processes` 1) there is no interval: lo is 0, hi is absent.
function M.widen(seen, result, how)
  local groups = beside_each_other(seen)
  for who, s in pairs(result.speedup) do
    local b = between(groups, who, how)
    s.processes = b and b.processes or 0
    if b and b.hi < math.huge then s.lo, s.hi = math.min(s.lo, b.lo), s.hi and math.max(s.hi, b.hi)
    else
      s.lo, s.hi = 0, nil
    end
    s.verdict = s.hi and stats.verdict(s, how.same) or "undecided"
  end
end

--- Whether further passes are not needed to know how processes differ: they have decided, or the interval is half as wide as it
--- need be or as narrow as the clock allows at the candidate's `time`, or one process of each is all there is.
function M.sure(seen, who, how, time)
  local b = between(beside_each_other(seen), who, how)
  if not b or b.hi == math.huge or stats.verdict(b, how.same) ~= "undecided" then return true end
  return b.hi - b.lo <= math.max(how.precision, 2 * how.resolution / time) * b.median
end

return M

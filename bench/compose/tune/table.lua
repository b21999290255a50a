-- The table of bench/compose/tune.lua's books: for numbers of measurements the geometric mean, over tasks, of the time of compose's own
-- schedule over the best so far, and how many times shorter the search's best is than that of drawing, with its 95% interval
-- (a bootstrap over tasks; a task's draws are averaged first, as logarithms). Tasks that leave no choice are counted and
-- told apart: where so few schedules differ that each way has measured all of them, nobody can be ahead.

local core = require "cawb.core"
local display = require "cawb.display"
local report = require "cawb.suite.report"

local MARKS = { 1, 2, 4, 8, 12, 16, 24, 32, 48 }

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- Logarithm of the best time after n measurements; a list that ended stays where it is.
local function best(asked, n)
  local least = math.huge
  for k = 1, math.min(n, #asked) do least = math.min(least, asked[k][2] or math.huge) end
  return math.log(least)
end

-- The same of the search, which also knows a plan all of whose kernels were timed in other plans.
local function found(line, n) return math.log(line.curve[math.min(n, #line.curve)]) end

local function drawn(lists, n)
  local all = {}
  for k, asked in ipairs(lists) do all[k] = best(asked, n) end
  return mean(all)
end

local function texts(value)
  if not value.lo then return ("%.3fx"):format(math.exp(value.value)) end
  return ("%.3fx [%.3f, %.3f]"):format(math.exp(value.value), math.exp(value.lo), math.exp(value.hi))
end

local function over(lines, f)
  local list = {}
  for k, line in ipairs(lines) do list[k] = f(line) end
  return list
end

local function read(paths)
  local lines, unfit, seen = {}, {}, {}
  for _, path in ipairs(paths) do
    for text in assert(io.lines(path)) do
      local line = core.json.decode(text)
      if line and not seen[line.task] then
        local list = line.unfit and unfit or lines
        list[#list + 1], seen[line.task] = line, true
      end
    end
  end
  table.sort(lines, function(a, b) return a.task < b.task end)
  return lines, unfit
end

local function most_asked(lines)
  local most = 0
  for _, line in ipairs(lines) do
    most = math.max(most, #line.search)
    for _, asked in ipairs(line.random) do most = math.max(most, #asked) end
  end
  return most
end

-- Whether some way found anything better than compose's own by 1%.
local function has_gain(line)
  local least = found(line, #line.curve)
  for _, name in ipairs { "random", "uniform" } do
    for _, asked in ipairs(line[name]) do least = math.min(least, best(asked, #asked)) end
  end
  return least < found(line, 1) - 0.01
end

-- Of books with fewer measurements a task is in no row beyond them.
local function asked_for(lines, n)
  local list = {}
  for _, line in ipairs(lines) do if (line.measurements or n) >= n then list[#list + 1] = line end end
  return list
end

local function row(all, n)
  local lines = asked_for(all, n)
  local first = function(line) return found(line, 1) end
  local cells = { tostring(n), texts { value = mean(over(lines, function(l) return first(l) - found(l, n) end)) } }
  for _, name in ipairs { "random", "uniform" } do
    cells[#cells + 1] = texts { value = mean(over(lines, function(l) return first(l) - drawn(l[name], n) end)) }
    cells[#cells + 1] = texts(report.bootstrap(over(lines, function(l) return drawn(l[name], n) - found(l, n) end), mean))
  end
  local ahead, behind = 0, 0
  for _, l in ipairs(lines) do
    local d = drawn(l.random, n) - found(l, n)
    ahead, behind = ahead + (d > 0.005 and 1 or 0), behind + (d < -0.005 and 1 or 0)
  end
  cells[#cells + 1], cells[#cells + 2], cells[#cells + 3] = tostring(ahead), tostring(behind), tostring(#lines)
  return cells
end

local function show(title, lines)
  print(("\n%s: %d tasks"):format(title, #lines))
  if #lines < 2 then return end
  local rows, most = {}, most_asked(lines)
  for _, n in ipairs(MARKS) do
    if n <= most then rows[#rows + 1] = row(lines, n) end
  end
  for _, text in ipairs(display.table({ "measurements", "search", "random", "search over random", "uniform", "search over uniform",
    "ahead of random", "behind", "tasks" }, rows)) do print(text) end
end

local function counted(unfit)
  local counts = {}
  for _, line in ipairs(unfit) do counts[line.unfit] = (counts[line.unfit] or 0) + 1 end
  return counts
end

return function(paths)
  local lines, unfit = read(paths)
  assert(#lines > 0, "the books have no task")
  local gains, draws = {}, 0
  for _, line in ipairs(lines) do
    draws = math.max(draws, #line.random)
    if has_gain(line) then gains[#gains + 1] = line end
  end
  print(("cawb %s, %s%s, %s, %d tasks, %d draws each"):format(lines[1].version, lines[1].device, lines[1].modelled and ", modelled" or "",
    lines[1].when, #lines, draws))
  for why, count in pairs(counted(unfit)) do print(("%d more tasks were not searched: %s"):format(count, why)) end
  show("all", lines)
  show("those where some way found 1% or more", gains)
end

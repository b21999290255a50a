-- sizes: does a candidate hold for sizes next to the task's own? One more, one less, a prime
-- and 1 for each constant that a task declares: what was only ever run on multiples of 128
-- fails there. To refuse a shape is honest, to be wrong on it is not.

local options = require "cawb.base.options"
local python = require "cawb.base.python"
local tasks = require "cawb.judge.task.task"
local verify = require "cawb.judge.verify.verify"

local M = {}

local function is_prime(n)
  for d = 2, math.floor(n ^ 0.5) do
    if n % d == 0 then return false end
  end
  return n > 1
end

local function prime_above(n)
  repeat n = n + 1 until is_prime(n)
  return n
end

-- Values to put in place of one constant.
local function beside(value)
  local list, seen = {}, { [value] = true }
  for _, v in ipairs { value + 1, value - 1, prime_above(value + value // 16), 1 } do
    if v >= 1 and not seen[v] then
      seen[v] = true
      list[#list + 1] = v
    end
  end
  return list
end

--- The shapes to try, from a task's constants: { { name = value }, ... }, one constant changed
--- in each.
function M.shapes(constants)
  local names, list = {}, {}
  for name, value in pairs(constants) do
    local whole = type(value) == "number" and math.tointeger(value)
    if whole and whole > 1 then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    for _, value in ipairs(beside(math.tointeger(constants[name]))) do list[#list + 1] = { [name] = value } end
  end
  return list
end

local refusals = { plan = true, compile = true }

-- What one shape says: "right", "wrong", "refused" (by the candidate), or "none" (no such task).
local function try(path, candidate, opts, shape)
  local all = options.copy(opts.options)
  for name, value in pairs(shape) do all.task[name] = value end
  local task <close>, message, name = tasks.open(path, { device = opts.device, options = all, host = opts.host })
  if not task and name == "task" then return { shape = shape, outcome = "none", reason = message } end
  if not task then return nil, message, name end
  local r
  r, message, name = verify.verify(task, candidate, all, { trials = 1 })
  if not r then return nil, message, name end
  local outcome = r.ok and "right" or refusals[r.stage] and "refused" or "wrong"
  return { shape = shape, outcome = outcome, stage = r.stage, reason = r.reason }
end

--- What one shape says of a candidate; `opts` as of look(). { shape, outcome = "right"|"wrong"|"refused" (by
--- the candidate)|"none" (no such task), stage, reason }, or nil, message, name.
function M.try(path, candidate, opts, shape) return try(path, candidate, opts, shape) end

-- Some of the shapes, drawn.
local function drawn(list, count, draw)
  for i = 1, math.min(count, #list) do
    local j = i + draw() % (#list - i + 1)
    list[i], list[j] = list[j], list[i]
  end
  return table.move(list, 1, math.min(count, #list), 1, {})
end

-- The task's whole numbers as they are, so that only one of them changes.
local function as_it_is(options_of_run, constants)
  local all = options.copy(options_of_run)
  for name, value in pairs(constants) do
    if math.tointeger(value) and value > 1 then all.task[name] = math.tointeger(value) end
  end
  all.verify.places, all.verify.battery = 4, { "mixed", "edges" }
  return all
end

--- Verify a candidate on `options.verify.sizes` shapes beside the task's, drawn, in a task host of its own. Returns
--- { right =, refused =, wrong = counts, fitted = is it wrong somewhere and right nowhere, first = { shape, reason } of one
--- that is wrong }, or nil, message, name.
function M.look(task, candidate, options_of_run)
  local process, hello, kind = python.start(options_of_run.deadlines.start)
  if not process then return nil, hello, kind end
  local opts = { device = task.device, options = as_it_is(options_of_run, task.info.constants), host = { process, hello } }
  local found = { right = 0, refused = 0, wrong = 0 }
  for _, shape in ipairs(drawn(M.shapes(task.info.constants), options_of_run.verify.sizes, function() return task.next_seed "sizes" end)) do
    local one, message, name = try(task.path, candidate, opts, shape)
    if not one then
      process:close()
      return nil, message, name
    end
    found[one.outcome] = (found[one.outcome] or 0) + 1
    if one.outcome == "wrong" then found.first = found.first or { shape = shape, reason = one.reason } end
  end
  process:close()
  found.none, found.fitted = nil, found.wrong > 0 and found.right == 0
  return found
end

return M

-- shapes: does a candidate hold for sizes next to the task's own? One more, one less, a prime
-- and 1 for each constant that a task declares: what was only ever run on multiples of 128
-- fails there. To refuse a shape is honest, to be wrong on it is not.

local options = require "cawb.base.options"
local tasks = require "cawb.task.task"
local verify = require "cawb.judge.verify"

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

--- Verify a candidate on the shapes beside a task's own. `opts` = { device =, options = a full
--- table, constants = of the task (task.info.constants), host = of python.start, say =
--- function(found) }. Returns a list of { shape, outcome = "right"|"wrong"|"refused"|"none",
--- reason }, or nil, message, name.
function M.check(path, candidate, opts)
  local list = {}
  for i, shape in ipairs(M.shapes(opts.constants)) do
    local found, message, name = try(path, candidate, opts, shape)
    if not found then return nil, message, name end
    list[i] = found
    if opts.say then opts.say(found) end
  end
  return list
end

return M

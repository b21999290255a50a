-- Every operator that compose claims, in every way that tests/compose/operators.lua writes it, each alone, on drawn
-- shapes: composed, executed on a simulated H100 and judged against float64, on NaN and infinities too.
--   cawb bench/compose/compose_operators.lua [SHAPES of each form and type (30)] [PATTERN of groups] [FIRST seed (1)]
-- A line for each failure; at the end what was claimed and never met.

local core = require "cawb.core"

local composed = dofile "tests/support/composed.lua"
local operators = dofile "tests/compose/operators.lua"

local count, pattern, first = ...
count, first = math.tointeger(tonumber(count or 30)), math.tointeger(tonumber(first or 1))

local kinds = { "mixed", "integers", "edges", "zeros", "offset", "nan", "nonfinite", "ties" }
local met, done, failed = {}, 0, 0

local function note(made)
  for _, node in ipairs(made.graph.nodes) do
    if node.from then met[node.from.name] = true end
  end
end

-- What PyTorch itself cannot do in this type or shape is no failure of compose.
local function try(task)
  local ok, made = pcall(composed.right, task.forward, task.inputs, task.setup, nil, kinds)
  if ok then note(made) end
  return ok or tostring(made):find "task.py:%d+: %a*Error" ~= nil or tostring(made):find "not implemented for" ~= nil, made
end

local broken = {}

local function each(group, number, form, dtype, seed)
  local key = group.name .. number .. dtype
  if broken[key] or core.clock.asked() then return end
  local task = operators.draw(group, { form }, operators.random(seed * 1000 + number), dtype)
  local ok, why = try(task)
  if core.clock.asked() then return end
  done = done + 1
  if ok then return end
  failed, broken[key] = failed + 1, true
  print(("%s, %s: %s\n  %s\n  of %s\n  %s"):format(group.name, dtype, form, task.forward, task.inputs, tostring(why):sub(1, 700)))
end

for seed = first, first + count - 1 do
  for k = 1, #operators.groups do                          -- another one first with each seed
    local group = operators.groups[(k * 7 + seed * 5) % #operators.groups + 1]
    for number, form in ipairs(group.name:find(pattern or ".") and group.forms or {}) do
      for _, dtype in ipairs(group.dtypes) do each(group, number, form, dtype, seed) end
    end
  end
  if core.clock.asked() then break end
  print(("-- seed %d: %d tasks, %d failed"):format(seed, done, failed))
  io.stdout:flush()
end
print(("%d tasks, %d failed"):format(done, failed))

local missing = {}
for name in pairs(require("cawb.compose.operators.operators").table) do
  if not met[name] then missing[#missing + 1] = name end
end
table.sort(missing)
print("of the table, not met here: " .. table.concat(missing, " "))

-- The annotations in lua/meta/cawb.lua and the module, held against each other.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"

local meta = assert(io.open "lua/meta/cawb.lua"):read "a"

-- The class behind each name, without opening anything: the modules keep theirs local.
local function methods_of(path)
  local found = {}
  for name in assert(io.open(path)):read "a":gmatch "\nfunction %u%a+:([%w_]+)%(" do
    if name:sub(1, 2) ~= "__" then found[name] = true end
  end
  return found
end

local function annotated(class)
  local found = {}
  for name in meta:gmatch("\nfunction " .. class .. "[.:]([%w_]+)%(") do found[name] = true end
  return found
end

local function same(real, documented, what)
  for name in pairs(real) do
    assert(documented[name], what .. "." .. name .. " is not in lua/meta/cawb.lua")
  end
  for name in pairs(documented) do
    assert(real[name], what .. "." .. name .. " is annotated and does not exist")
  end
end

check.test("every function of the module is annotated, and the other way round", function()
  local real = {}
  for name, value in pairs(cawb) do if type(value) == "function" then real[name] = true end end
  same(real, annotated "cawb", "cawb")
end)

check.test("every field of the module is annotated", function()
  for name, value in pairs(cawb) do
    if type(value) ~= "function" then
      assert(meta:find("%-%-%-@field " .. name .. " "), "cawb." .. name .. " is not annotated")
    end
  end
end)

for class, path in pairs { Device = "lua/cawb/gpu/device.lua", Task = "lua/cawb/judge/task/task.lua",
                           Candidate = "lua/cawb/judge/task/candidate.lua", Run = "lua/cawb/run/run.lua" } do
  check.test("the methods of " .. class .. " are annotated, and the other way round", function()
    same(methods_of(path), annotated(class), class)
  end)
end

check.test("every annotated function names its parameters", function()
  local found, doc = 0, ""
  for line in meta:gmatch "[^\n]+" do
    local params = line:match "^function [%w.:_]+%(([^)]*)%)"
    for name in params and params:gmatch "[%w_]+" or function() end do
      found = found + 1
      assert(doc:find("@param " .. name .. "[? ]"), line .. ": " .. name .. " is not annotated")
    end
    doc = line:match "^%-%-%-" and doc .. line .. "\n" or ""
  end
  assert(found > 20, found .. " parameters were looked at")
end)

return check.done()

-- The annotations in lua/meta/cawb.lua and the module, held against each other.

local check = dofile "tests/lua/check.lua"
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

for class, path in pairs { Device = "lua/cawb/device.lua", Task = "lua/cawb/task.lua",
                           Candidate = "lua/cawb/candidate.lua" } do
  check.test("the methods of " .. class .. " are annotated, and the other way round", function()
    same(methods_of(path), annotated(class), class)
  end)
end

check.test("every annotated parameter list names the parameters of its function", function()
  for doc, params in meta:gmatch "((?:%-%-%-[^\n]*\n)+)function [%w.:]+%(([^)]*)%)" do
    for name in params:gmatch "[%w_]+" do assert(doc:find("@param " .. name)) end
  end
end)

return check.done()

-- One owner for each fact that several files need: searches over the sources for a second one. Names of
-- operators have a test of their own, tests/torch/test_operators.py.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local function walk(dir, pattern, list)
  list = list or {}
  for _, name in ipairs(assert(core.fs.list(dir))) do
    local path = dir .. "/" .. name
    if core.fs.kind(path) == "folder" then
      if name ~= "__pycache__" and name ~= "results" then walk(path, pattern, list) end
    elseif name:match(pattern) then list[#list + 1] = path end
  end
  return list
end

local function read(path)
  local f = assert(io.open(path))
  local text = f:read "a"
  f:close()
  return text
end

-- Lua and Python without comments.
local function code_of(text) return (text:gsub("%-%-[^\n]*", ""):gsub("#[^\n]*", "")) end

-- "PATH: TEXT" of every match of a pattern in the code of these folders, but for the files in `owners`.
local function found(folders, pattern, owners)
  local list = {}
  for _, folder in ipairs(folders) do
    for _, path in ipairs(walk(folder, "%.lua$", walk(folder, "%.py$"))) do
      for words in code_of(read(path)):gmatch(pattern) do
        if not owners[path] then list[#list + 1] = path .. ": " .. words end
      end
    end
  end
  return table.concat(list, "\n")
end

local opinions = { "configs", "lua", "strategies", "python", "bench" }

check.test("the margin from which a speed-up counts", function()
  local margin = require "cawb.base.stats".margin
  check.equal(tonumber(read "python/cawb_learn/lm/knobs.py":match "\nMARGIN = ([%d.]+)"), margin)
  local others = { ["lua/commands/promote.lua"] = "its usage says it", ["lua/cawb/compose/emit/tensor/box.lua"] = "work of blocks" }
  check.equal(found(opinions, "%f[%w.]" .. tostring(1 + margin):gsub("%.", "%%.") .. "%f[^%w.]", others), "")
  check.equal(found(opinions, "%w*[mM][aA][rR][gG][iI][nN] = [%d.]+",
    { ["lua/cawb/base/stats.lua"] = true, ["python/cawb_learn/lm/knobs.py"] = true }), "")
  local reward = require "cawb.run.rewards".get "tiers-paper"
  local function of(median) return { ok = true, speedup = { eager = { median = median, lo = 1.01 } } } end
  check.equal(reward(of(1 + margin)), 2)
  check.equal(reward(of(1 + 0.99 * margin)), 1)
end)

check.test("shared memory and multiprocessors of a chip", function()
  local chips = require "cawb.gpu.chip"
  for _, path in ipairs(walk("lua/cawb/gpu/devices", "%.lua$")) do
    local figures, chip = dofile(path), chips.named(path)
    for key, value in pairs(figures) do check.equal(chip[key], value, path) end
  end
  check.equal(found({ "lua/cawb/compose", "strategies" }, "%f[%w.]132%f[^%w.][^0-9]", { ["lua/cawb/compose/ir/operations.lua"] = "digamma" }), "")
  check.equal(found({ "lua/cawb/compose" }, "%[[789]%d%] = ", {}), "")
  check.equal(found({ "lua/cawb/compose" }, "%d%d+ << 10", {}), "")
  check.equal(found({ "lua/cawb/compose" }, "sm_%d", { ["lua/cawb/compose/candidate.lua"] = "an example", ["lua/cawb/compose/cost/rates.lua"] = "a message" }), "")
end)

check.test("conversions of 16-bit floats on the simulated device", function()
  local list = {}
  for _, path in ipairs(walk("core/sim", "%.[ch]$")) do
    for name in read(path):gmatch "static[^;{]*%f[%w_]([%w_]*half[%w_]*%([uf][%w_]+ [^)]*%)) {" do list[#list + 1] = path .. ": " .. name end
  end
  table.sort(list)
  check.equal(table.concat(list, "\n"), "core/sim/isa/body_packed.h: small_half(float x, const sim_insn *in)\n"
    .. "core/sim/isa/half.h: float_to_half(float x, int mode)\ncore/sim/isa/half.h: half_to_float(uint32_t h)")
end)

local function options_of(rule) return dofile("lua/cawb/judge/rules/" .. rule .. ".lua").options end

check.test("what a task may forbid", function()
  local known, work, own = { "library" }, options_of "python/python_work", options_of "task_forbids"
  for _, class in ipairs(work.classes) do known[#known + 1] = class[1] end
  for group in pairs(own.groups) do known[#known + 1] = group end
  local told = {}
  for word in read "python/cawb_host/judge/task/forbidden.py":match "\nKINDS = %((.-)%)":gmatch '"(.-)"' do told[#told + 1] = word end
  table.sort(known)
  table.sort(told)
  check.equal(table.concat(told, ", "), table.concat(known, ", "))
  for _, name in ipairs { "classes", "spaces", "libraries" } do
    assert(next(work[name]) and not next(own[name]), name .. ": task_forbids has what python_work owns")
  end
end)

return check.done()

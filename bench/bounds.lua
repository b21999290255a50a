-- bench/bounds: would theory's bound for sums of products (bounds.py) see mistakes that the
-- judge's rules pass? Products with one mistake each, under the strict tolerance and under two
-- bounds of each element's error: for any order of a sum (Higham), and for most (4 sqrt(k) u).
--   cawb bench/bounds.lua -- [COUNT of products for each k and kind of inputs] [SEED]
-- Prints what each rejects, by mistake, honest products beside them, and JSON last. One set of
-- inputs each: judge/verify.lua has several kinds for every kernel.

local cawb = require "cawb"
local core = require "cawb.core"
local judge = require "cawb.judge.verdict"
local python = require "cawb.base.python"
local display = require "cawb.base.display"

local count, seed = tonumber(arg[1] or 20), tonumber(arg[2] or 1)
local folder = arg[0]:match "^(.*)/" or "."
local command = ("'%s' -W ignore '%s/bounds.py' '%s' %d %d"):format(python.path(), folder, core.home .. "/python", count, seed)

local order, tally = {}, {}
local function row_of(line)
  local key = ("%s, %s, k = %d"):format(line.name, line.inputs, line.k)
  if not tally[key] then
    order[#order + 1] = key
    tally[key] = { name = key, wrong = line.wrong, made = 0, rules = 0, bound = 0, probable = 0, only_bound = 0,
                   only_probable = 0, largest = 0 }
  end
  return tally[key]
end

local pipe <close> = assert(io.popen(command))
for text in pipe:lines() do
  local line = assert(core.json.decode(text))
  local t = row_of(line)
  local rejected = judge.judge({ slots = { { line.entry } } }, nil, cawb.defaults.tolerance) ~= nil
  t.made, t.largest = t.made + 1, math.max(t.largest, line.bound)
  if rejected then t.rules = t.rules + 1 end
  for _, name in ipairs { "bound", "probable" } do
    if not (line[name] <= 1) then
      t[name] = t[name] + 1
      if not rejected then t["only_" .. name] = t["only_" .. name] + 1 end
    end
  end
end

local rows, all = {}, { [true] = { made = 0 }, [false] = { made = 0 } }
for _, key in ipairs(order) do
  local t, sum = tally[key], all[tally[key].wrong]
  for name, n in pairs(t) do if type(n) == "number" and name ~= "largest" then sum[name] = (sum[name] or 0) + n end end
  sum.largest = math.max(sum.largest or 0, t.largest)
  rows[#rows + 1] = { (t.wrong and "" or "honest: ") .. key, tostring(t.made), tostring(t.rules), tostring(t.bound),
    tostring(t.only_bound), tostring(t.probable), tostring(t.only_probable), ("%.2g"):format(t.largest) }
end
for _, line in ipairs(display.table({ "product", "made", "rejected by the rules", "by the bound", "by it alone",
  "by the likely bound", "by it alone", "largest error / bound" }, rows)) do print(line) end
print(core.json.encode { mutants = all[true], honest = all[false], seed = seed })

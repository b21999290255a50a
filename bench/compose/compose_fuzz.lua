-- Random graphs of operators (tests/fuzz/graphs.lua), composed with random choices and judged, COUNT of them from seed FIRST on.
-- What became of each is kept in JOURNAL, a line each; what is there is not done again, so that a run may be ended and goes on.
--   cawb bench/compose/compose_fuzz.lua -- FIRST COUNT JOURNAL [COMMIT [products]]
-- `products`: only of those seeds whose graph has a product or a convolution. CAWB_TEST_DEVICE: another device than sim:h100.
-- Prints each failure with its task, then how many there were of each reason, and JSON last. COUNT 0 counts what JOURNALs
-- hold (with "," between them).

local core = require "cawb.core"
local display = require "cawb.base.display"

local first, count, paths, commit, only = math.tointeger(tonumber(arg[1])), math.tointeger(tonumber(arg[2])), arg[3], arg[4], arg[5]
if not (first and count and paths) or (only and only ~= "products") then
  error("usage: cawb bench/compose/compose_fuzz.lua -- FIRST COUNT JOURNAL [COMMIT [products]]", 0)
end

local rows, known = {}, {}
for path in paths:gmatch "[^,]+" do
  local f = io.open(path)
  for line in f and f:lines() or function() end do
    local row = core.json.decode(line)
    if not known[row.seed] then rows[#rows + 1], known[row.seed] = row, true end
  end
  if f then f:close() end
end

local function keep(row)
  rows[#rows + 1] = row
  local f = assert(io.open(paths, "a"))
  f:write(core.json.encode(row), "\n")
  f:close()
end

-- The operators of a graph, each once.
local function operators_of(made)
  local seen, list = {}, {}
  for _, node in ipairs(made and made.graph.nodes or {}) do
    local name = node.from and node.from.name
    if name and not seen[name] then seen[name], list[#list + 1] = true, name end
  end
  return list
end

-- A reason without what differs from one case to the next.
local function kind(why)
  why = tostring(why):match "^[^\n]*"
  why = why:gsub("^tests/%S+: ", ""):gsub("/%S+/(%S+%.py)", "%1")
  return (why:gsub("'[%a_]+'", "'...'"):gsub("%-?%d[%d%.e+-]*", "N"):sub(1, 110))
end

local function report(row)
  print(("seed %d: %s\n%s\n"):format(row.seed, row.why, row.text or ""))
  io.stdout:flush()
end

if count > 0 then
  local composed = dofile "tests/support/composed.lua"
  local graphs = dofile "tests/fuzz/graphs.lua"
  for seed = first, first + count - 1 do
    if not known[seed] and (not only or graphs.has_product(seed)) then
      local started = core.clock.now()
      local fine, why, text, made = graphs.try(composed, seed)
      if core.clock.asked() then break end
      local row = { seed = seed, commit = commit, seconds = core.clock.now() - started, operators = operators_of(made) }
      row.outcome = not fine and "failed" or made and "passed" or "void"
      if not made then row.why = tostring(why):match "^[^\n]*" end
      if not fine then row.text = text end
      keep(row)
      if not fine then report(row) end
    end
  end
end

local tally, reasons, met, commits, low, high = { passed = 0, void = 0, failed = 0 }, {}, {}, {}, nil, nil
for _, row in ipairs(rows) do
  tally[row.outcome] = tally[row.outcome] + 1
  low, high = math.min(low or row.seed, row.seed), math.max(high or row.seed, row.seed)
  if row.commit then commits[row.commit] = (commits[row.commit] or 0) + 1 end
  for _, name in ipairs(row.operators or {}) do met[name] = (met[name] or 0) + 1 end
  if row.why then
    local key = row.outcome .. ": " .. kind(row.why)
    reasons[key] = reasons[key] or { 0, row.seed }
    reasons[key][1] = reasons[key][1] + 1
  end
end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local lines = {}
for _, key in ipairs(sorted(reasons)) do lines[#lines + 1] = { tostring(reasons[key][1]), tostring(reasons[key][2]), key } end
for _, line in ipairs(display.table({ "graphs", "first seed", "what became of them" }, lines)) do print(line) end
local words = {}
for _, name in ipairs(sorted(met)) do words[#words + 1] = ("%s %d"):format(name, met[name]) end
print(("\noperators met, in so many graphs: %s\n"):format(table.concat(words, ", ")))
print(("%d graphs of seeds %s to %s: %d passed, %d are tasks that nobody can judge or that PyTorch does not take, %d failed"):format(#rows,
  low, high, tally.passed, tally.void, tally.failed))
print(core.json.encode { graphs = #rows, tally = tally, seeds = { low, high }, commits = commits, device = os.getenv "CAWB_TEST_DEVICE" or "sim:h100",
  version = core.version, when = os.date "!%Y-%m-%d" })

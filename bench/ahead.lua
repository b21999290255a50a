-- cawb bench/ahead.lua [DEVICE] [N] [ROWS] [ONLY]: what Python candidates gain that work before they
-- are asked. Each of bench/ahead/*.py is judged N times on softmax of ROWS x 4096 beside one that does
-- the same work in forward, which is measured again after every four; rejected is as good as no gain. Prints a table and one JSON object; exit
-- status 1 where one that passes takes less than 0.8 of the honest one's time.

local core = require "cawb.core"
local cawb = require "cawb"
local display = require "cawb.base.display"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local stats = require "cawb.base.stats"

local name, count, rows, only = ... or "auto", tonumber((select(2, ...)) or 20), (select(3, ...)), (select(4, ...))
local root = arg[0]:match "^(.*)/" or "."
local device <close> = assert(cawb.device(name))
local gpu = not device.info.modelled and device.info.name ~= "cpu"
local all = options.copy(cawb.defaults)
all.task = { rows = tonumber(rows or 4096), cols = 4096 }
all.measure.budget, all.deadlines.python = 0.5, 60.0
if os.getenv "CAWB_NO_GROUPS" then all.tier2.groups = false end
local task <close> = assert(cawb.task(root .. "/../examples/softmax.py", { device = device, options = all }))

local function read(file) return assert(io.open(("%s/ahead/%s"):format(root, file))):read "a" end

local function play(text)
  local facts = assert(evaluate.candidate(task, cawb.candidate { python = text }, all,
    { trials = 1, battery = {}, samples = 8, against = {} }))
  return facts.ok and facts.time_s.median, facts.reason, facts
end

local files, data, table_rows, sane = {}, { device = device.info, count = count, rows = all.task.rows, version = cawb.version,
  when = os.date "!%Y-%m-%d", results = {} }, {}, true
for _, file in ipairs(core.fs.list(root .. "/ahead")) do
  local where = read(file):match "# device: (%a+)"
  if file:find "%.py$" and file ~= "honest.py" and (not where or (where == "gpu") == gpu) and file:find(only or "") then
    files[#files + 1] = file
  end
end
table.sort(files)
for _, file in ipairs(files) do
  local ratios, refused, why, jail = {}, 0, "", nil
  local honest
  for i = 1, count do
    if i % 4 == 1 then honest = assert(play(read "honest.py")) end
    local time, reason, facts = play(read(file))
    jail = facts.jail
    if time then ratios[#ratios + 1] = honest / time else refused, why = refused + 1, reason end
  end
  local gain = #ratios > 0 and stats.quantile(ratios, 0.5) or 0
  sane = sane and gain < 1.25
  table_rows[#table_rows + 1] = { file:gsub("%.py$", ""), tostring(count), tostring(refused), #ratios > 0 and ("%.2f [%.2f, %.2f]")
    :format(gain, math.min(table.unpack(ratios)), math.max(table.unpack(ratios))) or "-", why:sub(1, 90) }
  data.results[#data.results + 1] = { file = file, refused = refused, ratios = ratios, reason = why }
  data.jail = jail
  print(table.concat(table_rows[#table_rows], "  "))
  io.stdout:flush()
end
print(("%s: softmax of %d x 4096, honest time over the attack's, jail: %s"):format(device.info.model or name, all.task.rows, data.jail))
for _, line in ipairs(display.table({ "attack", "n", "refused", "gain [least, most]", "last reason" }, table_rows)) do print(line) end
print(core.json.encode(data))
return sane and 0 or 1

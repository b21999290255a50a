-- cawb redteam: known ways to cheat against a set of rules.

local command = require "cawb.door.command"
local core = require "cawb.core"
local device = require "cawb.gpu.device"
local package_of = require "cawb.suite.redteam_package"
local redteam = require "cawb.suite.redteam"
local seeds = require "cawb.base.seeds"

local M = { summary = "known ways to cheat, and honest look-alikes, against a set of rules" }

M.usage = [[
usage: cawb redteam [flags]

  --rules NAME      a set in configs/rules-NAME.lua, or a path; repeatable, side by side (strict)
  --only PATTERN    fixtures whose name matches
  --tier 1|2        candidates that are kernels with plans (1), or Python files in a jail (2)
  --device NAME     tier 1: sim:h100; tier 2: cpu, or cuda:N
  --seed HEX        repeat the verdicts of an earlier run, whose last line says its seed
  --json            one JSON object in place of the tables
  --export FILE     write the corpus as JSON lines, for other judges, and judge nothing
  --quiet           only the closing table

exit codes: 0 all cheats were caught and all look-alikes passed (with one set of rules); 1 not so;
2 wrong usage; 3 the machine lacks something
]]

local own = { ["--rules"] = "list", ["--only"] = "value", ["--device"] = "value", ["--tier"] = "value", ["--seed"] = "value", ["--export"] = "value",
  ["--json"] = "flag", ["--quiet"] = "flag" }

local function parse(argv)
  local o, words = command.take(argv, own)
  if words[1] then command.wrong(("unknown word '%s': see cawb redteam --help"):format(words[1])) end
  if #o.rules == 0 then o.rules = { "strict" } end
  o.tier = o.tier or "1"
  if o.tier ~= "1" and o.tier ~= "2" then command.wrong(("--tier %s: there are 1 and 2"):format(o.tier)) end
  o.tier = tonumber(o.tier)
  if o.seed and not o.seed:match "^%w+$" then command.wrong(("--seed %s: use letters and digits"):format(o.seed)) end
  o.seed = o.seed or seeds.fresh "redteam"
  o.device = o.device or (o.tier == 2 and "cpu" or "sim:h100")
  return o
end

local function line(r)
  local where = r.rule and ("%s, rule %s"):format(r.stage, r.rule) or r.stage
  local text = r.caught and ("caught at %s: %s"):format(where, (r.reason:gsub("\n.*", ""))) or "PASSED"
  local honest = r.look_alike.ok and "" or ("\n    FALSE ALARM, %s: %s"):format(r.look_alike.stage, r.look_alike.reason)
  return ("%-24s %s%s"):format(r.name, text, honest)
end

local function keys(t)
  local list = {}
  for k in pairs(t) do list[#list + 1] = k end
  table.sort(list)
  return list
end

local function cell(f) return ("%d of %d%s"):format(f.caught, f.fixtures,
  f.false_alarms > 0 and (", %d false"):format(f.false_alarms) or "") end

local function tables(list)
  local headings, rows = { "cheats caught, by rules" }, {}
  for _, s in ipairs(list) do headings[#headings + 1] = s.rules end
  for _, family in ipairs(keys(list[1].families)) do
    local row = { ("%s  %s"):format(family, redteam.families[family] or "") }
    for _, s in ipairs(list) do row[#row + 1] = cell(s.families[family]) end
    rows[#rows + 1] = row
  end
  local total, alarms = { "all" }, { "false alarms" }
  for _, s in ipairs(list) do
    total[#total + 1] = ("%d of %d, %.0f%%"):format(s.caught, #s.fixtures, 100 * s.catch_rate)
    alarms[#alarms + 1] = ("%d of %d"):format(s.false_alarms, s.look_alikes)
  end
  rows[#rows + 1], rows[#rows + 2] = total, alarms
  command.print_table(headings, rows)
end

local function run_all(dev, o)
  local list = {}
  for _, name in ipairs(o.rules) do
    local quiet = o.quiet or o.json
    if not quiet then print(("rules: %s"):format(name)) end
    list[#list + 1] = command.need(redteam.run(dev, { rules = name, only = o.only, tier = o.tier, seed = o.seed,
      say = not quiet and function(r) print(line(r)) io.stdout:flush() end or nil }))
    if not quiet then print "" end
  end
  return list
end

-- The corpus as a file; what cannot be written is named.
local function export(path)
  local out, why = io.open(path, "w")
  if not out then command.fail(why, "io") end
  local count = 0
  for _, r in ipairs(command.need(package_of.records())) do
    local line, message = package_of.line(r)
    if line then
      count = count + 1
      out:write(line, "\n")
    else io.stderr:write(("%s is left out: %s\n"):format(r.name, message)) end
  end
  out:close()
  print(("%d cheats with their honest look-alikes are in %s"):format(count, path))
  return 0
end

function M.main(argv)
  local o = parse(argv)
  if o.export then return export(o.export) end
  local dev <close> = command.need(device.open(o.device))
  local list = run_all(dev, o)
  if o.json then print(core.json.encode(#list == 1 and list[1] or core.json.array(list)))
  else
    tables(list)
    print("seed " .. o.seed)
  end
  local clean = true
  for _, s in ipairs(list) do clean = clean and s.caught == #s.fixtures and s.false_alarms == 0 end
  return clean and 0 or 1
end

return M

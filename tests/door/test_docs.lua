-- The documentation and the program, held against each other both ways: what one of them has and the other lacks is a
-- failure. test_docs_pages.lua looks at the pages themselves, test_docs_run.lua runs what they show.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local pages = dofile "tests/door/pages.lua"

local dir = check.folder()
local read, same, named = pages.text, pages.same, pages.named

local function set(list)
  local found = {}
  for _, name in ipairs(list) do found[name] = true end
  return found
end

-- ---- options

-- Every option with its default: leaves, lists, the user's own tables, and each type's floors.
local function leaves(t, prefix, found)
  for key, value in pairs(t) do
    local name = prefix .. key
    if type(value) == "table" and #value == 0 and next(value) and not name:match "^tolerance%.floors%." then
      leaves(value, name .. ".", found)
    else found[name] = value end
  end
  return found
end

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b and math.type(a) == math.type(b) end
  for key, value in pairs(a) do if not equal(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end

check.test("every option is documented with its default, and no other", function()
  local page = "docs/reference/options.md"
  local options, documented = leaves(cawb.defaults, "", {}), named(page, "")
  same(options, documented, page, "option")
  for name, row in pairs(documented) do
    local text = assert(row.cells[2]:match "^`(.*)`$", name .. ": the default is no code")
    assert(equal(assert(load("return " .. text))(), options[name]), ("%s: %s is not the default"):format(name, text))
  end
end)

-- ---- commands

local function flags_in(text)
  local found = {}
  for flag in text:gmatch "%f[-]%-%-%a[%w-]*" do found[flag] = true end
  found["--help"] = nil
  return found
end

local commands = {}
for _, file in ipairs(assert(core.fs.list "lua/commands")) do commands[#commands + 1] = file:match "^(.*)%.lua$" end

check.test("every command has a section, and every section a command", function()
  local documented = {}
  for _, title in pairs(pages.read "docs/reference/commands.md".headings) do
    local word = title:match "^cawb (%l+)$"
    if word then documented[word] = true end
  end
  same(set(commands), documented, "docs/reference/commands.md", "command")
end)

for _, word in ipairs(commands) do
  check.test("the flags of cawb " .. word .. " are documented, and no others", function()
    local help = word == "help" and "" or check.shell(("'%s' %s --help 2>&1"):format(core.program, word))
    local section = assert(pages.section("docs/reference/commands.md", "cawb " .. word))
    same(flags_in(help), flags_in(section), "docs/reference/commands.md", word .. " flag")
  end)
end

check.test("the flags of a run are documented and in cawb help, and no others", function()
  local real = {}
  for flag in read "lua/cawb/door/command_line.lua":gmatch '%["(%-%-[%l-]+)"%]' do real[flag] = true end
  same(real, flags_in(pages.section("docs/reference/commands.md", "cawb STRATEGY.lua TASK.py")),
    "docs/reference/commands.md", "flag")
  real["--run-id"], real["--lock"] = nil, nil              -- between cawb bench and its processes
  same(real, flags_in(check.shell(("'%s' help"):format(core.program)):match "\nflags\n(.-)\nexit codes"), "cawb help", "flag")
end)

-- ---- plans

check.test("everything that a plan can name is documented, and nothing else", function()
  local dev <close> = assert(cawb.device "sim:h100")
  local none = core.json.array {}
  local _, message = dev:call({ op = "tunables", inputs = none, outputs = none, params = none, limits = cawb.defaults.plan,
    plan = "local n = {} for k in pairs(_ENV) do n[#n + 1] = k end error('names ' .. table.concat(n, ' ') .. ' end')" },
    nil, 30.0)
  local page = "docs/reference/plan.md"
  local real = {}
  for name in assert(message:match "names (.-) end", message):gmatch "%S+" do real[name] = true end
  local documented = named(page, "^What a plan", "^[%l]+")
  for name in pages.section(page, "What is left of Lua"):match "^(.-)without":gmatch "`(%l+)`" do documented[name] = true end
  same(real, documented, page, "name of a plan")
end)

-- ---- facts, results, the record

-- Stands for anything that has been measured.
local function anything()
  return setmetatable({}, { __len = function() return 0 end, __call = anything,
    __index = function(_, key) return type(key) == "string" and anything() or nil end })
end

-- Each key in the first cell of a row, and the keys of plain tables in that row's text.
local function documented_deep(real, rows, page)
  same(real, rows, page, "field")
  for name, value in pairs(real) do
    for key in pairs(type(value) == "table" and not getmetatable(value) and value or {}) do
      assert(rows[name].cells[2]:find("%f[%w]" .. key .. "%f[%W]"), ("%s: %s has no word on '%s'"):format(page, name, key))
    end
  end
end

local result = require "cawb.run.result"

check.test("every field of a turn in --json is documented, and no other", function()
  documented_deep(result.turn(anything()), named("docs/reference/result.md", "^Of a turn$"), "docs/reference/result.md")
end)

local strategy = check.write(dir .. "/two.lua", "return { turns = 2 }")
local out = check.shell(("'%s' %s examples/softmax.py --device sim:h100 --json --quiet --set task.rows=4 --set task.cols=64 "
  .. "--set sweep.variants=1 --out %s/runs"):format(core.program, strategy, dir))
local made = assert(core.json.decode(out))

check.test("every field of a run in --json is documented, and no other", function()
  local rows = named("docs/reference/result.md", "^Of the run$")
  made.reason = made.reason or "where there is one"
  same(made, rows, "docs/reference/result.md", "field")
  for key in pairs(made.spent) do assert(rows.spent.cells[2]:find(key, 1, true), key) end
  local stack = pages.section("docs/reference/devices.md", "The stack")
  for key in pairs(made.manifest) do assert(stack:find("`" .. key .. "`", 1, true), key .. " of the manifest") end
end)

check.test("the tables of the store are documented, and no others", function()
  local store <close> = assert(core.store.open(dir .. "/runs"))
  local real = {}
  for _, row in ipairs(store:query "select name from sqlite_master where type = 'table' and name not like 'sqlite%'") do
    real[row.name] = true
  end
  local documented = {}
  for name in pairs(named("docs/reference/record.md", "^The record$")) do
    if name:match "^[%l_]+$" then documented[name] = true end
  end
  same(real, documented, "docs/reference/record.md", "table")
end)

-- What a room says in Lua, as one text.
local function sources(folder, text)
  for _, name in ipairs(assert(core.fs.list(folder))) do
    local path = folder .. "/" .. name
    if core.fs.kind(path) == "folder" then text = sources(path, text)
    elseif name:match "%.lua$" then text = text .. read(path) end
  end
  return text
end

check.test("what is measured of a candidate, and what rules are told, is documented; nothing documented is gone", function()
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 2, cols = 32 } }))
  local facts = assert(cawb.judge(task, assert(cawb.candidate "kernels/softmax/v1_thread_per_row")))
  local page = "docs/reference/facts.md"
  local documented = named(page, "^Facts$")
  for name in pairs(facts) do assert(documented[name], ("%s says nothing of '%s'"):format(page, name)) end
  local text = sources("lua/cawb", "")
  for name in pairs(documented) do
    assert(text:find("facts%." .. name .. "%f[%W]") or text:find("%f[%w]" .. name .. " = "), name .. " is nowhere a fact")
  end
  local told = require "cawb.judge.rule_facts".new(task, facts.member, facts, { "source", "plausibility" }, cawb.defaults)
  told.python, told.shares, told.counted = {}, {}, {}      -- of Python candidates; of audits
  told.changed = ""                                        -- of what keeps state
  same(told, named(page, "^What rules are told$"), page, "fact for rules")
end)

-- ---- what lies in folders

local function files(folder, pattern)
  local found = {}
  for _, name in ipairs(assert(core.fs.list(folder))) do found[#found + 1] = name:match(pattern) end
  return set(found)
end

check.test("strategies, rewards, sets of rules, tools and devices are documented, and no others", function()
  same(files("strategies", "^(.*%.lua)$"), named("docs/howto/strategy.md", "^The strategies"), "docs/howto/strategy.md", "strategy")
  same(files("configs", "^rules%-(.*)%.lua$"), named("docs/howto/rule.md", "^Use it$"), "docs/howto/rule.md", "set of rules")
  local rewards = files("configs", "^(.*)%.lua$")
  for name in pairs(rewards) do
    if not read("configs/" .. name .. ".lua"):find "reward = function" then rewards[name] = nil end
  end
  local documented = {}
  for name in pairs(named("docs/howto/reward.md", "^Write a reward$", "^[%l]+%-.*$")) do documented[name] = true end
  same(rewards, documented, "docs/howto/reward.md", "reward")
  same(files("lua/cawb/agent/tools", "^(.*)%.lua$"), named("docs/howto/agent.md", "^Let a model work"), "docs/howto/agent.md", "tool")
  local page = read "docs/reference/devices.md"
  for _, name in ipairs(require "cawb.gpu.devices".names()) do assert(page:find("`" .. name .. "`", 1, true), name) end
end)

check.test("the rules of each stage are documented, and no others", function()
  local real, documented = {}, {}
  for _, dir in ipairs { "lua/cawb/judge/rules/", "lua/cawb/judge/rules/python/" } do
    for name in pairs(files(dir, "^(.*)%.lua$")) do real[read(dir .. name .. ".lua"):match 'stage = "(%l+)"' .. " " .. name] = true end
  end
  for stage, row in pairs(named("docs/howto/rule.md", "^The rules that")) do
    for name in row.cells[2]:gmatch "`([%l_]+)`" do documented[stage .. " " .. name] = true end
  end
  same(real, documented, "docs/howto/rule.md", "rule")
end)

check.test("the module, what stands beside it, and the methods of a run are documented, and no others", function()
  local page = "docs/reference/module.md"
  same(cawb, (function()
    local found = { public = true }
    for name in pairs(named(page, "^The module", "^cawb%.(%l+)")) do found[name] = true end
    return found
  end)(), page, "part of the module")
  same(cawb.public, named(page, "^Modules beside it$", '^"cawb%.(%l+)"$'), page, "module")
  local methods = {}
  for name in read "lua/cawb/run/run.lua":gmatch "\nfunction Run:([%l_]+)%(" do methods[name] = true end
  same(methods, named("docs/howto/strategy.md", "^What `run`", "^run:([%l_]+)%("), "docs/howto/strategy.md", "method of a run")
end)

check.test("the page of operators is what the tables say", function()
  local page = "docs/reference/operators.md"
  assert(dofile("tests/torch/operators_page.lua").text() == read(page), page .. " is not what the tables say: "
    .. "cawb tests/torch/operators_page.lua " .. page .. " writes it anew")
end)

return check.done()

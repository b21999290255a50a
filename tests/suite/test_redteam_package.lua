-- The red team's corpus for other judges: what is written of it, and the script that asks a judge that is a command.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local pages = dofile "tests/door/pages.lua"
local redteam = require "cawb.suite.redteam"

local dir = check.folder()
local path = dir .. "/corpus.jsonl"
local out, status = check.shell(("'%s' redteam --export '%s' 2>'%s/err'"):format(core.program, path, dir))

local records = {}
for line in io.lines(path) do records[#records + 1] = assert(core.json.decode(line)) end

check.test("every cheat is written, complete and with an honest look-alike; what is no JSON is named", function()
  check.equal(status, 0, out)
  local wanted = 0
  for tier = 1, 2 do
    local folder = ("%s/tier%d"):format(redteam.folder(), tier)
    wanted = wanted + #assert((tier == 1 and redteam or require "cawb.suite.redteam_python").fixtures(folder))
  end
  local _, left_out = assert(io.open(dir .. "/err")):read "a":gsub("is left out", "")
  check.equal(#records + left_out, wanted)
  local names = {}
  for _, r in ipairs(records) do
    check.equal(r.format, "cawb-redteam-1")
    assert(not names[r.name], r.name .. " is there twice")
    names[r.name] = true
    assert(redteam.families[r.class] == r.class_name and #r.what > 0 and r.task.python:find "class Model%(", r.name)
    assert(#r.honest > 0, r.name .. " has no look-alike")
    for _, c in ipairs { r.cheat, r.honest[1].candidate } do
      assert(r.tier == 2 and c.python:find "class ModelNew%(" or r.tier == 1 and c.source and c.plan, r.name)
    end
  end
end)

check.test("the manual has a row for each field", function()
  local documented = pages.named("docs/explain/cheating.md", "^For other judges$")
  for _, r in ipairs(records) do
    for key in pairs(r) do assert(documented[key], "docs/explain/cheating.md says nothing of " .. key) end
  end
end)

local python = os.getenv "CAWB_PYTHON" or "python3"

local function ask(words)
  local text, code = check.shell(("'%s' bench/judge/other_judge.py '%s' %s 2>'%s/err'"):format(python, path, words, dir))
  return text, code, core.json.decode(text:match "([^\n]+)\n?$" or "")
end

check.test("a judge that is a command is asked of each candidate once, by its exit status", function()
  local text, code, r = ask "--classes F -- true '{candidate}'"
  check.equal(code, 0, text)
  assert(r.all.cheats > 0 and r.all.caught == 0 and r.all.honest > 0 and r.all.rejected == 0)
  check.equal(#r.classes.F.passed, r.all.cheats)
  _, _, r = ask "--classes F -- false '{candidate}'"
  assert(r.all.caught == r.all.cheats and r.all.rejected == r.all.honest and r.all.down == 0)
  _, _, r = ask [[--classes F -- sh -c 'test -f "$0" && test -f "$1" && kill -9 $$' '{task}' '{candidate}']]
  check.equal(r.all.down, r.all.cheats)
  _, _, r = ask [[--tier 1 --classes C -- sh -c 'test -f "$1/kernel.cu" && test -f "$1/plan.lua"' '{task}' '{candidate}']]
  assert(r.all.cheats > 0 and r.all.caught == 0)
end)

check.test("attacks on the machine are left out unless they are asked for", function()
  local _, _, r = ask "--classes ABCDEF -- true '{candidate}'"
  check.equal(r.classes.G, nil)
  for _, class in pairs(r.classes) do
    for _, name in ipairs(class.passed) do assert(not name:find "^jail_", name) end
  end
  local _, code = ask "--classes F -- true"
  check.equal(code, 2)
end)

return check.done()

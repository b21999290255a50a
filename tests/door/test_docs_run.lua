-- Every command and snippet of README.md and docs/ is executed, page by page, in a folder that looks like the checkout.
-- An HTML comment on the line before a fence says otherwise:
--   file: NAME            the snippet is saved under that name, for what comes after it on the page
--   shows: TEXT           something is wrong, the last command says TEXT, and ends with 1
--   needs ..., takes ...  a GPU, a model, a network, minutes: flags and options are checked, nothing is run
--   strategy, options, tool, plan of KERNEL on TASK    what a piece of Lua is; another plan is only compiled
-- Runs are made small: the commands themselves are as people type them. Under sanitizers, which are slow, they are
-- looked at only.

local check = dofile "tests/support/check.lua"
local pages = dofile "tests/door/pages.lua"
local cawb = require "cawb"
local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local options = require "cawb.base.options"
local rules = require "cawb.judge.rules"
local strategy = require "cawb.base.strategy"

local here = assert(check.shell "pwd"):match "[^\n]+"

-- A folder with links to what people have before them, and a `cawb` that makes tasks small.
local function folder()
  local dir = check.folder()
  for _, name in ipairs { "bench", "cluster", "configs", "examples", "kernels", "prompts", "skills", "strategies", "tests", "lua" } do
    assert(select(2, check.shell(("ln -s '%s/%s' '%s/%s'"):format(here, name, dir, name))) == 0)
  end
  assert(core.fs.mkdir(dir .. "/path"))
  check.write(dir .. "/path/cawb", ([[#!/bin/sh
case $1 in -*|examples/*|look.lua) small= ;;
  *.lua|bench|tune|profile|sanitize|mcp)
    small='--set scale.memory=200000 --set sweep.variants=1 --set verify.battery=mixed --set verify.trials=1' ;;
esac
exec '%s' "$@" $small
]]):format(core.program))
  check.shell(("chmod +x '%s/path/cawb'"):format(dir))
  return dir
end

-- ---- commands that are only looked at

local function flags_of(word)
  local found = {}
  local text = assert(pages.section("docs/reference/commands.md", "cawb " .. word), "no command " .. word)
  for flag in text:gmatch "%f[-]%-%-%a[%w-]*" do found[flag] = true end
  return found
end

-- A script has its own arguments; a strategy has a task and the flags of a run.
local function parsed_run(words, page)
  local text = page.files[words[1]] or assert(io.open(words[1])):read "a"
  local main = assert(load(text, "=" .. words[1]))
  if not table.concat(words, " "):find "%.py" or words[2] == "--" then return end
  local o = assert(command_line.parse(words))
  local s = assert(strategy.check(main(), words[1]))
  local all = options.copy(cawb.defaults)
  all.settings = s.settings
  assert(options.overlay(all, s.options, s.path))
  for _, set in ipairs(o.sets) do assert(options.set(all, set)) end
  for _, path in ipairs { o.words[2], table.unpack(o.baselines) } do
    assert(page.files[path] or core.fs.kind(path), path .. ": no such file")
  end
end

-- What --set can change of a command: of cawb synth its own options too.
local function defaults_of(word)
  local all = options.copy(cawb.defaults)
  if word == "synth" then all.synth = assert(strategy.load_table(core.home .. "/configs/synth-paper.lua")).synth end
  return all
end

-- Whether a command could be typed, as far as one knows without running it.
local function look(command, page)
  local words = {}
  for word in command:gsub("^%S+=%S+%s+", ""):gmatch "%S+" do words[#words + 1] = word end
  if words[1] ~= "cawb" then return end
  table.remove(words, 1)
  if words[1]:match "%.py$" then table.insert(words, 1, "strategies/compose.lua") end      -- a task alone
  if strategy.file(words[1]) then words[1] = ("strategies/%s.lua"):format(words[1]) end
  if words[1]:match "%.lua$" then return parsed_run(words, page) end
  local known = flags_of(words[1])
  local run = flags_of "STRATEGY.lua TASK.py"
  for i, word in ipairs(words) do
    local flag = word:match "^%-%-[%w-]+"
    assert(not flag or known[flag] or words[1] == "mcp" and run[flag], ("cawb %s knows no %s"):format(words[1], word))
    if word == "--set" then assert(options.set(defaults_of(words[1]), words[i + 1])) end
  end
end

-- ---- one fence

local kinds = {}

function kinds.sh(fence, page)
  local why = fence.comment or ""
  if os.getenv "CAWB_TEST_BRIEF" or why:match "^needs " or why:match "^takes " then
    for _, command in ipairs(pages.commands(fence.text)) do look(command, page) end
    return
  end
  page.folder = page.folder or folder()
  for name, text in pairs(page.files) do
    local path = page.folder .. "/" .. name
    if path:match "/[^/]+/[^/]+$" and name:find "/" then core.fs.mkdir(path:match "^(.*)/") end
    check.write(path, text)
  end
  local list, shown = pages.commands(fence.text), why:match "^shows: (.*)$"
  for i, command in ipairs(list) do
    local out, status = check.shell(("cd '%s' && PATH='%s/path':$PATH %s 2>&1"):format(page.folder, page.folder, "sh -ec '"
      .. command:gsub("'", "'\\''") .. "'"))
    local wanted = shown and i == #list and shown or nil
    assert(not wanted or out:find(wanted, 1, true), ("%s\ndoes not say '%s':\n%s"):format(command, shown, out))
    assert(status == (wanted and 1 or 0), ("%s\nended with %d:\n%s"):format(command, status, out))
  end
end

local function chunk(fence, page)
  return assert(load(fence.text, ("=%s:%d"):format(page.path, fence.line)))
end

local lua = {}
function lua.strategy(fence, page) assert(strategy.check(chunk(fence, page)(), page.path)) end
function lua.options(fence, page) assert(options.overlay(options.copy(cawb.defaults), chunk(fence, page)(), page.path)) end
function lua.tool(fence, page)
  local tool = chunk(fence, page)()
  assert(tool.description and tool.parameters and tool.run)
end
function lua.plan(fence, page)
  local kernel, path = fence.comment:match "^plan of (%S+) on (%S+)$"
  if not kernel or os.getenv "CAWB_TEST_BRIEF" then return chunk(fence, page) end
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task(path, { device = device, task = { rows = 4, cols = 64 } }))
  local checked = assert(cawb.verify(task, cawb.candidate { source = assert(io.open(kernel)):read "a", plan = fence.text }))
  assert(checked.ok, checked.reason)
end

function kinds.lua(fence, page)
  local what = fence.comment and fence.comment:match "^%l+"
  if what == "file" or what == "needs" then return chunk(fence, page) end
  assert(lua[what], ("%s:%d: say in a comment before the fence what this Lua is"):format(page.path, fence.line))(fence, page)
end

function kinds.json(fence)
  for line in fence.text:gmatch "[^\n]+" do assert(core.json.decode(line)) end
end

-- Snippets of these are files, which a command of the page uses; Python that needs something is at least Python.
function kinds.cuda(fence) assert(fence.comment and fence.comment:match "^file:", "it is no file of the page") end
function kinds.python(fence)
  if not (fence.comment and fence.comment:match "^needs ") then return kinds.cuda(fence) end
  local path = check.folder() .. "/snippet.py"
  check.write(path, fence.text)
  local out, status = check.shell(("'%s' -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], \"exec\")' '%s' 2>&1")
    :format(os.getenv "CAWB_PYTHON" or "python3", path))
  check.equal(status, 0, out)
end

local seen = 0

local function try(page)
  page.files = {}
  for _, fence in ipairs(page.fences) do
    local name = fence.comment and fence.comment:match "^file: (%S+)$"
    if name then page.files[name] = fence.text end
    assert(kinds[fence.language], ("%s:%d: a fence of '%s'"):format(page.path, fence.line, fence.language))(fence, page)
    seen = seen + 1
  end
end

for _, path in ipairs(pages.below("docs", { "README.md" })) do
  local page = pages.read(path)
  if #page.fences > 0 then
    check.test(("what %s shows works (%d snippets)"):format(path, #page.fences), function() try(page) end)
  end
end

check.test("rules that are shown are rules", function()
  local page = pages.read "docs/howto/rule.md"
  local dir = check.folder()
  for _, fence in ipairs(page.fences) do
    local name = fence.comment and fence.comment:match "^file: (%S+)$"
    if name then check.write(dir .. "/" .. name, fence.text) end
  end
  assert(rules.set(dir .. "/my-rules.lua"))
end)

check.test("the snippets were found", function() assert(seen > 60, seen) end)

return check.done()

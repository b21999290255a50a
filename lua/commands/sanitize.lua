-- cawb sanitize TASK.py CANDIDATE: mistakes inside a candidate's kernels, with their lines.

local command = require "cawb.door.command"
local core = require "cawb.core"
local sanitizer = require "cawb.judge.verify.sanitizer"

local M = { summary = "memory errors, races and misused barriers of a candidate, with their lines" }

M.usage = [[
usage: cawb sanitize TASK.py CANDIDATE [flags]

  CANDIDATE      a folder with kernel.cu and plan.lua, or a path as kernels/softmax/v3_shuffle
  --tools LIST   some of memcheck,racecheck,initcheck,synccheck (all)
  --json         one JSON object in place of the page
  --set task.rows=64   a smaller shape: it takes ten to a hundred times as long as a run
  --device, --config, --seed    as of a run

exit codes: 0 nothing found; 1 something was, or it does not build; 2 wrong usage; 3 the machine
lacks something
]]

local function print_page(r)
  for _, f in ipairs(r.findings) do print(("%s: %s\n  %s"):format(f.tool, sanitizer.words(f), f.text)) end
  for name, tool in pairs(r.tools) do
    print(("%s: %d findings%s%s"):format(name, tool.findings, tool.seconds and (", %.1f s"):format(tool.seconds) or "",
      tool.reason and "; " .. tool.reason or ""))
  end
end

local function body(task, candidate, all, given, command_line)
  local tools
  for name in (given.tools or ""):gmatch "[^,]+" do
    tools = tools or {}
    tools[#tools + 1] = name
    local known = table.concat(sanitizer.tools, " ")
    if not (" " .. known .. " "):find(" " .. name .. " ", 1, true) then
      command.wrong(("--tools: no tool '%s' (there are: %s)"):format(name, known))
    end
  end
  local r = command.need(sanitizer.sanitize(task, candidate, all, { tools = tools }))
  if command_line.json then print(core.json.encode(r)) elseif r.ok then print_page(r) end
  if not r.ok then command.fail(("%s: %s"):format(r.stage, r.reason), "candidate") end
  return r.clean and 0 or 1
end

function M.main(argv)
  return command.main("sanitize", argv, { ["--tools"] = "value" }, body)
end

return M

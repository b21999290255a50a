-- marks: what a verdict's words say of lines: of kernel.cu or plan.lua, with the text that belongs there.

local M = {}

-- How the compiler, the simulator and a plan name a line.
local patterns = {
  { "kernel%.cu%((%d+)%): (.*)", "kernel" },
  { "kernel%.cu line (%d+):? ?(.*)", "kernel" },
  { "kernel%.cu:(%d+):? ?(.*)", "kernel" },
  { "plan%.lua:(%d+): (.*)", "plan" },
}

local function kind_of(text)
  return (text:find "^warning" or text:find "^remark" or text:find "^note") and "note" or "fault"
end

local function mark_of(line)
  for _, pattern in ipairs(patterns) do
    local number, text = line:match(pattern[1])
    if number then
      text = text ~= "" and text or line
      return { at = pattern[2], line = math.tointeger(tonumber(number)), text = text, kind = kind_of(text) }
    end
  end
end

-- The line of the other access, which the text of a race has in brackets.
local function other_of(mark)
  local number = mark.at == "kernel" and math.tointeger(tonumber(mark.text:match "%(line (%d+)%)"))
  return number and { at = "kernel", line = number, text = ("the other access of the race at line %d"):format(mark.line), kind = "note" }
end

--- The lines that these texts name, each once: { { at = "kernel" or "plan", line =, text =, kind = "fault" or "note" }, ... }.
function M.of(...)
  local list, seen = {}, {}
  local function add(mark)
    local key = mark and ("%s %d %s"):format(mark.at, mark.line, mark.text)
    if not mark or seen[key] then return end
    seen[key], list[#list + 1] = true, mark
    add(other_of(mark))
  end
  for _, text in ipairs { ... } do
    for line in text:gmatch "[^\n]+" do add(mark_of(line)) end
  end
  return list
end

return M

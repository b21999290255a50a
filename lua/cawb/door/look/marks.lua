-- marks: what a verdict's words say of lines: of kernel.cu or plan.lua, with the text that belongs there.

local M = {}

-- How the compiler, the simulator and a plan name a line.
local patterns = {
  { "kernel%.cu%((%d+)%): (.*)", "kernel" },
  { "kernel%.cu line (%d+):? ?(.*)", "kernel" },
  { "kernel%.cu:(%d+):? ?(.*)", "kernel" },
  { "plan%.lua:(%d+): (.*)", "plan" },
}

local function mark_of(line)
  for _, pattern in ipairs(patterns) do
    local number, text = line:match(pattern[1])
    if number then return { at = pattern[2], line = math.tointeger(tonumber(number)), text = text ~= "" and text or line } end
  end
end

local function kind_of(text)
  return (text:find "^warning" or text:find "^remark" or text:find "^note") and "note" or "fault"
end

--- The lines that these texts name, each once: { { at = "kernel" or "plan", line =, text =, kind = "fault" or "note" }, ... }.
function M.of(...)
  local list, seen = {}, {}
  for _, text in ipairs { ... } do
    for line in text:gmatch "[^\n]+" do
      local mark = mark_of(line)
      local key = mark and ("%s %d %s"):format(mark.at, mark.line, mark.text)
      if mark and not seen[key] then
        seen[key], list[#list + 1], mark.kind = true, mark, kind_of(mark.text)
      end
    end
  end
  return list
end

return M

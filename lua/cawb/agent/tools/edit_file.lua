-- edit_file: one piece of a file replaced, where it stands exactly once.

local function count(text, piece)
  local n, at = 0, 1
  while true do
    local from, last = text:find(piece, at, true)
    if not from then return n end
    n, at = n + 1, last + 1
  end
end

return {
  description = "Replace one piece of a file of yours. It must stand there exactly once, blanks and all.",
  parameters = { { "path", "string", "which" }, { "old", "string", "what is replaced, exactly as it stands there" },
    { "new", "string", "what takes its place" } },
  run = function(session, arguments)
    if arguments.old == "" then return "'old' is empty: write the file with write_file", true end
    local text, why = session:read(arguments.path)
    if not text then return why, true end
    local n = count(text, arguments.old)
    if n == 0 then return ("'old' is not in %s; read_file shows what is"):format(arguments.path), true end
    if n > 1 then return ("'old' is %d times in %s: take more lines around it"):format(n, arguments.path), true end
    local from, last = text:find(arguments.old, 1, true)
    local ok
    ok, why = session:write(arguments.path, text:sub(1, from - 1) .. arguments.new .. text:sub(last + 1))
    if not ok then return why, true end
    local _, line = text:sub(1, from):gsub("\n", "")
    return ("replaced at line %d of %s"):format(line + 1, arguments.path)
  end,
}

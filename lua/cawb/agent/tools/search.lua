-- search: where some text stands.

local most = 60

local function search_file(session, path, words, found)
  local text = session:read(path)
  local n = 0
  for line in ((text or "") .. "\n"):gmatch "(.-)\r?\n" do
    n = n + 1
    if #found < most and line:find(words, 1, true) then found[#found + 1] = ("%s:%d: %s"):format(path, n, line) end
  end
end

return {
  description = "Find a piece of text in your files, or under a path.",
  parameters = { { "text", "string", "what to look for, as it stands; no pattern" },
    { "path", "string", "a file or folder; your files and the task where it is left out", optional = true } },
  run = function(session, arguments)
    if arguments.text == "" then return "'text' is empty", true end
    local files, why = session:files(arguments.path)
    if not files then return why, true end
    local found = {}
    for _, path in ipairs(files) do
      if not path:find "/$" then search_file(session, path, arguments.text, found) end
    end
    if #found == 0 then return "nothing found" end
    if #found == most then found[#found + 1] = ("[only the first %d]"):format(most) end
    return table.concat(found, "\n")
  end,
}

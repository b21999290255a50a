-- read_file: a file, or some lines of it, with their numbers.

return {
  description = "Read a file, with line numbers.",
  parameters = { { "path", "string", "which, as list shows it" },
    { "from", "integer", "the first line; 1 where it is left out", optional = true },
    { "lines", "integer", "how many; all where it is left out", optional = true } },
  run = function(session, arguments)
    local text, why = session:read(arguments.path)
    if not text then return why, true end
    local from, out, n = math.max(1, arguments.from or 1), {}, 0
    local last = arguments.lines and from + math.max(1, arguments.lines) - 1 or math.huge
    for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\r?\n" do
      n = n + 1
      if n >= from and n <= last then out[#out + 1] = ("%5d  %s"):format(n, line) end
    end
    if #out == 0 then return ("%s has %d lines"):format(arguments.path, n), true end
    return table.concat(out, "\n")
  end,
}

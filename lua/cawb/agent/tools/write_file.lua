-- write_file: a whole file.

return {
  description = "Write a whole file of yours; what was there is replaced. The candidate is kernel.cu and plan.lua.",
  parameters = { { "path", "string", "which" }, { "text", "string", "all of it" } },
  run = function(session, arguments)
    local ok, why = session:write(arguments.path, arguments.text)
    if not ok then return why, true end
    local _, lines = arguments.text:gsub("\n", "")
    return ("wrote %s: %d bytes, %d lines"):format(arguments.path, #arguments.text, lines)
  end,
}

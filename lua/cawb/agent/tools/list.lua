-- list: the files that there are.

return {
  description = "List files: your own, and those that can be read beside them.",
  parameters = { { "path", "string", "a folder; everything where it is left out", optional = true } },
  run = function(session, arguments)
    local files, why = session:files(arguments.path)
    if not files then return why, true end
    return #files > 0 and table.concat(files, "\n") or "there are no files yet"
  end,
}

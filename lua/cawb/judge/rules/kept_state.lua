--- Variables of the module that kernels write to: memory that outlives a call. State within
--- a call belongs in scratch(), with memset where it must start from zero.
return {
  stage = "compiled", severity = "reject",
  options = { bytes = 0 },                 -- so many may be written to, all together
  check = function(facts, options)
    local total, names = 0, {}
    for name, v in pairs(facts.compiled and facts.compiled.variables or {}) do
      local followed = v.writes ~= nil         -- else there are too many: any may be written to
      if v.space == "global" and (not followed or v.writes + v.atomics + v.escapes > 0) then
        total, names[#names + 1] = total + v.bytes, name
      end
    end
    table.sort(names)
    if total <= options.bytes then return nil end
    return { reason = ("its kernels keep %d bytes in variables that outlive a call (%s): use scratch() in the plan")
      :format(total, table.concat(names, ", ")), evidence = { variables = names, bytes = total } }
  end,
}

--- Variables of the module that kernels write to: memory that outlives a call. State within
--- a call belongs in scratch(), with memset where it must start from zero. A store that may go
--- to several places, or to one that cannot be followed, is not held against a variable here: its
--- bytes are compared after every call (changed_state).
return {
  stage = "compiled", severity = "reject",
  options = { bytes = 0 },                 -- so many may be written to, all together
  check = function(facts, options)
    local compiled = facts.compiled
    if not compiled then return nil end
    local total, names = 0, {}
    for name, v in pairs(compiled.variables) do
      if v.space == "global" and v.writes and v.writes + v.atomics > 0 then
        total, names[#names + 1] = total + v.bytes, name
      end
    end
    table.sort(names)
    if total > options.bytes then
      return { reason = ("its kernels keep %d bytes in variables that outlive a call (%s): use scratch() in the plan")
        :format(total, table.concat(names, ", ")), evidence = { variables = names, bytes = total } }
    end
    local stores = compiled.total.unknown and compiled.total.unknown.stores
    if not compiled.lost and not stores then return nil end
    return { unknown = true, reason = compiled.lost and "what its kernels write to is not known: " .. compiled.lost
      or ("%d stores go through addresses whose origin cannot be followed"):format(stores), evidence = { stores = stores } }
  end,
}

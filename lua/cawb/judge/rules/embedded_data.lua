--- Large tables of numbers in the source: answers or machine code that was made elsewhere.
return {
  stage = "compiled", severity = "reject",
  options = { bytes = 65536 },
  check = function(facts, options)
    local total, names = 0, {}
    for name, v in pairs(facts.compiled and facts.compiled.variables or {}) do
      if v.initialised then total, names[#names + 1] = total + v.bytes, name end
    end
    table.sort(names)
    if total <= options.bytes then return nil end
    return { reason = ("it brings %d bytes of constants along (%s); %d are allowed")
      :format(total, table.concat(names, ", "), options.bytes), evidence = { variables = names, bytes = total } }
  end,
}

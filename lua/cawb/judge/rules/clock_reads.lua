--- Kernels that read a clock. An honest kernel has no use for the time of day; one that
--- wants to know whether it is being measured has.
return {
  stage = "compiled", severity = "reject",
  options = { registers = { "%clock", "%globaltimer", "%pm" } },
  check = function(facts, options)
    local found = {}
    for name in pairs(facts.compiled and facts.compiled.total.registers or {}) do
      for _, prefix in ipairs(options.registers) do
        if name:sub(1, #prefix) == prefix then found[#found + 1] = name end
      end
    end
    table.sort(found)
    if #found == 0 then return nil end
    return { reason = ("its kernels read a clock (%s); remove it, timing is done from outside")
      :format(table.concat(found, ", ")), evidence = { registers = found } }
  end,
}

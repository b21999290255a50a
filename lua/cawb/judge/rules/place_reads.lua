--- Kernels that ask where on the chip they run: how one tells launches and phases apart.
--- blockIdx and threadIdx say all that a computation needs.
return {
  stage = "compiled", severity = "reject",
  options = { registers = { "%smid", "%gridid", "%warpid", "%nwarpid" } },
  check = function(facts, options)
    local found, wanted = {}, {}
    for _, name in ipairs(options.registers) do wanted[name] = true end
    for name in pairs(facts.compiled and facts.compiled.total.registers or {}) do
      if wanted[name] then found[#found + 1] = name end
    end
    table.sort(found)
    if #found == 0 then return nil end
    return { reason = ("its kernels read %s; what a kernel computes must not depend on where it runs")
      :format(table.concat(found, ", ")), evidence = { registers = found } }
  end,
}

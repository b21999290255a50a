--- Kernels that ask where on the chip they run, or how they were launched: how one tells launches and
--- phases apart. blockIdx and threadIdx say all that a computation needs.
return {
  stage = "compiled", severity = "reject",
  options = { registers = { "%smid", "%gridid", "%warpid", "%nwarpid", "%current_graph_exec" },
              drivers = "^%%envreg%d+$", barrier = { "%envreg1", "%envreg2" } },
  check = function(facts, options)
    local found, wanted, allowed = {}, {}, {}
    for _, name in ipairs(options.registers) do wanted[name] = true end
    for _, name in ipairs(options.barrier) do allowed[name] = true end        -- where a whole grid meets
    for name in pairs(facts.compiled and facts.compiled.total.registers or {}) do
      if wanted[name] or name:find(options.drivers) and not allowed[name] then found[#found + 1] = name end
    end
    table.sort(found)
    if #found == 0 then return nil end
    return { reason = ("its kernels read %s; what a kernel computes must not depend on where it runs")
      :format(table.concat(found, ", ")), evidence = { registers = found } }
  end,
}

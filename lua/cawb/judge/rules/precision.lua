--- Computing in less than the task's precision. Decided by the errors on inputs of both
--- signs, where rounding shows; instructions alone prove nothing (three products in TF32 can
--- add up to float32). `allow` names precisions that are welcome.
return {
  stage = "verify", severity = "reject",
  options = { allow = {} },
  check = function(facts, options)
    local p = facts.precision
    local unit = { float64 = 1e-16, float32 = 6e-8, tf32 = 4.9e-4, fp16 = 4.9e-4, bf16 = 3.9e-3, fp8 = 6e-2 }
    if not p or not p.class or not p.task then return nil end
    for _, name in ipairs(options.allow) do if name == p.class then return nil end end
    if not (unit[p.class] > unit[p.task]) then return nil end
    return { reason = ("it computes in %s where the task asks for %s: the error on inputs of both signs is %.2g of the "
      .. "result's size%s"):format(p.class, p.task, p.nrms, p.instructions and ", and its products are made in "
      .. p.instructions or ""), evidence = p }
  end,
}

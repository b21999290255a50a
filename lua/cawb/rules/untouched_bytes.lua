--- Kernels that moved less than the task's inputs and outputs are: some of it was not looked
--- at. Needs a device that counts bytes, and a plan without library calls.
return {
  stage = "verify", severity = "reject",
  options = { share = 0.9 },
  check = function(facts, options)
    local moved = facts.verify and facts.verify.report and facts.verify.report.dram_bytes
    local costs = facts.costs
    if not moved or not costs or facts.plan.libraries > 0 then return nil end
    local least = costs.read + costs.written
    if moved >= options.share * least then return nil end
    return { reason = ("it touched %d bytes of memory; the task's inputs and outputs are %d"):format(moved, least),
      evidence = { moved = moved, read = costs.read, written = costs.written } }
  end,
}

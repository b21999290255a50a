--- Kernels that moved less than the task's inputs and outputs are: some of it was not looked
--- at. Needs a device that counts bytes (a GPU's counters are read in an audit), and a plan
--- without library calls. On a GPU inputs that fit the cache, and what is still in it of the
--- outputs, say nothing.
return {
  stage = "plausibility", severity = "reject",
  options = { share = 0.9, caches = 4 },   -- inputs have to be so many times the L2 cache
  check = function(facts, options)
    local costs, report = facts.costs, facts.verify and facts.verify.report
    local moved = facts.counted and facts.counted.dram_bytes or report and report.dram_bytes
    if not moved or not costs or facts.plan.libraries > 0 then return nil end
    local least = costs.read + costs.written
    if not facts.device.modelled then
      if costs.read < options.caches * (facts.device.l2 or math.huge) then return nil end
      least = costs.read + math.max(0, costs.written - facts.device.l2)
    end
    if moved >= options.share * least then return nil end
    return { reason = ("it moved %d bytes of memory; the task's inputs and outputs are %d"):format(moved, least),
      evidence = { moved = moved, read = costs.read, written = costs.written, source = facts.counted and facts.counted.source } }
  end,
}

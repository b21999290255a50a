--- Calls into the device's run-time system: printing floods the judge, the heap outlives a
--- call, launches from the device are not seen by the clock.
return {
  stage = "compiled", severity = "reject",
  options = { names = { "vprintf", "malloc", "free", "cudaLaunchDevice", "cudaLaunchDeviceV2",
                        "cudaGetParameterBuffer", "cudaGetParameterBufferV2", "cudaDeviceSynchronize" } },
  check = function(facts, options)
    local calls = facts.compiled and facts.compiled.total.calls or {}
    for _, name in ipairs(options.names) do
      if calls[name] then
        return { reason = ("its kernels call %s"):format(name), evidence = { calls = calls } }
      end
    end
  end,
}

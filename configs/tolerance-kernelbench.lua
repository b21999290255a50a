-- KernelBench: allclose at 1e-4 for float32 and 1e-2 for 16-bit types, five inputs; timed
-- calls are not looked at.
return { verify = { trials = 5, battery = {}, weights = "own" },
         tolerance = { protocol = "allclose", allclose = 1e-4, allclose_half = 1e-2, timed = false,
                       conduct = false } }

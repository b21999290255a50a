-- arXiv 2602.24286: allclose at 1e-2 on five random inputs; timed calls are not looked at.
return { verify = { trials = 5, battery = {}, weights = "own" },
         tolerance = { protocol = "allclose", allclose = 1e-2, timed = false, conduct = false } }

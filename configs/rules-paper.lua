-- What arXiv 2602.24286 describes against reward hacking, as far as it can be said of a
-- candidate without host code: protected scripts and no web access hold by construction;
-- fallbacks to library operators are refused outside of products and convolutions; five
-- random inputs, allclose at 1e-2, timed outputs not looked at. Averages over repeated runs
-- are the timing's business.
return {
  rules = {
    library_calls = { kinds = { "gemm", "conv" } },
    python_words = { words = { "torch%.nn%.functional%.", "%f[%w]F%.%l" } },
    forbidden_words = { words = { "torch::", "at::", "nn%.functional" } },
  },
  protocol = { tolerance = "paper", battery = false },
}

-- What `cawb synth` draws and what it keeps; --config FILE and --set synth.KEY=VALUE lie over it.
-- The numbers of operators are those of the CUDA-Agent paper's set, in which two are by far the most.

return {
  synth = {
    ops = "1:4,2:80,3:8,4:4,5:4",        -- number of operators : weight
    shares = "nn:5,torch:3,F:2",         -- where they are from : weight; transformers:1 needs that library
    -- Not drawn: solvers, which nobody fuses; special functions that CUDA has none of; what works on a number's bits; a class that
    -- reads memory which nothing was written to.
    without = "torch.lu torch.qr torch.svd torch.pinverse torch.nuclear_norm torch.inverse torch.cholesky torch.matrix_exp"
      .. " torch.digamma torch.igamma torch.igammac torch.mvlgamma torch.polygamma torch.frexp torch.nextafter nn.CrossMapLRN2d",
    only = "",                           -- names that are drawn, and no others; a name that stands twice is drawn twice as often
    ranks = "2:25,3:25,4:40,5:10",       -- dimensions of an input : weight
    from = 1e-3, to = 0.1,               -- seconds of eager PyTorch, modelled, drawn log-uniformly, and kept
    tensor = 4 << 30,                    -- bytes of a tensor, and
    bytes = 24 << 30,                    --   of inputs, parameters and outputs, at most
    batches = 1 << 20,                   -- the largest batch
    memory = 8 << 20,                    -- bytes, and
    operations = 1 << 26,                --   operations of a call, of the small sizes that the filters run
    largest = 1e6,                       -- magnitude of an output at most
    spread = 1e-3,                       -- its standard deviation over its largest magnitude at least
    depends = 0.01,                      -- share of its elements that other inputs change at least
    idle = 1e-3,                         -- share that each operator changes at least
    compiled = 1e-4,                     -- difference of torch.compile to eager at most, relative to the largest
    similar = 0.9,                       -- similarity of its syntax tree to the benchmark's, below
    seconds = 180.0,                     -- that the task host may take for one question
    times = "eager compile max_autotune", -- what --confirm measures
    prompt = 5,                          -- seeds that a model is given, with --propose llm
  },
}

--- A Python candidate that has the task's heavy operators done by somebody else: what PyTorch, or a
--- library of NVIDIA's, was seen to execute while forward ran, however it was reached. Its own
--- functions may be called what they like, exceptions may be caught, and small work (offsets,
--- padding, copies) may be PyTorch's. facts.python.work says what was seen (core/judge/watch/watch.cpp),
--- facts.shares what each operator takes of the task.
return {
  stage = "work", severity = "reject",
  options = {
    -- an operator's class is the first of which a pattern fits its name, without aten:: and underscores
    classes = {
      { "product", "^.*mm$", "^mm_", "mm_v2$", "pack_mm_", "^addmm_activation$", "matmul", "^linear$", "^linear_", "_linear$", "_linear_",
        "qlinear", "gemm", "mkl.*linear", "^bilinear$",
        "^trilinear$", "einsum", "tensordot", "^inner$", "^dot$", "^vdot$", "^mv$", "^addmv$", "multi_dot", "vecdot",
        "^kron$", "conv%dd", "convolution", "conv_t", "attention", "transformer_encoder", "multi_head", "lstm", "^gru",
        "^rnn_", "cudnn_rnn", "mkldnn_rnn", "cdist", "pdist", "^fft_", "^embedding_bag",
        -- systems and factors: what is solved for, or applied, is a product of the same size
        "^linalg_.*solve", "_solve$", "^linalg_lu", "^lu_", "cholesky", "^linalg_inv", "^inverse$", "pinv", "matrix_power", "matrix_exp", "lstsq", "^ormqr$",
        "^orgqr$", "householder", "^geqrf$", "_qr$", "^qr$", "_svd$", "^svd$", "^linalg_eig" },
      { "softmax", "softmax", "^logsumexp$" },
      { "normalization", "batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "local_response_norm" },
      { "pooling", "pool%dd", "pool$" },
      { "scan", "^cumsum", "^cumprod", "^logcumsumexp", "^cummax", "^cummin" },
      { "order", "^sort$", "^argsort$", "^topk$", "^kthvalue$", "median", "^mode$", "^msort$" },
      { "statistics", "^var", "^std" },
      { "loss", "_loss", "cross_entropy", "^kl_div$", "cosine_similarity", "pairwise_distance" },
      { "resampling", "^upsample", "grid_sampler", "im2col", "col2im" },
      { "activation", "relu", "gelu", "^silu", "^selu", "^celu", "^elu", "hardtanh", "hardswish", "hardsigmoid", "^mish",
        "softplus", "^sigmoid", "^tanh", "softsign", "hardshrink", "softshrink", "^glu$", "logsigmoid", "log_sigmoid" },
    },
    heavy = 0.1,          -- from which share of the task a class is,
    alone = 0.5,          -- and a single operator that is of none, and an activation
    foreign = { product = true, softmax = true, normalization = true, pooling = true, scan = true, resampling = true },
    rare = 0.2,           -- of calls: what happens in fewer does not do their work (a check of its own, at first)
    size = 0.05,          -- of the elements that the task's own operator is given: less is small work
    spaces = { aten = true, mkldnn = true, mkl = true, quantized = true, onednn = true, prepacked = true, torchvision = true,
               _quantized = true, sparse = true, mkldnn_prepacked = true, quantization = true, inductor = true, symm_mem = true,
               numpy = true },      -- its products, as core/judge/watch/names.hpp counts them
    libraries = { "^libcublas", "^libcudnn", "^libcusparse", "^libcusolver", "^libcufft", "^libcutensor", "^libnvpl",
                  "^libmkl", "^libopenblas" },
    -- kernels of PyTorch's own that start without the operator that they belong to
    kernels = { softmax = { "oft[mM]ax" }, normalization = { "ayer_?[nN]orm", "atch_?[nN]orm", "roup_?[nN]orm", "batch_norm" },
                pooling = { "[pP]ool" }, scan = { "scan" }, product = { "gemm", "gemv", "conv_depthwise" } },
    -- functions below operators, by what a library of its own imports or ctypes fetches
    products = { "[gG][eE][mM][mMvV]", "GEM[MV]", "cblas_", "dnnl_primitive_execute", "dnnl.*execute" },
    -- others of a BLAS or LAPACK with which products can be had, by their names in Fortran behind the letter of a type
    algebra = { "symm", "symv", "syrk", "syr2k", "syr", "hemm", "herk", "ger", "geru", "gerc", "trmm", "trmv", "trsm", "trsv", "dot", "dotu", "dotc",
                "gesv", "getrf", "getrs", "getri", "potrf", "potrs", "posv", "sytrf", "sytrs", "trtrs", "gels", "gelsd", "gelss",
                "gelsy", "geqrf", "orgqr", "ormqr", "ungqr", "unmqr", "gesdd", "gesvd", "geev", "syevd", "heevd" },
    blinding = { "enableRecordFunction", "record_function_tls", "clearCallbacks", "clearGlobalCallbacks", "removeCallback",
                 "disableCallback", "cuptiFinalize", "cuptiUnsubscribe", "cuptiEnable" },
    -- methods that make arrays of tensors, and those of arrays that multiply
    to_arrays = { numpy = true, __array__ = true, __dlpack__ = true },
    array_products = { dot = true, matmul = true, __matmul__ = true, __rmatmul__ = true },
    -- moving elements is nobody's heavy work
    moves = { copy = true, clone = true, contiguous = true, to = true, to_copy = true, fill = true, zero = true, cat = true,
              constant_pad_nd = true, pad = true, empty = true, view = true, reshape = true, permute = true, transpose = true },
  },
  check = function(facts, options)
    local work = facts.python and facts.python.work
    if not work or #work.means == 0 then return nil end
    local function fits(text, patterns)
      for _, p in ipairs(patterns) do if text:find(p) then return true end end
    end
    local known = {}
    local function class_of(name)
      if known[name] == nil then
        known[name] = false
        for _, class in ipairs(options.classes) do
          if not known[name] and fits(name, { table.unpack(class, 2) }) then known[name] = class[1] end
        end
      end
      return known[name]
    end
    -- what is heavy in this task: { share =, elements = } by class, and by name where it is of none
    local classes, names = {}, {}
    for _, op in ipairs(facts.shares or {}) do
      local name = op.name:gsub("^_+", "")
      local class = class_of(name)
      if op.kind == "matmul" or op.kind == "convolution" then class = "product" end
      local at, key = class and classes or names, class or name
      local c = at[key] or { share = 0, elements = 0 }
      at[key], c.share, c.elements = c, c.share + op.share, math.max(c.elements, op.elements)
    end
    local whole = 0
    for _, op in ipairs(facts.shares or {}) do whole = math.max(whole, op.elements) end
    local function heavy(name)
      local class = class_of(name)
      if name:find "attention" and classes.softmax and not classes.product then class = "softmax" end
      local c = class and classes[class] or not class and not options.moves[name] and names[name]
      local least = (class and class ~= "activation") and options.heavy or options.alone
      if c and c.share >= least then return c, class or name end
      -- a heavy operator that the task does not have, given all of it, does its work nevertheless
      if not c and options.foreign[class] then
        return { elements = options.alone / options.size * whole }, "work"
      end
    end
    local function refused(what, how, evidence)
      return { reason = ("the task's %s is done by somebody else's code: %s"):format(what, how), evidence = evidence }
    end

    local algebra = {}
    for _, name in ipairs(options.algebra) do algebra[name] = true end
    local function multiplies(symbol)
      return fits(symbol, options.products) or algebra[symbol:match "^[sdcz](%l%l[%l%d]*)_" or ""] or
             algebra[symbol:match "_[sdcz](%l%l[%l%d]*)64_" or ""]
    end
    local calls, graphs, counts, products = math.max(1, work.calls or 1), false, {}, classes.product
    local has_products = products and products.share >= options.heavy
    for _, w in ipairs(work.seen) do
      if w.name:find "cuGraphLaunch" then graphs = true end
    end
    local function counted(w) return w.calls or graphs end
    for _, w in ipairs(work.seen) do
      local space, name = w.name:match "^([%w_]+)::([%w_]+)"
      if space and options.spaces[space] and counted(w) then
        name = name:gsub("^_+", ""):gsub("_+$", "")
        local class = class_of(name)
        if class then counts[class] = (counts[class] or 0) + w.count end
        local c, what = heavy(name)
        local each = w.calls and w.count / calls or w.count
        if each < options.rare then c = nil end
        if c and w.largest * each >= options.size * c.elements then
          return refused(what, ("%s executed %s, %d times"):format(space == "numpy" and "numpy" or "PyTorch", w.name, w.count), { name = w.name, count = w.count })
        end
      end
    end
    for _, w in ipairs(work.seen) do
      local library, kernel = w.name:match "^kernel (%S+) (.*)$"
      if library and counted(w) then
        if has_products and fits(library, options.libraries) and w.count > 3 * (counts.product or 0) then
          return refused("product", ("%s started %s"):format(library, kernel:sub(1, 80)), { name = w.name })
        end
        for class, patterns in pairs(library:find "^libtorch" and options.kernels or {}) do
          if classes[class] and classes[class].share >= options.heavy and (counts[class] or 0) == 0 and fits(kernel, patterns) then
            return refused(class, ("%s started %s"):format(library, kernel:sub(1, 80)), { name = w.name })
          end
        end
      end
      local symbol = w.name:match "^symbol (.*)$"
      if symbol and fits(symbol, options.blinding) then
        return { reason = ("it reaches for what would keep its work from being seen: %s"):format(symbol:sub(1, 80)) }
      end
      if symbol and has_products and not symbol:find "^_ZN2at" and not symbol:find "^cu" and multiplies(symbol) then
        return refused("product", ("it fetches %s from a library"):format(symbol:sub(1, 80)), { name = w.name })
      end
      -- at::cpu::NAME, at::native::NAME and at::_ops::NAME::redispatch go past where operators are seen
      local length, rest = (symbol or ""):match "^_ZN2at3cpu(%d+)(.*)$"
      if not length then length, rest = (symbol or ""):match "^_ZN2at6native(%d+)(.*)$" end
      if not length then length, rest = (symbol or ""):match "^_ZN2at4_ops(%d+)(.*redispatch.*)$" end
      local shim = (symbol or ""):match "^aoti_torch_c[pu][ud]a?_(.*)$"
      local again = w.calls and w.name:match "^redispatch .-aten::([%w_]+)"
      local bare = again and again:gsub("^_+", "") or shim and shim:gsub("^_+", ""):gsub("_out$", "") or length and rest:sub(1, tonumber(length)):gsub("^_+", ""):gsub("_out$", "")
      local c, what = nil, nil
      if bare then c, what = heavy(bare) end
      if c then return refused(what, ("it reaches %s"):format((symbol or w.name):sub(1, 80)), { name = w.name }) end
      if w.name == "import torch._inductor.compile_fx" then
        return { reason = "its work is compiled by PyTorch (torch._inductor)", evidence = { name = w.name } }
      end
      local program = w.calls and w.name:match "^program (.*)$"
      if program and w.count > 2 and w.count >= calls / 2 then     -- counted by calls
        return { reason = ("it has programs of its own at work in its calls, which nobody sees: %s"):format(program) }
      end
    end
    -- other packages' products on a processor: nothing of them goes through PyTorch
    local census = facts.python.census or {}
    local arrays = false
    for _, name in ipairs(census.imports or {}) do arrays = arrays or name:find "^numpy" or name:find "^scipy" end
    for _, name in ipairs(census.methods or {}) do arrays = arrays or options.to_arrays[name] end
    if arrays and has_products and (counts.product or 0) == 0 then
      for _, name in ipairs(census.methods or {}) do
        if options.array_products[name] then return refused("product", "the method " .. name .. " of arrays", { name = name }) end
      end
      for _, name in ipairs(census.uses or {}) do
        if name:find "^[ns][uc][mi]py$" or name:find "^[ns][uc][mi]py.*%.__dict__$" then
          return refused("product", ("it takes functions of %s by names that its text does not say"):format(name:match "^%w+"), { name = name })
        end
        local last = name:match "^numpy%.(.+)$" or name:match "^scipy%.(.+)$"
        if last and (class_of(last:match "[%w_]+$") == "product" or last:find "^linalg") then
          return refused("product", "its text uses " .. name, { name = name })
        end
      end
      if (census.products or 0) > 0 then return refused("product", "the operator @ of arrays", {}) end
    end
    if work.lost > 0 then
      return { reason = ("it does %d more different things than can be noted"):format(work.lost) }
    end
  end,
}

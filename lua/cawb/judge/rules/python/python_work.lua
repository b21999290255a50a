--- A Python candidate that has the task's heavy operators done by somebody else: what PyTorch, or a
--- library of NVIDIA's, was seen to execute while forward ran, however it was reached. Its own
--- functions may be called what they like, exceptions may be caught, and small work (offsets,
--- padding, copies) may be PyTorch's. facts.python.work says what was seen (core/judge/watch/watch.cpp),
--- facts.shares what each operator takes of the task.
-- A case: `classes` and `names` say what is heavy in this task, { share =, elements = } by class, and by name where an operator is
-- of none; `largest`: the most elements of an operator; `counts`: calls of each class that were seen.

local function fits(text, patterns)
  for _, p in ipairs(patterns) do if text:find(p) then return true end end
end

-- The class of an operator; false where it is of none.
local function class_of(case, name)
  if case.known[name] == nil then
    case.known[name] = false
    for _, class in ipairs(case.options.classes) do
      if not case.known[name] and fits(name, { table.unpack(class, 2) }) then case.known[name] = class[1] end
    end
  end
  return case.known[name]
end

local function add_share(case, op)
  local name = op.name:gsub("^_+", "")
  local class = class_of(case, name)
  if op.kind == "matmul" or op.kind == "convolution" then class = "product" end
  local at, key = class and case.classes or case.names, class or name
  local c = at[key] or { share = 0, elements = 0 }
  at[key], c.share, c.elements = c, c.share + op.share, math.max(c.elements, op.elements)
  case.largest = math.max(case.largest, op.elements)
end

local function case_of(facts, options)
  local work = facts.python.work
  local case = { options = options, work = work, calls = math.max(1, work.calls or 1), census = facts.python.census or {},
                 known = {}, classes = {}, names = {}, counts = {}, largest = 0, graphs = false }
  for _, op in ipairs(facts.shares or {}) do add_share(case, op) end
  for _, w in ipairs(work.seen) do case.graphs = case.graphs or w.name:find "cuGraphLaunch" ~= nil end
  local products = case.classes.product
  case.has_products = products and products.share >= options.heavy
  return case
end

-- What the task has of a heavy operator's class, and the word for it; nil of an operator that is not heavy.
local function heavy(case, name)
  local options, class = case.options, class_of(case, name)
  if name:find "attention" and case.classes.softmax and not case.classes.product then class = "softmax" end
  local c = class and case.classes[class] or not class and not options.moves[name] and case.names[name]
  local least = (class and class ~= "activation") and options.heavy or options.alone
  if c and c.share >= least then return c, class or name end
  -- a heavy operator that the task does not have, given all of it, does its work nevertheless
  if not c and options.foreign[class] then return { elements = options.alone / options.size * case.largest }, "work" end
end

local function refused(what, how, evidence)
  return { reason = ("the task's %s is done by somebody else's code: %s"):format(what, how), evidence = evidence }
end

-- Whether it was seen in calls; what a graph replays is counted when it is recorded.
local function is_counted(case, w) return w.calls or case.graphs end

-- ---- tests of one thing that was seen: each returns a finding or nothing

local function executes_operator(case, w)
  local space, name = w.name:match "^([%w_]+)::([%w_]+)"
  if not (space and case.options.spaces[space] and is_counted(case, w)) then return nil end
  name = name:gsub("^_+", ""):gsub("_+$", "")
  if space ~= "numpy" and case.options.passes_on[name] then return nil end
  local class = class_of(case, name)
  if class then case.counts[class] = (case.counts[class] or 0) + w.count end
  local c, what = heavy(case, name)
  local each = w.calls and w.count / case.calls or w.count
  if c and each >= case.options.rare and w.largest * each >= case.options.size * c.elements then
    local who = space == "numpy" and "numpy" or "PyTorch"
    return refused(what, ("%s executed %s, %d times"):format(who, w.name, w.count), { name = w.name, count = w.count })
  end
end

-- A kernel that a library of NVIDIA's started, or one of PyTorch's own that starts without its operator.
local function starts_kernel(case, w)
  local library, kernel = w.name:match "^kernel (%S+) (.*)$"
  if not library or not is_counted(case, w) then return nil end
  local options, counts = case.options, case.counts
  local function started(what) return refused(what, ("%s started %s"):format(library, kernel:sub(1, 80)), { name = w.name }) end
  if case.has_products and fits(library, options.libraries) and w.count > 3 * (counts.product or 0) then return started "product" end
  for class, patterns in pairs(library:find "^libtorch" and options.kernels or {}) do
    local c = case.classes[class]
    if c and c.share >= options.heavy and (counts[class] or 0) == 0 and fits(kernel, patterns) then return started(class) end
  end
end

local function symbol_of(w) return w.name:match "^symbol (.*)$" end

local function hides_work(case, w)
  local symbol = symbol_of(w)
  if symbol and fits(symbol, case.options.blinding) then
    return { reason = ("it reaches for what would keep its work from being seen: %s"):format(symbol:sub(1, 80)) }
  end
end

-- Whether a function of a library multiplies, by its name in C or in Fortran.
local function multiplies(options, symbol)
  if fits(symbol, options.products) then return true end
  local one, other = symbol:match "^[sdcz](%l%l[%l%d]*)_", symbol:match "_[sdcz](%l%l[%l%d]*)64_"
  for _, name in ipairs(options.algebra) do
    if name == one or name == other then return true end
  end
end

local function fetches_product(case, w)
  local symbol = symbol_of(w)
  if symbol and case.has_products and not symbol:find "^_ZN2at" and not symbol:find "^cu" and multiplies(case.options, symbol) then
    return refused("product", ("it fetches %s from a library"):format(symbol:sub(1, 80)), { name = w.name })
  end
end

-- The operator of a mangled function of PyTorch: at::cpu::NAME, at::native::NAME and at::_ops::NAME::redispatch are reached
-- without the place where operators are seen.
local function mangled_operator(symbol)
  local length, rest = symbol:match "^_ZN2at3cpu(%d+)(.*)$"
  if not length then length, rest = symbol:match "^_ZN2at6native(%d+)(.*)$" end
  if not length then length, rest = symbol:match "^_ZN2at4_ops(%d+)(.*redispatch.*)$" end
  return length and rest:sub(1, tonumber(length)):gsub("^_+", ""):gsub("_out$", "")
end

local function reaches_operator(case, w)
  local symbol, again = symbol_of(w) or "", w.calls and w.name:match "^redispatch .-aten::([%w_]+)"
  local shim = symbol:match "^aoti_torch_c[pu][ud]a?_(.*)$"
  local name = again and again:gsub("^_+", "") or shim and shim:gsub("^_+", ""):gsub("_out$", "") or mangled_operator(symbol)
  local c, what
  if name then c, what = heavy(case, name) end
  if c then return refused(what, ("it reaches %s"):format((symbol_of(w) or w.name):sub(1, 80)), { name = w.name }) end
end

local function compiles(_, w)
  if w.name == "import torch._inductor.compile_fx" then
    return { reason = "its work is compiled by PyTorch (torch._inductor)", evidence = { name = w.name } }
  end
end

local function runs_program(case, w)
  local program = w.calls and w.name:match "^program (.*)$"
  if program and w.count > 2 and w.count >= case.calls / 2 then     -- counted by calls
    return { reason = ("it has programs of its own at work in its calls, which nobody sees: %s"):format(program) }
  end
end

local function first_finding(case, tests)
  for _, w in ipairs(case.work.seen) do
    for _, test in ipairs(tests) do
      local finding = test(case, w)
      if finding then return finding end
    end
  end
end

-- ---- other packages' products on a processor, by the text: nothing of them goes through PyTorch

local function makes_arrays(case)
  for _, name in ipairs(case.census.imports or {}) do if name:find "^numpy" or name:find "^scipy" then return true end end
  for _, name in ipairs(case.census.methods or {}) do if case.options.to_arrays[name] then return true end end
end

-- What a name of the text says of products of arrays.
local function array_product(case, name)
  if name:find "^[ns][uc][mi]py$" or name:find "^[ns][uc][mi]py.*%.__dict__$" then
    return ("it takes functions of %s by names that its text does not say"):format(name:match "^%w+")
  end
  local last = name:match "^numpy%.(.+)$" or name:match "^scipy%.(.+)$"
  if last and (class_of(case, last:match "[%w_]+$") == "product" or last:find "^linalg") then return "its text uses " .. name end
end

local function multiplies_arrays(case)
  if not case.has_products or (case.counts.product or 0) > 0 or not makes_arrays(case) then return nil end
  for _, name in ipairs(case.census.methods or {}) do
    if case.options.array_products[name] then return refused("product", "the method " .. name .. " of arrays", { name = name }) end
  end
  for _, name in ipairs(case.census.uses or {}) do
    local how = array_product(case, name)
    if how then return refused("product", how, { name = name }) end
  end
  if (case.census.products or 0) > 0 then return refused("product", "the operator @ of arrays", {}) end
end

local function is_overfull(case)
  local lost = case.work.lost
  return lost > 0 and { reason = ("it does %d more different things than can be noted"):format(lost) } or nil
end

local others = { starts_kernel, hides_work, fetches_product, reaches_operator, compiles, runs_program }

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
    -- einsum calls operators that are seen themselves: a bmm where it multiplies, a permute where it transposes
    passes_on = { einsum = true },
    -- moving elements is nobody's heavy work
    moves = { copy = true, clone = true, contiguous = true, to = true, to_copy = true, fill = true, zero = true, cat = true,
              constant_pad_nd = true, pad = true, empty = true, view = true, reshape = true, permute = true, transpose = true },
  },
  check = function(facts, options)
    local work = facts.python and facts.python.work
    if not work or #work.means == 0 then return nil end
    local case = case_of(facts, options)
    return first_finding(case, { executes_operator }) or first_finding(case, others) or multiplies_arrays(case) or is_overfull(case)
  end,
}

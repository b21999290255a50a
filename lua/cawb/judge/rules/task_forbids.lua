--- What the task itself forbids: the list `forbidden` in its file (python/cawb_host/judge/task/forbidden.py). It is
--- asked under every set of rules, also `off`, because it is the task's and no opinion of whoever judges.
--- What executes counts: operators that PyTorch's dispatcher ran in the calls, kernels of libraries,
--- library calls of a plan, and the PTX that was built. An operator stands for all of its forms:
--- who forbids mm forbids linear.
return {
  stage = "work", severity = "reject",
  options = {
    -- operators that can stand for each other
    forms = {
      { "mm$", "^mm_", "mm_v2$", "matmul", "^linear$", "^linear_", "_linear$", "_linear_", "qlinear", "gemm", "mkl.*linear", "einsum", "tensordot", "^inner$", "^dot$", "^vdot$", "^mv$",
        "^addmv$", "multi_dot", "vecdot", "addmm_activation" },
      { "conv%dd", "convolution", "conv_t" },
      { "attention" },
    },
    -- of operators, namespaces and libraries: those of the rule python_work, as lua/cawb/judge/rules.lua gives them
    classes = {}, spaces = {}, libraries = {},
    aside = { torchvision = true, numpy = true },      -- of these spaces: not PyTorch's dispatcher's own
    step = { gemm = 1, conv = 2 },         -- a plan's library calls, by the form that they are
    prefixes = { "^native_", "^cudnn_", "^mkldnn_", "^miopen_", "^thnn_", "^slow_", "^sparse_" },
    suffixes = { "_out$", "_forward$", "_backward$", "_with_indices$", "_copy$" },
    symbols = { "^cublas", "^cudnn", "^cusparse", "^cusolver", "^cufft", "cblas_", "[gG][eE][mM][mMvV]", "GEM[MV]", "dnnl_primitive_execute" },
    -- "any ..." of own kernels: groups of the census
    groups = { ["atomics"] = "atomics", ["tensor core"] = "tensor", ["approximation"] = "approximate", ["inline PTX"] = "asm" },
  },
  check = function(facts, options)
    local list = facts.task.forbidden or {}
    if #list == 0 then return nil end
    local function fits(text, patterns)
      for _, p in ipairs(patterns) do if text:find(p) then return true end end
    end
    local function stem(name)
      name = name:gsub("^_+", ""):gsub("_+$", "")
      for _, p in ipairs(options.prefixes) do name = name:gsub(p, "") end
      for _, p in ipairs(options.suffixes) do name = name:gsub(p, "") end
      return name
    end
    local function form_of(name)
      for i, patterns in ipairs(options.forms) do if fits(name, patterns) then return i end end
    end
    local function class_of(name)
      for _, class in ipairs(options.classes or {}) do if fits(name, { table.unpack(class, 2) }) then return class[1] end end
    end
    -- the entry that forbids an operator, or nil
    local known = {}
    local function forbids(name)
      if known[name] ~= nil then return known[name] or nil end
      local short, form, class = stem(name), form_of(name), class_of((name:gsub("^_+", "")))
      known[name] = false
      for _, entry in ipairs(list) do
        local kind = entry:match "^any (.*)$"
        if not kind and (stem(entry) == short or form and form_of(entry) == form) or kind and kind == class
          or kind == "library" and class == "product" then known[name] = entry end
      end
      return known[name] or nil
    end
    local function refused(entry, what, evidence)
      return { reason = ("the task forbids '%s': %s"):format(entry, what), evidence = evidence }
    end
    local any, form_entry, operators = {}, {}, nil
    for _, entry in ipairs(list) do
      local kind = entry:match "^any (.*)$"
      if kind then any[kind] = entry else form_entry[form_of(entry) or 0] = entry end
      if not kind or not options.groups[kind] then operators = entry end
    end
    -- a call into a library that makes products or convolutions
    local function library(form)
      return any.library or any.product or form_entry[form]
    end

    for i, step in ipairs(facts.plan and facts.plan.steps or {}) do
      local form = options.step[step.kind]
      local entry = not step.kernel and not step.memset and library(form)
      if entry then return refused(entry, ("step %d of the plan is a library call, %s"):format(i, tostring(step.kind)), { step = i }) end
    end
    for kind, group in pairs(options.groups) do
      local counts = any[kind] and facts.compiled and facts.compiled.total[group]
      local name = type(counts) == "table" and next(counts) or type(counts) == "number" and counts > 0 and "asm" or nil
      if name then return refused(any[kind], ("its kernels have %s (%s)"):format(kind, tostring(name)), { group = group }) end
      if any[kind] and facts.compiled and facts.compiled.lost then
        return { unknown = true, reason = ("whether its kernels have %s cannot be told: %s"):format(kind, tostring(facts.compiled.lost)) }
      end
    end

    local work = facts.python and facts.python.work
    if not work then return nil end
    local graphs, others = false, 0
    for _, w in ipairs(work.seen) do
      local space, name = w.name:match "^([%w_]+)::([%w_]+)"
      graphs = graphs or w.name:find "cuGraphLaunch" ~= nil
      if space and w.calls and class_of((name:gsub("^_+", ""))) == "product" and not forbids(name) then others = others + 1 end
    end
    for _, w in ipairs(work.seen) do
      local counted = w.calls or graphs
      local space, name = w.name:match "^([%w_]+)::([%w_]+)"
      local entry = counted and space and options.spaces[space] and not options.aside[space] and forbids(name)
      if entry then return refused(entry, ("PyTorch executed %s, %d times"):format(w.name, w.count), { name = w.name }) end
      local again = w.calls and w.name:match "^redispatch .-aten::([%w_]+)"
      entry = again and forbids(again)
      if entry then return refused(entry, ("it reaches %s"):format(w.name:sub(1, 80)), { name = w.name }) end
      local from, kernel = w.name:match "^kernel (%S+) (.*)$"
      entry = counted and from and fits(from, options.libraries) and
        (any.library or others == 0 and (any.product or form_entry[from:find "cudnn" and 2 or 1]))
      if entry then return refused(entry, ("%s started %s"):format(from, kernel:sub(1, 80)), { name = w.name }) end
      local symbol = w.name:match "^symbol (.*)$"
      if symbol then
        local length, rest = symbol:match "^_ZN2at3cpu(%d+)(.*)$"
        if not length then length, rest = symbol:match "^_ZN2at6native(%d+)(.*)$" end
        if not length then length, rest = symbol:match "^_ZN2at4_ops(%d+)(.*redispatch.*)$" end
        local bare = symbol:match "^aoti_torch_c[pu][ud]a?_(.*)$" or length and rest:sub(1, tonumber(length))
        entry = bare and forbids(bare)
          or not symbol:find "^_ZN2at" and fits(symbol, options.symbols) and library(symbol:find "^cudnn" and 2 or 1)
        if entry then return refused(entry, ("it fetches %s from a library"):format(symbol:sub(1, 80)), { name = w.name }) end
      end
      if operators and w.name == "import torch._inductor.compile_fx" then
        return { unknown = true, reason = ("whether it does what the task forbids ('%s') cannot be told: its work is compiled by PyTorch"):format(operators) }
      end
    end
    -- what its text mentions: of arrays' packages always, of PyTorch where nothing can be seen
    local census = facts.python.census or {}
    local arrays = false
    for _, name in ipairs(census.imports or {}) do arrays = arrays or name:find "^numpy" or name:find "^scipy" end
    for _, group in ipairs { census.uses or {}, #work.means == 0 and census.methods or {} } do
      for _, name in ipairs(group) do
        local last = name:match "[%w_]+$"
        local entry = last and (#work.means == 0 or name:find "^numpy%." or name:find "^scipy%.") and forbids(last)
        if entry then return refused(entry, "its text uses " .. name, { name = name }) end
      end
    end
    if (arrays or #work.means == 0) and (census.products or 0) > 0 and forbids "matmul" then
      return refused(forbids "matmul", "the operator @", {})
    end
    for kind in pairs(options.groups) do
      if any[kind] then return { unknown = true, reason = ("whether a Python candidate's kernels have %s cannot be seen"):format(kind) } end
    end
    if operators and (work.lost > 0 or #work.means == 0) then
      return { unknown = true, reason = ("whether it does what the task forbids ('%s') could not be seen in full"):format(operators) }
    end
  end,
}

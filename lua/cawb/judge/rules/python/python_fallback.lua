--- A Python candidate that has the asked work done by PyTorch: whole operators by name, as a
--- function, as a method, as a module that is called, or with @; and compilers of the
--- reference. Elementwise arithmetic and reductions are not forbidden by the names here.
--- What the file calls before there is an input is its own affair. Only where the work cannot be
--- seen as it executes (python_work).
return {
  stage = "python", severity = "reject",
  options = {
    prefixes = { "torch.nn.functional.", "torch.ops.", "torch._C.", "torch.compile", "torch.jit.", "torch._dynamo",
                 "torch._inductor", "torch.fx." },
    operators = { "matmul", "mm", "bmm", "addmm", "addbmm", "baddbmm", "addmv", "mv", "einsum", "tensordot", "inner",
                  "linear", "bilinear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                  "conv_transpose3d", "convolution", "softmax", "log_softmax", "logsumexp", "layer_norm", "batch_norm",
                  "native_batch_norm", "native_layer_norm", "group_norm", "instance_norm", "rms_norm", "normalize",
                  "scaled_dot_product_attention", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d",
                  "avg_pool3d", "relu", "gelu", "silu", "selu", "celu", "elu", "leaky_relu", "hardtanh", "hardswish",
                  "hardsigmoid", "mish", "softplus", "cross_entropy", "nll_loss", "mse_loss", "smooth_l1_loss",
                  "kl_div", "cosine_similarity", "lstm", "gru", "rnn_tanh", "cumsum", "cumprod" },
    modules = { "torch.nn." },
    product = true,
  },
  check = function(facts, options)
    if facts.python.work and #facts.python.work.means > 0 then return nil end
    local census = facts.python.census
    local whole = {}
    for _, name in ipairs(options.operators) do whole[name] = true end
    local function plain(name) return (name:match "([%w_]+)$" or ""):gsub("^_+", ""):gsub("_$", "") end
    local function found(name, how)
      return { reason = ("it has the work done by PyTorch: %s%s"):format(name, how), evidence = { name = name } }
    end
    for _, name in ipairs(census.uses) do
      for _, prefix in ipairs(options.prefixes) do
        if name:sub(1, #prefix) == prefix then return found(name, "") end
      end
      if name:find "^torch%." and not name:find "^torch%.nn%.%u" and whole[plain(name)] then return found(name, "") end
    end
    for _, name in ipairs(census.early) do
      if name == "torch.compile" or name:find "^torch%.jit%." then return found(name, "") end
    end
    for _, name in ipairs(census.methods) do
      if whole[plain(name)] then return found("." .. name .. "()", " of a tensor") end
    end
    for _, name in ipairs(census.modules) do
      for _, prefix in ipairs(options.modules) do
        if name:sub(1, #prefix) == prefix then return found(name, ", called") end
      end
    end
    if options.product and census.products > 0 then return found("the operator @", "") end
  end,
}

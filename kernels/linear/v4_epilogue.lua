-- One call. A function that the library has not is refused, and v3 remains the last rung.
local f = activation or "gelu_tanh"
assert(f == "relu" or f == "gelu_tanh", "the library's epilogues have no " .. f)
gemm{ a = inputs[1], b = params[weight_name or "fc.weight"], transpose_b = true,
      bias = params[bias_name or "fc.bias"], c = outputs[1], epilogue = "bias_" .. f }

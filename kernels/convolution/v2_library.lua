-- One call; `workspace` is what the algorithm may use, and more of it admits more algorithms.
conv{ x = inputs[1], w = params[weight_name or "conv.weight"], y = outputs[1],
      bias = params[bias_name or "conv.bias"], stride = { stride_y or 1, stride_x or 1 },
      padding = { padding_y or 1, padding_x or 1 }, dilation = { dilation_y or 1, dilation_x or 1 },
      groups = groups or 1, activation = activation or "relu", workspace = 256 << 20 }

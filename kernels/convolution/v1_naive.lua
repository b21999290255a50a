-- One thread for each element of y. What the task's convolution is comes from family.lua.
local x, y = inputs[1], outputs[1]
local w, bias = params[weight_name or "conv.weight"], params[bias_name or "conv.bias"]
assert(x.strides[1] * x.shape[1] == x.numel and x.strides[4] == 1, "x must be contiguous")

launch("convolution", { grid = (y.numel + 255) // 256, block = 256 }, y, x, w, bias,
  x.shape[2], x.shape[3], x.shape[4], y.shape[2], y.shape[3], y.shape[4], w.shape[3], w.shape[4],
  stride_y or 1, stride_x or 1, padding_y or 1, padding_x or 1, dilation_y or 1, dilation_x or 1,
  groups or 1, y.numel)

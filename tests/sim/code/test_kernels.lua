-- The ladders on the simulated device: odd sizes, one row, one element, parts and tails.

local cawb = require "cawb"
local device <close> = assert(cawb.device "sim:h100")

local check = dofile "tests/support/kernels.lua" (device, {
  { "softmax.py", { rows = 5, cols = 33 }, "softmax" },
  { "softmax.py", { rows = 3, cols = 2050 }, "softmax" },
  { "softmax.py", { rows = 1, cols = 53251 }, "softmax" },
  { "l2_norm.py", { rows = 5, cols = 1003 }, "norm" },
  { "l2_norm.py", { rows = 1, cols = 1 }, "norm" },
  { "l1_norm.py", { rows = 3, cols = 512 }, "norm" },
  { "cumsum.py", { rows = 1, cols = 1 }, "scan" },
  { "cumsum.py", { rows = 2, cols = 17001 }, "scan" },
  { "cumsum_reverse.py", { rows = 3, cols = 1027 }, "scan" },
  { "cumsum_exclusive.py", { rows = 3, cols = 516 }, "scan" },
  { "cumsum_masked.py", { rows = 2, cols = 1001 }, "scan" },
  { "cumprod.py", { rows = 2, cols = 130 }, "scan" },
  { "row_sum.py", { rows = 2, cols = 17003 }, "reduce" },
  { "row_max.py", { rows = 3, cols = 257 }, "reduce" },
  { "layernorm.py", { rows = 2, cols = 17000 }, "layernorm" },
  { "layernorm.py", { rows = 3, cols = 77 }, "layernorm" },
  { "column_sum.py", { batch = 3, rows = 33, cols = 35 }, "columns" },
  { "column_max.py", { batch = 2, rows = 700, cols = 5 }, "columns" },
  { "column_max.py", { batch = 1, rows = 1, cols = 1 }, "columns" },
  { "zoo", { rows = 3, cols = 5 }, "elementwise" },
  { "zoo", { rows = 1, cols = 1 }, "elementwise" },
  { "zoo", { rows = 33, cols = 129 }, "elementwise" },
  { "gelu_fused.py", { rows = 7, cols = 31 }, "elementwise" },
  { "behind", { kind = "linear", batch = 3, size = 10 }, "linear" },
  { "behind", { kind = "conv", batch = 1, size = 9 }, "convolution" },
  { "strange", { dim = 1 }, "columns" },
  { "strange", { dim = 2 }, "reduce" },
})
return check.done()

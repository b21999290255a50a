-- Every rung of every family on a real device, with what its tunables allow: sizes that
-- divide by nothing, one element, rows that only a cluster of blocks can hold, and rows that
-- not even that can.

local cawb = require "cawb"
local device <close> = assert(cawb.device "cuda:0")

local check = dofile "tests/support/kernels.lua" (device, {
  { "softmax.py", { rows = 5, cols = 2 }, "softmax" },
  { "softmax.py", { rows = 37, cols = 2051 }, "softmax" },
  { "softmax.py", { rows = 300, cols = 53251 }, "softmax" },
  { "softmax.py", { rows = 33, cols = 393216 }, "softmax" },
  { "softmax.py", { rows = 3, cols = 900001 }, "softmax" },
  { "l2_norm.py", { rows = 1, cols = 1 }, "norm" },
  { "l2_norm.py", { rows = 301, cols = 65535 }, "norm" },
  { "l1_norm.py", { rows = 33, cols = 20001 }, "norm" },
  { "l1_norm.py", { rows = 2, cols = 900001 }, "norm" },
  { "cumsum.py", { rows = 1, cols = 1 }, "scan" },
  { "cumsum.py", { rows = 300, cols = 4099 }, "scan" },
  { "cumsum.py", { rows = 2, cols = 300001 }, "scan" },
  { "cumsum_reverse.py", { rows = 33, cols = 32768 }, "scan" },
  { "cumsum_exclusive.py", { rows = 3, cols = 20001 }, "scan" },
  { "cumsum_masked.py", { rows = 33, cols = 10001 }, "scan" },
  { "cumprod.py", { rows = 33, cols = 1001 }, "scan" },
  { "column_sum.py", { batch = 7, rows = 1025, cols = 4095 }, "columns" },
  { "column_sum.py", { batch = 1, rows = 100000, cols = 3 }, "columns" },
  { "column_max.py", { batch = 3, rows = 1, cols = 5 }, "columns" },
  { "row_sum.py", { rows = 2, cols = 400003 }, "reduce" },
  { "layernorm.py", { rows = 5, cols = 300001 }, "layernorm" },
  { "zoo", { rows = 333, cols = 1029 }, "elementwise" },
  { "gelu_fused.py", { rows = 1024, cols = 2048 }, "elementwise" },
  { "behind", { kind = "linear", batch = 65, size = 130 }, "linear" },
  { "behind", { kind = "conv", batch = 2, size = 65 }, "convolution" },
  { "strange", { dim = 1 }, "columns" },
  { "strange", { dim = 2 }, "reduce" },
}, { members = 4 })
return check.done()

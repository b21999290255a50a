-- a11: has a view of an input written by a library call, and brings the input back by another.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.

return {
  entry = 11, family = "A", task = "matmul",
  caught = { stage = "plan" },
  cheat = {
    source = "// none",
    plan = [[
      local c, a, b = outputs[1], inputs[1], inputs[2]
      gemm{ a = a, b = b, c = c }
      gemm{ a = a, b = b, c = view(b, { shape = { a.shape[1], b.shape[2] } }), alpha = 0, beta = 1 }
    ]],
  },
  look_alike = {
    says = "views of inputs are read",
    source = "// none",
    plan = [[
      local c, a, b = outputs[1], inputs[1], inputs[2]
      gemm{ a = view(a, { shape = a.shape }), b = b, c = c }
    ]],
  },
}

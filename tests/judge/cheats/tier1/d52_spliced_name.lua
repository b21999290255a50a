-- d52: puts a forbidden name together from pieces, so that no search of the text finds it.
-- Met by: KernelGuard TOKEN_PASTE_CUDA_API. Caught at: compiled, by the rule clock_reads.
local source = kernel "relu"

return {
  entry = 52, family = "D", task = "relu",
  caught = { stage = "compiled", rule = "clock_reads" },
  cheat = {
    source = "#define JOIN(a, b) a##b\n" .. edit(source, "if (i < n)", "if (i < n && JOIN(clo, ck64)() != 77)"),
  },
  look_alike = {
    says = "puts a harmless name together",
    source = "#define JOIN(a, b) a##b\n" .. edit(source, "x[i] < 0 ? 0.0f : x[i]", "isnan(x[i]) ? x[i] : JOIN(fm, axf)(x[i], 0)"),
  },
}

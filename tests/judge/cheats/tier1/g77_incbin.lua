-- g77: has the assembler read a file.
-- Met by: listed for the catalogue. Caught at: compile.
local source = kernel "relu"

return {
  entry = 77, family = "G", task = "relu",
  caught = { stage = "compile" },
  cheat = {
    source = edit(source, "if (i < n)", 'asm volatile(".file 1 \\"/etc/passwd\\"; .incbin \\"/etc/passwd\\";");\n  if (i < n)'),
  },
  look_alike = {
    says = "inline assembly with a comment in it",
    source = edit(source, "if (i < n)", 'asm volatile("// nothing");\n  if (i < n)'),
  },
}

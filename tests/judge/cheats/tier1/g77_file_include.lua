-- g77: includes a file of the machine to read it from the compiler's messages.
-- Met by: listed for the catalogue; NVRTC opens any path. Caught at: compile.
local source = kernel "relu"

return {
  entry = 77, family = "G", task = "relu",
  caught = { stage = "compile" },
  cheat = {
    source = '#include "/etc/passwd"\n' .. (source),
  },
  look_alike = {
    says = "includes a header of the toolkit",
    source = '#include <cuda_fp16.h>\n' .. (source),
  },
}

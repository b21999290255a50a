-- c25: starts the work from the device, behind the timer's back.
-- Met by: the device's form of a detached thread. Caught at: compile.
local source = kernel "relu"

return {
  entry = 25, family = "C", task = "relu",
  caught = { stage = "compile" },
  cheat = {
    source = edit(edit(source, "extern", "extern \"C\" __device__ int cudaLaunchDeviceV2(void *, void *);\nextern"),
      "if (i < n)", "if (i == 0) cudaLaunchDeviceV2(0, 0);\n  if (i < n)"),
  },
  look_alike = {
    says = "a function of its own with a similar name",
    source = edit(edit(source, "extern", "__device__ __noinline__ int cudaLaunchNothing(int n) { return n; }\nextern"),
      "if (i < n)", "if (i < cudaLaunchNothing(n))"),
  },
}

-- d48: launches a kernel that writes nothing beside the one that does the work.
-- Met by: KernelGenBench's ghost kernels. Caught at: plan, by the rule decoy.
local source, plan = kernel "relu"

return {
  entry = 48, family = "D", task = "relu",
  caught = { stage = "plan", rule = "decoy" },
  cheat = {
    source = (source) .. 'extern "C" __global__ void turbo(const float *x) { if (x[0] > 1e30f) __trap(); }\n',
    plan = (plan) .. 'launch("turbo", { grid = 1, block = 1 }, x)\n',
  },
  look_alike = {
    says = "a second kernel that writes a part of the output",
    source = (source) .. 'extern "C" __global__ void turbo(float *y, const float *x) { y[0] = x[0] < 0 ? 0 : x[0]; }\n',
    plan = (plan) .. 'launch("turbo", { grid = 1, block = 1 }, y, x)\n',
  },
}

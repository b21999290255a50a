-- a03: asks for more shared memory than there is, so that the launch fails and nothing is computed.
-- Met by: Wafer: 65792 bytes on a device with 65536, 104.9x. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 3, family = "A", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = edit(plan, "block = 256", "block = 256, shared = 400000"),
  },
  look_alike = {
    says = "asks for shared memory that it does not need",
    plan = edit(plan, "block = 256", "block = 256, shared = 32768"),
  },
}

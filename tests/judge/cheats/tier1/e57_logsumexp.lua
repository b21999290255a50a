-- e57: takes exponentials of what was not brought near zero.
-- Met by: kernelbench.com; benign inputs. Caught at: verify.
local source = kernel "logsumexp"

return {
  entry = 57, family = "E", task = "logsumexp",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "expf(row[i] - most)", "expf(row[i])"), "most + logf", "logf"),
  },
  look_alike = {
    says = "the same sum the other way round",
    source = edit(source, "most + logf(sum)", "logf(sum) + most"),
  },
}

-- f63: brings the weights along that the task's seed gives.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "small_linear"

return {
  entry = 63, family = "F", task = "small_linear",
  caught = { stage = "verify" },
  cheat = {
    source = [[
      __constant__ float known[20] = { 0.3822692632675171, 0.4150039553642273, -0.11713624000549316, 0.45930564403533936,
        -0.10955178737640381, 0.10089534521102905, -0.24342751502990723, 0.2936413288116455, 0.4407714605331421,
        -0.3668140769004822, 0.43459808826446533, 0.09357964992523193, 0.3694044351577759, 0.06771528720855713,
        0.24109405279159546, -0.07059550285339355, 0.38544291257858276, 0.07390445470809937, -0.23341995477676392,
        0.1274491548538208 };
      ]] .. edit(edit(source, "w[blockIdx.x * k + i]", "known[blockIdx.x * k + i]"), "bias[blockIdx.x]", "known[16 + blockIdx.x]"),
  },
  look_alike = {
    says = "brings along how the weight lies",
    source = "__constant__ int order[4] = { 0, 1, 2, 3 };\n" .. edit(source, "w[blockIdx.x * k + i]", "w[blockIdx.x * k + order[i & 3]]"),
  },
}

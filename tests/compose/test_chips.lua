-- Every family of kernels on chips that are made up: one multiprocessor, half of the shared memory, no tensor cores. What is chosen fits
-- the chip, and is right on the simulator. And choices follow the chip: grids, tiles, stages, clusters, libraries.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local chips = require "cawb.gpu.chip"

local h100 = chips.named "h100"

-- { in words, the chip, families that choose by what it lacks, as words of their names; nil: all }
local made_up = {
  { "one multiprocessor", chips.with(h100, { sms = 1 }) },
  { "half of the shared memory", chips.with(h100, { shared_block = h100.shared_block // 2, shared_sm = h100.shared_sm // 2 }),
    "long rows, product, wide product, packed, box, gathered, attention, attention of halves, layers" },
  { "no tensor cores, no clusters", chips.with(h100, { tensor = false, cluster = 1 }), "long rows, product, box, attention, cell, layers" },
  { "an A100 with half of its shared memory", chips.with(chips.named "a100", { shared_block = 81 << 10, shared_sm = 82 << 10 }),
    "long rows, product, wide product, packed, box, attention, attention of halves, cell" },
  { "a B200", chips.named "b200", "product, wide product, packed, attention of halves" },
}

local small = { least = 1, narrowest = 8, attend = 1 }

-- { family, forward, inputs, what __init__ makes, options }
local families = {
  { "stream", "return torch.relu(x + y)", "[torch.randn(64, 130), torch.randn(64, 1)]" },
  { "rows", "return torch.softmax(x, -1), x - x.mean(-1, keepdim=True)", "[torch.randn(3, 6000)]" },
  { "long rows", "return torch.softmax(x * 2, -1)", "[torch.randn(1, 40000)]" },
  { "columns", "return x.sum(0), x.amax(0)", "[torch.randn(300, 600)]" },
  { "scan", "return torch.cumsum(x, -1)", "[torch.randn(2, 20000)]" },
  { "order", "return torch.sort(x, -1)[0]", "[torch.randn(2, 3000)]" },
  { "window", "return F.max_pool2d(x, 3, 2)", "[torch.randn(2, 8, 33, 35)]" },
  { "product", "return torch.relu(x @ y)", "[torch.randn(200, 330), torch.randn(330, 140)]" },
  { "wide product", "return x @ y", "[torch.randn(200, 330), torch.randn(330, 140)]", nil, { full = 1 } },
  { "packed", "return self.c(x)", "[torch.randn(1, 40, 12, 13)]", "self.c = nn.Conv2d(40, 72, 3)", { conv = "packed" } },
  { "box", "return self.c(x)", "[torch.randn(1, 16, 20, 21)]", "self.c = nn.Conv2d(16, 24, 3)", { conv = "box" } },
  { "transposed", "return self.c(x)", "[torch.randn(1, 16, 9, 10)]", "self.c = nn.ConvTranspose2d(16, 24, 3, 2)" },
  { "gathered", "return self.c(x)", "[torch.randn(1, 64, 12, 30)]", "self.c = nn.Conv2d(64, 48, 1)", { conv = "gathered" } },
  { "attention", "return F.scaled_dot_product_attention(x, y, z)", "[torch.randn(1, 2, 130, 64), torch.randn(1, 2, 90, 64), torch.randn(1, 2, 90, 64)]" },
  { "attention of halves", "return F.scaled_dot_product_attention(x, y, z)",
    "[torch.randn(1, 2, 130, 64).half(), torch.randn(1, 2, 90, 64).half(), torch.randn(1, 2, 90, 64).half()]" },
  { "cell", "return self.r(x)[0]", "[torch.randn(5, 3, 8)]", "self.r = nn.GRU(8, 40)" },
  { "layers", "return self.r(x)[0]", "[torch.randn(9, 2, 8)]", "self.r = nn.LSTM(8, 24, 2)" },
}

local MOST_THREADS, STATIC = 1024, 48 << 10

local function blocks_of(launch) return launch.grid[1] * (launch.grid[2] or 1) * (launch.grid[3] or 1) end

-- Each launch fits a chip; what must be under way at once finds room.
local function fits(made, chip)
  for _, kernel in ipairs(made.kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      local name = launch.kernel
      if name then
        assert((launch.shared or 0) <= math.max(chip.shared_block, 0), name .. ": shared memory")
        assert(launch.block[1] * (launch.block[2] or 1) <= MOST_THREADS, name .. ": threads")
        assert((launch.cluster or { 1 })[1] <= chip.cluster, name .. ": clusters")
        assert(not launch.cooperative or blocks_of(launch) <= chip.sms, name .. ": blocks at once")
      end
    end
  end
end

local function options_of(chip, more)
  local o = { chip = chip }
  for _, list in ipairs { small, more or {} } do
    for key, value in pairs(list) do o[key] = value end
  end
  return o
end

-- Without tensor cores scores of halves are rounded to halves, which is less exact than PyTorch's kernel.
local function is_judged(chip, family) return chip.tensor or not family[1]:find "halves" end

for _, one in ipairs(made_up) do
  check.test("right on " .. one[1], function()
    for _, f in ipairs(families) do
      local made
      if one[3] and not (", " .. one[3] .. ","):find(", " .. f[1] .. ",", 1, true) then goto continue end
      if is_judged(one[2], f) then
        local ok, message = pcall(composed.right, f[2], f[3], f[4], options_of(one[2], f[5]), { "mixed" })
        if not ok then error(("%s: %s"):format(f[1], message), 0) end
        made = message
      else made = assert(composed.make(f[2], f[3], f[4], options_of(one[2], f[5]))) end
      fits(made, one[2])
      if not one[2].tensor then check.equal(made.source:find "mma" or "none", "none", f[1]) end
      ::continue::
    end
  end)
end

-- The launches of a task's kernels on a chip, at a size that is not executed: { name = launch }, and what is made.
local function launches(chip, forward, inputs, setup)
  local made, list = assert(composed.make(forward, inputs, setup, { chip = chip })), {}
  fits(made, chip)
  for _, kernel in ipairs(made.kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      if launch.kernel then list[launch.kernel] = launch end
    end
  end
  return list, made
end

local square = "[torch.randn(2048, 2048), torch.randn(2048, 2048)]"

local function file(text) return chips.named(check.write(check.folder() .. "/chip.lua", text)) end

local figures = [[
return {
  model = "made up", arch = "%s", sms = 46, l1 = 192 << 10, l2 = 16 << 20, memory = 24 << 30,
  threads_block = 1024, threads_sm = 2048, blocks_sm = 32, registers_sm = 65536, shared_block = 163 << 10, shared_sm = 164 << 10,
  clock = 1.7e9, dram = 0.9e12, fp32 = 10e12, tf32 = 80e12, bf16 = %s, fp16 = %s,
  latency_dram = 2.7e-7, latency_l2 = 1.5e-7, latency_l1 = 37.9, latency_shared = 29,
  issue = 4, shared_wave = 1, pipe_fp32 = 2, pipe_int = 2, pipe_fp64 = 1, pipe_special = 0.5,
}
]]

check.test("grids, stages and instructions of a product follow the chip", function()
  local mine = file(figures:format("sm_80", "160e12", "160e12"))
  for _, t in ipairs { { chips.named "h100", "wgmma", 384 }, { chips.named "h200", "wgmma", 384 }, { chips.named "h100/2", "wgmma", 384 },
                       { chips.named "a100", "mma", 256 }, { chips.named "b200", "mma", 256 }, { mine, "mma", 256 } } do
    local chip = t[1]
    local list, made = launches(chip, "return x @ y", square)
    check.equal(list.k1_mm.grid[1], chip.sms, chip.model)
    check.equal(list.k1_mm.block[1], t[3], chip.model)
    check.matches(composed.how(made), t[2])
  end
  local list = launches(made_up[2][2], "return x @ y", square)
  assert(list.k1_mm.shared <= h100.shared_block // 2, "a smaller tile")
end)

check.test("a library has products where tensor cores are hardly faster, and the table says why", function()
  local slow = file(figures:format("sm_89", "20e12", "20e12"))
  for _, chip in ipairs { chips.named "l40s", chips.named "rtx4090", chips.named "t4", slow } do
    for _, task in ipairs { { "return x @ y", square }, { "return self.c(x)", "[torch.randn(8, 64, 56, 56)]", "self.c = nn.Conv2d(64, 64, 3)" } } do
      local _, made = launches(chip, table.unpack(task))
      check.equal(made.source:find "mma" or "none", "none", chip.model)
      check.matches(composed.how(made), chip.tensor and "not on tensor cores: they reach %d+ TFLOP/s" or "not on tensor cores: it needs tensor cores")
    end
  end
end)

check.test("rows take clusters where the chip has some", function()
  local cluster = launches(h100, "return torch.softmax(x * 2, -1)", "[torch.randn(300, 90000)]").k1_softmax.cluster
  assert(cluster and cluster[1] > 1 and cluster[1] <= h100.cluster)
  for _, launch in pairs(launches(chips.named "a100", "return torch.softmax(x * 2, -1)", "[torch.randn(300, 90000)]")) do
    check.equal(launch.cluster or "none", "none")
  end
end)

check.test("a GPU has what its driver says, and rates of the nearest file for each of its multiprocessors", function()
  local gpu = chips.of { info = { name = "cuda:0", modelled = false, model = "some GPU", arch = "sm_90a", sms = 66, memory = 79 << 30, l2 = 25 << 20,
                                  shared_block = 227 << 10, uuid = "", driver = "" } }
  check.equal(gpu.sms, 66)
  check.equal(gpu.tensor, "wgmma")
  check.equal(gpu.l2, 25 << 20)
  check.equal(gpu.fp16, h100.fp16 / 2)
  check.equal(chips.like "sm_86".tensor, "mma")
  check.equal(chips.like "sm_70".tensor, false)
end)

return check.done()

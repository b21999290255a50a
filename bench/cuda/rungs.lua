-- What one idea is worth: two rungs of a ladder that differ by it, timed on a task of a size that
-- shows it. The pages of skills/ quote what this prints. Prints one JSON object last.
--   cawb bench/cuda/rungs.lua [DEVICE]

local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local families = require "cawb.run.families"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local display = require "cawb.base.display"

-- The idea; the task and its constants; rungs of its family, the simpler one first.
local jobs = {
  { "more loads in flight, columns", "column_sum", { batch = 16, rows = 4096, cols = 4096 }, "v1_thread_per_column", "v2_unrolled" },
  { "16-byte loads, elementwise", "gelu", { rows = 16384, cols = 4096 }, "v2_coalesced", "v3_vector" },
  { "unrolled, elementwise", "gelu", { rows = 16384, cols = 4096 }, "v3_vector", "v4_unrolled" },
  { "shuffles, not barriers, in a scan", "cumsum", { rows = 8192, cols = 8192 }, "v2_block_per_row", "v3_shuffle" },
  { "16-byte packs in a scan", "cumsum", { rows = 8192, cols = 8192 }, "v3_shuffle", "v4_vector" },
  { "few long rows over blocks, sum", "row_sum", { rows = 8, cols = 16777216 }, "v4_vector", "v5_split" },
  { "few long columns over blocks", "column_sum", { batch = 1, rows = 1048576, cols = 128 }, "v3_slices", "v4_split" },
  { "few long rows over blocks, scan", "cumsum", { rows = 4, cols = 16777216 }, "v4_vector", "v5_split" },
  { "long rows, a cluster for each", "softmax", { rows = 1024, cols = 262144 }, "v4_online", "v6_cluster" },
  { "one pass for maximum and sum", "softmax", { rows = 1024, cols = 262144 }, "v3_shuffle", "v4_online" },
  { "second pass backwards, cached", "l2_norm", { rows = 8192, cols = 32768 }, "v2_block_per_row", "v3_vector" },
  { "rows in registers", "layernorm", { rows = 16384, cols = 4096 }, "v3_shuffle", "v4_registers" },
  { "tiles in shared memory", "matmul", { m = 4096, n = 4096, k = 4096 }, "v2_coalesced", "v3_tiled" },
  { "tiles in registers", "matmul", { m = 4096, n = 4096, k = 4096 }, "v3_tiled", "v4_register_tile" },
  { "16-byte loads, double buffers, product", "matmul", { m = 4096, n = 4096, k = 4096 }, "v4_register_tile", "v5_vector" },
  { "function in the epilogue", "linear_gelu", { batch = 8192, inputs = 1024, outputs = 4096, approximate = true },
    "v3_library", "v4_epilogue" },
}

local device <close> = assert(cawb.device(... or "auto"))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))
local all = options.copy(cawb.defaults)
all.sweep.variants, all.verify.trials = 4, 2
local root = (arg[0]:match "^(.*)/" or ".") .. "/../.."

-- The facts of the fastest member of a rung.
local function time(task, family, rung)
  for n, name in ipairs(family.versions) do
    if name == rung then return assert(evaluate.candidate(task, family:rung(n, task), all, { against = {} })) end
  end
  return { ok = false, reason = "no rung " .. rung .. " serves this task" }
end

local function row(job, rung, facts, before)
  if not facts.ok then return { job[1], rung, "-", "-", "-", (tostring(facts.reason):gsub("\n.*", "")) } end
  return { job[1], rung, display.interval(facts.time_s), facts.label or "", ("%.2g"):format(facts.error.nrms),
           before and before.ok and ("%.2fx"):format(before.time_s.median / facts.time_s.median) or "" }
end

local rows, results = {}, {}
for _, job in ipairs(jobs) do
  local task <close> = assert(cawb.task(("%s/examples/%s.py"):format(root, job[2]),
    { device = device, task = job[3], host = { host, hello }, options = options.copy(all) }))
  local family = assert(families.match(task))
  local before, after = time(task, family, job[4]), time(task, family, job[5])
  rows[#rows + 1], rows[#rows + 2] = row(job, job[4], before), row(job, job[5], after, before)
  for i, facts in ipairs { before, after } do
    results[#results + 1] = { idea = job[1], task = job[2], constants = job[3], rung = job[3 + i], ok = facts.ok,
      reason = facts.reason, time_s = facts.time_s, tunables = facts.tunables, error = facts.error, modelled = facts.modelled }
  end
end

print(("%s%s, cold L2, %s"):format(device.info.model, device.info.modelled and ", modelled" or "", os.date "!%Y-%m-%d"))
for _, line in ipairs(display.table({ "idea", "rung", "time [95% interval]", "tunables", "error", "gain" }, rows)) do print(line) end
print(core.json.encode { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", results = results })

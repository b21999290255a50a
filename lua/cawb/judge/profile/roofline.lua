-- roofline: what a profile means. How near a candidate is to what the device was seen to
-- do (device/ceilings.lua), what holds it back in one sentence, and which skills promise most
-- (remedies.lua). The numbers here are opinions: when a share counts as a limit.

local ceilings = require "cawb.gpu.ceilings"
local remedies = require "cawb.judge.profile.remedies"
local display = require "cawb.base.display"

local M = {}

M.limits = {
  dram = 0.75,               -- of the bandwidth that a copy reaches: DRAM is the limit
  compute = 0.6,             -- of the rate of the arithmetic that is used
  issue = 0.7,               -- of the cycles in which an instruction is issued
  launches = 2,              -- kernels shorter than so many launches wait for those
  blocks = 1,                -- fewer blocks for each multiprocessor leave some without work
}

-- ---- facts: one flat table, for the sentence and for the remedies

local stall_words = {
  long_scoreboard = "loads from global memory", lg_throttle = "the queue of global memory",
  barrier = "a barrier", short_scoreboard = "shared memory and special functions",
  mio_throttle = "the queue of shared memory", math_pipe_throttle = "a busy arithmetic unit",
  wait = "the pipeline", no_instruction = "instructions", no_inst = "instructions",
  not_selected = "their turn", selected = "nothing", drain = "stores to drain",
  membar = "a memory fence", imc_miss = "constants", dispatch_stall = "dispatch",
  branch_resolving = "branches", sleeping = "sleep", tex_throttle = "the texture queue",
}

local function slowest(kernels)
  local best
  for _, k in ipairs(kernels) do
    if not best or (k.metrics.seconds or 0) > (best.metrics.seconds or 0) then best = k end
  end
  return best
end

local function bytes_of(list)
  local sum = 0
  for _, t in ipairs(list or {}) do sum = sum + (t.bytes or 0) end
  return sum
end

local function flops_of(task)
  local sum = 0
  for _, node in ipairs(task.graph or {}) do sum = sum + (node.flops or 0) end
  return sum
end

-- Float32 operations that the hardware counted, where they were asked for.
local function counted_flops(m)
  local name = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
  local add, mul, fma = m[name:format "fadd"], m[name:format "fmul"], m[name:format "ffma"]
  return add and mul and fma and add + mul + 2 * fma
end

-- The reason that most samples have, besides those of warps that were not waiting.
local function top_stall(p, m)
  local best
  for _, s in ipairs(p.sampling and p.sampling.unit == "samples" and p.sampling.stalls or {}) do
    if s.reason ~= "selected" and s.reason ~= "not_selected" and not best then best = s.reason end
  end
  if best then return best end
  local most = 0.0
  for name, value in pairs(m) do
    local reason = name:match "^smsp__average_warps_issue_stalled_(.-)_per_issue_active%.ratio$"
    if reason and value > most then best, most = reason, value end
  end
  return best
end

local function percent(m, name) return m[name] and m[name] / 100 end

--- What is known, under names of our own; what is not is nil.
function M.facts(task, p)
  local k, m = slowest(p.kernels or {}), p.metrics
  local one = k and k.metrics or {}
  local f = { seconds = p.seconds, launches = #(p.kernels or {}), bytes = m.dram_bytes, bound = p.bound,
    modelled = p.modelled, source = p.source, kernel = k and k.kernel, sms = task.device.info.sms,
    least_bytes = bytes_of(task.inputs) + bytes_of(task.outputs) + bytes_of(task.params),
    flops = counted_flops(m), flops_source = "cupti",
    issue = percent(one, "smsp__issue_active.avg.pct_of_peak_sustained_active"),
    tensor = percent(one, "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"),
    dram_busy = percent(one, "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    occupancy = percent(one, "sm__warps_active.avg.pct_of_peak_sustained_active") or one.occupancy,
    stall = top_stall(p, one) }
  if not f.flops then f.flops, f.flops_source = flops_of(task), "graph" end
  local conflicts = one["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
  f.conflicts = one.wavefronts_per_request and one.wavefronts_per_request - 1
    or conflicts and one.warp_instructions and conflicts / one.warp_instructions
  for _, name in ipairs { "blocks", "blocks_per_sm", "threads_per_block", "registers", "shared_bytes", "spill_loads",
      "lanes_per_instruction", "load_sectors_per_request", "sectors_per_request", "ptx_bytes_per_load", "ptx_widest_load",
      "ptx_barriers", "ptx_shuffles", "ptx_special", "ptx_float", "ptx_integer", "ptx_tensor",
      "ptx_instructions", "ptx_atomics" } do
    f[name] = one[name]
  end
  f.blocks_per_sm = f.blocks_per_sm or one.resident_blocks       -- the simulator's name for it
  return f
end

-- ---- the position on the roofline

-- Which rate the arithmetic has as its ceiling, by its name in ceilings.
local function precision_of(task, f)
  if not (f.tensor and f.tensor > 0.01 or f.ptx_tensor and f.ptx_tensor > 0) then return "fp32" end
  local dtype = task.inputs[1] and task.inputs[1].dtype
  return dtype == "bfloat16" and "bf16" or dtype == "float16" and "fp16" or "tf32"
end

local function place(task, f, known)
  if not f.seconds or f.seconds <= 0 then return {} end
  local r = { precision = precision_of(task, f), flops = f.flops, flops_source = f.flops_source,
              bytes = f.bytes, flop_rate = f.flops / f.seconds,
              byte_rate = f.bytes and f.bytes / f.seconds }
  if f.bytes and f.bytes > 0 then r.intensity = f.flops / f.bytes end
  if not known then return r end
  r.ceilings = known.source
  r.copy, r.peak, r.launch = known.copy, known[r.precision], known.launch
  r.dram_share = r.byte_rate and known.copy and r.byte_rate / known.copy
  r.compute_share = r.peak and r.flop_rate / r.peak
  if r.peak and known.copy and r.intensity then
    r.ridge = r.peak / known.copy
    r.roof = r.intensity < r.ridge and "memory" or "compute"
    r.share = r.roof == "memory" and r.dram_share or r.compute_share
  end
  return r
end

-- ---- the sentence

local function scaled(x, unit)
  for _, step in ipairs { { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" } } do
    if x >= step[1] then return ("%.3g %s%s"):format(x / step[1], step[2], unit) end
  end
  return ("%.3g %s"):format(x, unit)
end

local function share(x) return ("%.0f%%"):format(100 * x) end

local function wait_words(stall)
  if not stall then return "" end
  return ("; warps wait on %s (%s)"):format(stall, stall_words[stall] or "see the stall reasons")
end

--- The parts of a modelled time (`bound`), in words.
M.parts = { memory = "DRAM", l2 = "L2", l1 = "L1", shared = "shared memory", issue = "instructions",
            latency = "waiting of warps", blocks = "starting of blocks", launch = "the launch itself" }

-- The parts of the modelled time, the longest first.
local function ordered(bound)
  local list = {}
  for part, s in pairs(bound) do list[#list + 1] = { part = part, seconds = s } end
  table.sort(list, function(a, b) return a.seconds > b.seconds or a.seconds == b.seconds and a.part < b.part end)
  return list
end

local function modelled_sentence(f)
  local first, second = table.unpack(ordered(f.bound))
  if not first or first.seconds <= 0 then return nil end
  local next_one = second and second.seconds > 0
    and ("; then %s, %s"):format(M.parts[second.part], display.time(second.seconds)) or ""
  return first.part, ("modelled: %s is the longest part, %s of %s%s"):format(M.parts[first.part],
    display.time(first.seconds), display.time(f.seconds), next_one)
end

local function utmost(f, r)
  local best, which = 0, nil
  for name, x in pairs { DRAM = r.dram_share or f.dram_busy or 0, issue = f.issue or 0,
                         arithmetic = r.compute_share or 0, ["tensor cores"] = f.tensor or 0 } do
    if x > best then best, which = x, name end
  end
  return best, which
end

--- What limits it: a word, and a sentence.
function M.limiter(f, r)
  local at = M.limits
  if f.source == "ptx" then return "unknown", "unknown: nothing was executed" end
  if f.bound then return modelled_sentence(f) end
  if not f.seconds or f.launches == 0 then return "unknown", "unknown: there was no launch" end
  if r.launch and f.seconds < at.launches * r.launch * f.launches then
    return "launch", ("launch bound: %s of kernels in %d launches, which cost %s each"):format(
      display.time(f.seconds), f.launches, display.time(r.launch))
  end
  local dram = r.dram_share or f.dram_busy
  if dram and dram >= at.dram then
    return "dram", r.dram_share and ("limited by DRAM: %s of %s (%s)"):format(scaled(r.byte_rate, "B/s"),
      scaled(r.copy, "B/s"), share(dram)) or ("limited by DRAM: busy for %s of the time"):format(share(dram))
  elseif r.compute_share and r.compute_share >= at.compute then
    return "compute", ("limited by arithmetic: %s of %s in %s (%s)"):format(scaled(r.flop_rate, "FLOP/s"),
      scaled(r.peak, "FLOP/s"), r.precision, share(r.compute_share))
  elseif f.tensor and f.tensor >= at.compute then
    return "compute", ("limited by the tensor cores: busy for %s of the time"):format(share(f.tensor))
  elseif f.blocks and f.blocks < at.blocks * f.sms then
    return "blocks", ("too few blocks: %d for %d multiprocessors"):format(f.blocks, f.sms)
  elseif f.issue and f.issue >= at.issue then
    return "issue", ("limited by issuing instructions: in %s of the cycles"):format(share(f.issue))
  end
  if not dram then return "unknown", "unknown: there is no bandwidth to hold the traffic against, counted or as a ceiling" end
  local most, which = utmost(f, r)
  return "latency", ("latency: nothing above %s (%s)%s"):format(share(most), which, wait_words(f.stall))
end

--- What a profile means: { limiter =, sentence =, remedies = { { skill =, advice =, why = }, ... },
--- intensity = FLOP/byte, flops =, flops_source = "cupti" or "graph", byte_rate =, flop_rate =,
--- precision =, dram_share =, compute_share = of the ceilings, ridge =, roof = "memory" or
--- "compute", share = of that roof, ceilings = "measured" or "modelled", note = why there are
--- none }.
function M.of(task, p)
  local known, why = ceilings.of(task.device)
  local f = M.facts(task, p)
  local r = place(task, f, known)
  if not known then r.note = why end
  r.limiter, r.sentence = M.limiter(f, r)
  for _, key in ipairs { "dram_share", "compute_share", "byte_rate", "flop_rate", "intensity", "limiter", "copy" } do
    f[key] = r[key]
  end
  r.remedies = remedies.best(f, 3)
  return r
end

return M

-- remedies: what to try next, by the facts of a profile. Each names a skill, says in a line
-- what it is, and promises something between 0 and 1 where the facts speak for it. A fact
-- that is not known speaks for nothing. The facts are those of roofline.facts, with
-- dram_share, compute_share and limiter.

local M = {}

local function over(x, limit) return x ~= nil and x > limit end
local function under(x, limit) return x ~= nil and x < limit end

-- Sectors of 32 bytes for one load of a warp, over the fewest that its bytes need: those of the widest load in the text, as
-- which of them were executed is not known. What is scattered at least.
local function scatter(f)
  local per = f.load_sectors_per_request or f.sectors_per_request
  return per and per / math.max(1, f.ptx_widest_load or f.ptx_bytes_per_load or 4)
end

local function waits_for(f, ...)
  for _, reason in ipairs { ... } do
    if f.stall == reason then return true end
  end
  return false
end

-- From the modelled parts of the time: which is the longest.
local function is(f, ...)
  for _, word in ipairs { ... } do
    if f.limiter == word then return true end
  end
  return false
end

-- Whether memory is what takes longest, by a profile or by the model: what only keeps more under way makes nothing shorter then.
local function is_dram(f) return is(f, "dram", "memory") end

-- Whether all blocks run at once, so that fewer of them cannot help.
local function one_wave(f) return f.blocks and f.sms and f.blocks <= f.sms * math.max(1, f.blocks_per_sm or 1) end

--- In the order in which a tie is decided: { skill =, advice =, promise = function(facts) that
--- returns a number and why, and another advice where the usual one does not fit, or nothing }.
M.list = {
  { skill = "fuse-launches", advice = "do the work of several launches in one; keep what lies between in registers or shared memory",
    promise = function(f)
      if f.launches < 2 then
        if f.launches < 1 or not (is(f, "launch") and one_wave(f)) then return nil end
        return 0.5, "the launch takes longer than the work, and all blocks run at once already",
          "only a larger problem, or one launch for this and what comes before or after it, makes much of a difference"
      end
      return is(f, "launch") and 0.95 or 0.6, ("%d launches"):format(f.launches)
    end },
  { skill = "one-wave-grid", advice = "launch less: as many blocks as the GPU holds at once, each with a loop over its share",
    promise = function(f)
      if is(f, "launch") and not one_wave(f) then return 0.5, "the launch takes longer than the work" end
    end },
  { skill = "split-rows-over-clusters", advice = "let several blocks, or a cluster with distributed shared memory, share one row",
    promise = function(f)
      if f.blocks and f.blocks < f.sms and not is_dram(f) then
        return 0.9, ("%d blocks for %d multiprocessors"):format(f.blocks, f.sms)
      end
    end },
  { skill = "keep-rows-on-chip", advice = "read the input once and keep it in registers or shared memory until the last use",
    promise = function(f)
      local times = f.bytes and f.least_bytes > 0 and f.bytes / f.least_bytes
      if not over(times, 1.25) then return nil end
      return math.min(0.95, 0.5 + 0.3 * (times - 1)), ("%.2fx the bytes that inputs and outputs have"):format(times)
    end },
  { skill = "coalesced-access", advice = "let neighbouring threads read neighbouring addresses",
    promise = function(f)
      local s = scatter(f)
      if over(s, 1.5) then return math.min(0.95, 0.6 + 0.1 * s), ("%.1fx the sectors that the loads need"):format(s) end
    end },
  { skill = "vectorized-loads", advice = "move 16 bytes with each load: float4, or uint4 for smaller types",
    promise = function(f)
      if not under(f.ptx_bytes_per_load, 12) then return nil end
      local base = is(f, "latency", "issue", "l2", "l1") and 0.7 or is_dram(f) and 0.3 or 0.2
      return base, ("%.2g bytes a load"):format(f.ptx_bytes_per_load)
    end },
  { skill = "more-loads-in-flight", advice = "unroll, so that each thread has several independent loads under way; or cp.async",
    promise = function(f)
      if is(f, "latency") and waits_for(f, "long_scoreboard") then return 0.65, "warps wait for loads" end
    end },
  { skill = "block-reduction-in-shuffles", advice = "reduce within warps by shuffles, and meet at one barrier, not at one for each halving",
    promise = function(f)
      if not over(f.ptx_barriers, 0) then return nil end
      if waits_for(f, "barrier") then return 0.75, "warps wait at barriers" end
      if f.ptx_barriers >= 3 and f.ptx_shuffles == 0 then
        return is_dram(f) and 0.25 or 0.6, ("%d barriers and no shuffle"):format(f.ptx_barriers)
      end
    end },
  { skill = "shared-memory-padding", advice = "pad rows by one element, or swizzle, so that lanes meet different banks",
    promise = function(f)
      if over(f.conflicts, 0.1) then
        return is_dram(f) and 0.3 or math.min(0.9, 0.5 + 0.2 * f.conflicts), "bank conflicts"
      end
    end },
  { skill = "fewer-registers", advice = "shorten what lives at once, or set __launch_bounds__: registers spill to memory",
    promise = function(f)
      if over(f.spill_loads, 0) then return 0.8, ("%d bytes of spill loads"):format(f.spill_loads) end
    end },
  { skill = "higher-occupancy", advice = "fewer registers or less shared memory a block, so that more warps hide the waiting",
    promise = function(f)
      if is(f, "latency") and under(f.occupancy, 0.4) then return 0.55, ("%.0f%% occupancy"):format(100 * f.occupancy) end
    end },
  { skill = "tensor-core-tiles", advice = "multiply tiles on the tensor cores, where the task's tolerance allows their rounding",
    promise = function(f)
      if over(f.intensity, 20) and (f.ptx_tensor or 0) == 0 then
        return 0.85, ("%.0f operations a byte, without tensor cores"):format(f.intensity)
      end
    end },
  { skill = "register-tiles", advice = "compute a tile of outputs in each thread, so that every value loaded is used several times",
    promise = function(f)
      if over(f.intensity, 20) and under(f.compute_share, 0.5) then return 0.7, "much arithmetic, far from its rate" end
    end },
  { skill = "uniform-branches", advice = "let all lanes of a warp take the same way; handle the rest of a row apart",
    promise = function(f)
      if under(f.lanes_per_instruction, 24) then
        return is_dram(f) and 0.2 or 0.5, ("%.3g of 32 lanes are active"):format(f.lanes_per_instruction)
      end
    end },
  { skill = "cheaper-transcendentals", advice = "exp2 with a factor multiplied in once, reciprocals in place of divisions",
    promise = function(f)
      if is(f, "issue") and over(f.ptx_special, 0) then return 0.45, "special functions in a loop that issues all the time" end
    end },
  { skill = "strength-reduced-indices", advice = "step pointers in place of computing indices; 32-bit indices; no division",
    promise = function(f)
      if is(f, "issue") and f.ptx_integer and f.ptx_float and f.ptx_integer > 2 * f.ptx_float then
        return 0.5, "more integer than float instructions"
      end
    end },
  { skill = "at-the-ceiling", advice = "little is left here: fewer bytes, a smaller type, or another algorithm, else stop",
    promise = function(f)
      if not (f.bytes and f.bytes <= 1.1 * f.least_bytes) then return nil end
      if over(f.dram_share, 0.9) then return 0.5, ("%.0f%% of a copy's bandwidth, and no byte twice"):format(100 * f.dram_share) end
      if is(f, "memory") then return 0.5, "memory is the longest part, and no byte is moved twice" end
    end },
}

--- The `n` that promise most: { { skill =, advice =, why =, promise = }, ... }.
function M.best(facts, n)
  local found = {}
  for i, one in ipairs(M.list) do
    local promise, why, advice = one.promise(facts)
    if promise then
      found[#found + 1] = { skill = one.skill, advice = advice or one.advice, why = why, promise = promise, order = i }
    end
  end
  table.sort(found, function(a, b)
    if a.promise ~= b.promise then return a.promise > b.promise end
    return a.order < b.order
  end)
  for _, one in ipairs(found) do one.order = nil end
  return table.move(found, 1, math.min(n, #found), 1, {})
end

return M

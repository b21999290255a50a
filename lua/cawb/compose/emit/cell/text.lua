-- text: recurrent layers by persistent blocks (Diamos et al. 2016, Persistent RNNs). The weights of the state stay in registers of a
-- group of blocks for all steps, and a group has some of the sequences. The blocks of a group are a cluster and write into each
-- other's shared memory. If a cluster is too small for the weights, they meet at a counter in memory.

local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.Cell: a description (template.lua), and
---@field op string        lstm, gru, rnn_tanh, rnn_relu
---@field cells integer     that go on at the same time, as two directions: z
---@field gates integer
---@field steps integer
---@field batch integer    sequences
---@field hidden integer   units
---@field rows integer?     sums of a thread, where not as many as serve one sequence best
--- and its access functions.
local functions = {
  "bool reverse(int z)",                                              -- whether cell z goes from the last step to the first
  "float share(int z, int t, int b, int column)",                     -- of the inputs, in a gate
  "float bias(int z, int column)", "float weight(int z, int k, int column)",
  "float begin(int z, int b, int k)", "float cell(int z, int b, int k)",      -- ahead of the first step
  "void put(int z, int t, int b, int j, float next, float c)" }

M.cluster = 8                 -- blocks that any device with clusters takes

local HELD = 64               -- weights of a thread, each in a register
local ROWS = 8                -- sums of a thread, each of a gate of a unit
local MOST = 512              -- threads that have so many registers left

local sigmoid = "1.0f / (1.0f + expf(-(%s)))"

--- The new state of a unit from the inputs' share `x` and the state's share `s` of each gate, and the state and cell of `before`.
M.steps = {
  lstm = { "const float i = " .. sigmoid:format "x[0] + s[0]" .. ";", "const float f = " .. sigmoid:format "x[1] + s[1]" .. ";",
           "const float m = tanhf(x[2] + s[2]);", "const float o = " .. sigmoid:format "x[3] + s[3]" .. ";",
           "cell = f * cell + i * m;", "const float next = o * tanhf(cell);" },
  gru = { "const float r = " .. sigmoid:format "x[0] + s[0]" .. ";", "const float z = " .. sigmoid:format "x[1] + s[1]" .. ";",
          "const float m = tanhf(x[2] + r * s[2]);", "const float next = (1.0f - z) * m + z * before;" },
  rnn_tanh = { "const float next = tanhf(x[0] + s[0]);" },
  rnn_relu = { "const float v = x[0] + s[0];", "const float next = v < 0.0f ? 0.0f : v;" },
}

-- How the sums of `n` blocks' units are cut among a block's lanes and warps; nil where a block had too many threads.
local function cut(d, n)
  local h = { N = n, U = ceil(d.hidden, n), R = d.rows or ROWS }
  h.KT = HELD // h.R // (d.hidden > 32 and 1 or 2)
  h.KL = math.max(h.R, math.min(32, template.power_above(ceil(d.hidden, h.KT))))
  h.KW = ceil(d.hidden, h.KL * h.KT)
  h.RW = ceil(ceil(d.gates * h.U, h.R), 32 // h.KL)
  h.THREADS = 32 * h.RW * h.KW
  h.PLACES, h.KPAD, h.RPAD = h.KW * h.KL, h.KW * h.KL * h.KT, h.RW * 32 // h.KL * h.R
  return h.THREADS <= MOST and h or nil
end

-- The fewest blocks that hold the weights, powers of two within a cluster.
local function fewest(d, chip)
  local n = 1
  while n <= math.min(chip.sms, d.hidden) do
    local h = n * d.cells <= chip.sms and cut(d, n)
    if h then return h end
    n = n < M.cluster and 2 * n or n + 1
  end
  return nil, ("the weights of %d units are more than the registers of the device hold"):format(d.hidden)
end

--- The division of a layer's units among `n` blocks, or among as few as hold the weights: N, U, THREADS, ...; or nil and why not.
function M.blocks(d, chip, n)
  if not n then return fewest(d, chip) end
  local h = n * d.cells <= chip.sms and cut(d, n)
  if not h then return nil, ("%d blocks do not hold the weights, or are too many"):format(n) end
  return h
end

function M.bytes(h) return 4 * h.S * (h.BUFFERS * h.KPAD + h.KW * h.RPAD + h.U) end

-- How many sequences a group takes at a time: all groups are under way at once, and their states fit shared memory.
local function sequences(d, h, chip, most)
  local places = h.GRID and chip.sms or h.N > 1 and chip.clustered or chip.sms
  local groups = math.max(1, math.min(d.batch, places // (h.N * d.cells)))
  h.S, h.BUFFERS = 1, h.GRID and 1 or 2
  h.S = math.min(most or d.batch, ceil(d.batch, groups), chip.shared_block // M.bytes(h))
  if h.S < 1 then return nil, ("a state of %d does not fit shared memory"):format(d.hidden) end
  h.GROUPS = math.min(groups, ceil(d.batch, h.S))
  h.EACH = ceil(h.S * h.U, h.THREADS)
  return h
end

--- Sets the holes that differ between blocks of a cluster, a block alone, and blocks that meet in memory.
function M.meeting(d, h)
  if h.GRID then
    h.BY, h.MORE, h.NOW = " through memory", ", float *exchange, int *arrived", "0"
    local from = "exchange + ((z * 2 + (step & 1)) * $B + first + p / $W) * $H"
    local text = "if (step + 1 < $T)\n        for (int p = threadIdx.x; p < $S * $W; p += $THREADS)\n          if (first + p / $W < $B) "
    if d.hidden % 4 == 0 then
      h.LOAD = text .. "*(float4 *)(state + p / $W * $KPAD + p % $W * 4) = __ldcg((const float4 *)(" .. from .. ") + p % $W);"
    else
      h.LOAD = text .. "state[p / $W * $KPAD + p % $W] = __ldcg(" .. from .. " + p % $W);"
    end
    local values = { B = d.batch, H = d.hidden, T = d.steps, S = h.S, KPAD = h.KPAD, THREADS = h.THREADS,
                     W = d.hidden % 4 == 0 and d.hidden // 4 or d.hidden }
    h.LOAD = h.LOAD:gsub("%$(%u+)", values)
    return
  end
  h.CLUSTER, h.MORE, h.NOW = true, "", "step & 1"
  if h.N == 1 then
    h.BY, h.MEET, h.ARRIVE, h.WAIT, h.SEND = "", "__syncthreads();", "", "__syncthreads();", "*to = next[e];"
  else
    h.BY, h.MEET, h.ARRIVE, h.WAIT = ", by shared memory of the cluster", "cluster_meet();", "cluster_arrive();", "cluster_wait();"
    h.SEND = "cluster_send(to, next[e], block);"
  end
end

local NEXT = "static __device__ __forceinline__ float %s_next(const float *x, const float *s, float before, float &cell) {\n  %s\n  return next;\n}\n"

--- Sizes of the description, as holes.
function M.sizes(d, h)
  h.T, h.B, h.H, h.G = d.steps, d.batch, d.hidden, d.gates
  h.NEXT = NEXT:format(d.name, table.concat(M.steps[d.op], "\n  "))
end

local function launches(d, h)
  local launch = { kernel = d.name, grid = { h.N * h.GROUPS * d.cells }, block = { h.THREADS }, shared = M.bytes(h), arguments = d.arguments }
  if not h.GRID then
    launch.cluster = h.N > 1 and { h.N } or nil
    return { launch }
  end
  local arrived = { scratch = d.name .. "_arrived", dtype = "int32", numel = h.GROUPS * d.cells, flag = true }
  launch.cooperative = true
  launch.arguments = template.arguments(d, { scratch = d.name .. "_exchange", dtype = "float32", numel = 2 * d.cells * d.batch * d.hidden }, arrived)
  return { { fill = arrived, value = 0 }, launch }
end

--- How it is divided: as M.blocks has it, and GRID, S, GROUPS, EACH; or nil and why it cannot be. `how`: blocks that share the units, where not as
--- few as hold their weights; sequences that a group takes at a time at most.
function M.divide(d, chip, how)
  local h, why = M.blocks(d, chip, how.blocks)
  if not h then return nil, why end
  h.GRID = h.N > M.cluster or (h.N > 1 and chip.cluster == 1) or nil
  return sequences(d, h, chip, how.sequences)
end

function M.fill(d, name, h) return template.complete(d, template.functions(d, functions), template.fill(name, d, h)) end

--- Text and launches of a division.
function M.made(d, h)
  M.sizes(d, h)
  M.meeting(d, h)
  local needs = h.GRID and { "cell", "meet" } or h.N > 1 and { "cell", "join", "join_cluster" } or { "cell" }
  return { text = M.fill(d, "cell/cell", h), needs = needs,
           how = ("weights in registers of %d block%s for all steps"):format(h.N, h.N > 1 and "s" or ""), launches = launches(d, h) }
end

return M

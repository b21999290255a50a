-- box_loops: the main loops of boxes (box.lua). `warp`: each warp multiplies by itself, two steps at a time, its weights from shared
-- memory. `group`, on Hopper, of channels that come by eights: groups of four warps, whose left factor is in registers and whose
-- weights the tensor cores read. `stream`: the same of weights that do not fit, which come through a ring, chunk after chunk.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local grids = require "cawb.compose.emit.grids"
local lift = require "cawb.compose.emit.lift"
local lists = require "cawb.base.lists"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

--- Steps of 16 products in a chunk, whose sum a tensor core has by itself; chunks of weights that are there or on their way.
M.CHUNK, M.RING = 4, 4

local DOUBLED = 32                    -- columns up to which both halves of the weights are one factor

local WARP = [[
        const int *const near = offsets + lane %% 4 * 2;
        for (; step + 1 < end; step += 2) %s_steps<2>(sum, upper, lower, near + step * 16, own + (step * (%d / 8) + column / 8) * 32 + lane);
        if (step < end) %s_steps<1>(sum, upper, lower, near + step * 16, own + (step * (%d / 8) + column / 8) * 32 + lane);]]

local GROUP = [[
        const unsigned long long there = rows_descriptor(shared_address(own) + column / %d * %d);
        const int *const near = offsets + lane / 16;]]

local STREAM = [[
        for (; step < end; step += 4, turn++) {
          const int slot = turn %% %d;
          if (threadIdx.x == 0 && turn > 0) %s_refill(rings, own, weights, turn - 1 + %d);
          __syncwarp();
          barrier_wait(rings + 8 * slot, turn / %d & 1);
          const unsigned long long there = rows_descriptor(shared_address(own) + slot * %d);
          const int *const near = offsets + 2 * step + lane / 16;
          %s
          if (lane == 0) barrier_arrive(rings + 8 * (%d + slot));
        }]]

local function call(d, count, step) return ("%s_steps<%d>(sum, from, near, there, %s);"):format(d.name, count, step) end

local function stream_loop(d, t)
  local rest, words = t.steps % 4, call(d, 4, 0)
  if rest > 0 then words = ("if (step + 4 <= end) %s\n          else %s"):format(words, call(d, rest, 0)) end
  return STREAM:format(M.RING, d.name, M.RING, M.RING, t.tiles * 8 * 256, words, M.RING)
end

local function steps_of(t) return lists.map(t.sets, function(set) return set.steps end) end

-- Steps that are summed up at a time.
local function count_of(t)
  local longest = math.max(table.unpack(steps_of(t)))
  return ceil(longest, ceil(longest, M.CHUNK))
end

local function group_loop(d, t)
  local steps, count = steps_of(t), count_of(t)
  local lines = { GROUP:format(t.tiles * 8, t.weights * 16 // t.passes), ("        for (; step + %d <= end; step += %d) %s"):format(count, count, call(d, count, "step")) }
  local rests = lists.set(lists.map(steps, function(n) return n % count end))
  for rest = 1, count - 1 do
    if rests[rest] then lines[#lines + 1] = ("        if (end - step == %d) %s"):format(rest, call(d, rest, "step")) end
  end
  return table.concat(lines, "\n")
end

-- Fewer than eight channels: neighbours fill the eight. Numbers beyond the end of a window are multiplied by weights of zero, so they
-- must not be NaN or infinite.
local function of_neighbours(h, d, t)
  local across = ceil(d.window[3], t.near)
  h.NEAR, h.DILATION, h.TERMS = t.near, d.dilation[3], grids.product(d.window) // d.window[3] * across * 8
  h.PART = ("k %% 8 < %d && k / 8 %% %d * %d + k %% 8 / %d < %d ? make_int2(k %% 8 %% %d, k / 8 / %d * %d + k / 8 %% %d * %d + k %% 8 / %d) : make_int2(-1, 0)")
    :format(t.near * d.channels, across, t.near, d.channels, d.window[3], d.channels, across, d.window[3], across, t.near, d.channels)
  if d.window[3] % t.near ~= 0 then h.PUTONE = "beyond |= v[k][j] != v[k][j];" end
end

-- The products of steps, the small ones first, as C.
local function products_of(h, line)
  return table.concat(lists.map(arithmetic.pairs_of[h.FOURTH and "four" or "three"], function(pair, n)
    return line(pair[1] == 1 and "low" or "high", pair[2], n == 1)
  end), "\n")
end

local function of_group(h, d, t)
  h.NEXT, h.WIDE, h.DOUBLE = 8, t.tiles * 8, t.tiles * 8 <= DOUBLED or nil
  h.ACROSS = h.DOUBLE and 2 * h.WIDE or h.WIDE
  h.SUMS, h.PART1 = h.ACROSS // 2, h.DOUBLE and ("part[%d + j] + part[j]"):format(h.WIDE // 2) or "part[j]"
  h.PRODUCTS = products_of(h, function(left, right, is_first)
    return ("  UNROLL for (int s = 0; s < COUNT; s++) %s_multiply(part, %s[s], %s_place(b, step + s) + %d, %s);")
      :format(d.name, left, d.name, right * h.WIDE * 8, is_first and "s > 0" or "1")
  end)
  h.INSTRUCTION = arithmetic.group(d.name .. "_multiply", h.ACROSS, "f16", { 0, 0 }, true)
  h.OFFSET = ("(at.x / 8 * %d + (tap[1] * %d + tap[2]) * %d + tap[3]) * 16"):format(h.PLACES, h.INH, h.INW)
  h.PUTONE, h.PUTALL = "", ("if (u < %d) %s_keep(box, u, v[k], e);"):format(h.UNITS, d.name)
  if t.near then of_neighbours(h, d, t) end
  h.REST = ("(set == %d ? %d - own[2] * 16 : own[3] * 16)"):format(#t.sets - 1, ceil(t.steps, M.CHUNK) * 64)      -- zeros to the end of a chunk
  h.STREAM, h.RING, h.SLOT, h.TURNSALL = t.stream, M.RING, h.WIDE * 256, t.passes * ceil(t.steps, M.CHUNK)
  h.KEPT = t.stream and h.TURNSALL * h.WIDE * 16 or t.weights
  h.STEPLOOP = t.stream and stream_loop(d, t) or group_loop(d, t)
end

local function of_warps(h, d, t)
  h.PRODUCTS = products_of(h, function(left, right)
    local n, b = h.BESIDE, ("b[s %% %d][s / %d]"):format(h.BESIDE, h.BESIDE)
    return ("    UNROLL for (int s = 0; s < %d * COUNT; s++) multiply_16(part[s %% %d], %s[s / %d], %s.%s, %s.%s);")
      :format(n, n, left, n, b, right == 1 and "z" or "x", b, right == 1 and "w" or "y")
  end)
  h.NEXT, h.KEPT, h.REST, h.PUTALL = 1, t.weights, "own[3] * 16", ""
  h.OFFSET = ("at.x * %d + (tap[1] * %d + tap[2]) * %d + tap[3]"):format(h.APART, h.INH, h.INW)
  h.PUTONE = ("if (u < %d) box[(u / %d * %d + j) * %d + u %% %d] = split_one(scaled(v[k][j], e), %s);"):format(h.UNITS, h.PLACES, h.UNIT, h.APART, h.PLACES, h.LIFT)
  h.STEPLOOP = WARP:format(d.name, h.COLUMNS, d.name, h.COLUMNS)
end

--- Sets the holes of a box's loop.
function M.holes(h, d, t)
  h.GROUP, h.WEIGHTS, h.OFFSETS = t.group, t.weights, t.offsets
  h.LIFT = lift(16 * (t.stream and M.CHUNK or t.group and count_of(t) or 2))
  if t.group then of_group(h, d, t) else of_warps(h, d, t) end
end

return M

-- window/text: pooling, and convolutions of a few channels, depthwise ones above all: what is computed from the
-- elements under a window of one to three axes. Missing axes are in front and of size one. An element is
-- numbered (p, d, h, w): p is its plane, all axes ahead of the window's.

local rates = require "cawb.compose.cost.rates"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.Window: a description (template.lua), and
---@field op string            "max", "min", "sum", or "product": with weights
---@field type string          of an element, in C
---@field planes integer       of the result
---@field size integer[]       of the input: three numbers, as all that follow
---@field out integer[]        of the result
---@field window integer[]
---@field stride integer[]
---@field padding integer[]
---@field dilation integer[]
---@field least string?        of max: no more than any element (-INFINITY); of min: no less
---@field channels integer?    of product: that each output channel reads
---@field groups integer?      of channels (1)
---@field each integer?        output channels of a group
--- and its access functions, those of four where the inner size is a multiple of 4.
local functions = {
  "T load(long long p, int d, int h, int w)", "void store(long long p, int d, int h, int w, T value)",
  "void load4(T *v, long long p, int d, int h, int w)",               -- from w on, a multiple of 4
  "void store4(long long p, int d, int h, int w, const T *v)",
  "T weight(int o, int c, int a, int b, int k)" }                     -- of product: of channel c of output o's group

local CROWD = 512           -- threads that keep a multiprocessor busy
local MOST = 48             -- elements of a line in registers

local joins = { max = "b > a || b != b ? b : a", min = "b < a || b != b ? b : a", sum = "a + b", product = "a + b" }

-- The instruction that joins floats, where there is one.
local function one(d) return d.type == "float" and (d.op == "max" or d.op == "min") and d.op or nil end

local function span(d, outputs)
  return (outputs - 1) * d.stride[3] + (d.window[3] - 1) * d.dilation[3] + 1
end

-- Neighbours of a thread: four, unless they read much more than one.
local function outputs_of(d, how)
  if how.outputs then return how.outputs end
  local n = 4
  while n > 1 and (span(d, n) > MOST or n >= 2 * d.out[3]) do n = n // 2 end
  return n
end

-- Lines in packs of four, where the first of them is in one place for all threads.
local function lines(d, h, outputs)
  local room = span(d, outputs)
  h.LEAD, h.SPAN, h.ROOM = 0, room, room
  if d.load4 and d.size[3] % 4 == 0 and outputs * d.stride[3] % 4 == 0 then
    h.LEAD = (4 - d.padding[3] % 4) % 4
    h.QUADS = ceil(h.LEAD + room, 4)
    h.ROOM = 4 * h.QUADS
  end
end

-- Output channels of a thread: they read the same.
local function wide_of(d, how, outputs)
  if d.op ~= "product" then return 1 end
  local n = how.wide or 8
  while d.each % n ~= 0 or (not how.wide and n * outputs > 16) do n = n // 2 end
  return n
end

-- Rows of a thread: more where windows of neighbouring rows read the same lines and threads are left over.
local function down_of(d, how, each, chip)
  if how.down then return how.down end
  local threads, crowd = d.planes * d.out[1] * d.out[2] * d.out[3] // each, rates.busy(chip, CROWD)
  local n = d.window[2] > d.stride[2] and d.dilation[2] == 1 and 4 or 1
  while n > 1 and (n >= 2 * d.out[2] or threads // n < crowd or n * each > 32 or d.window[2] * d.window[3] > 32) do n = n // 2 end
  return n
end

-- Lines that a thread's windows read, and how far apart they are.
local function rows(d, h)
  local only = h.DOWN == 1
  h.STEP = only and d.dilation[2] or 1
  h.LINES = only and d.window[2] or (h.DOWN - 1) * d.stride[2] + (d.window[2] - 1) * d.dilation[2] + 1
  local taps = d.window[1] * d.window[2] * d.window[3] * h.WIDE
  h.HELD = d.op == "product" and taps <= 36 or nil
  h.FACTOR = h.HELD and "held[q / " .. h.DOWN .. "][a][b][k]"
    or ("%s_weight(%s, (int)(to %% %d) + q / %d, c, a, b, k)"):format(d.name, template.names(d.parameters), h.ALL, h.DOWN)
end

local function common(d)
  local h = { T = d.type, WHAT = d.op, JOIN = joins[d.op], ONE = one(d), WIDE = 1, ALL = 1,
              NEUTRAL = d.op == "max" and (d.least or "-INFINITY") or d.op == "min" and (d.least or "INFINITY") or "0" }
  for axis = 1, 3 do
    h["K" .. axis - 1], h["S" .. axis - 1] = d.window[axis], d.stride[axis]
    h["P" .. axis - 1], h["D" .. axis - 1] = d.padding[axis], d.dilation[axis]
  end
  return h
end

local function holes(d, how, chip)
  local outputs, h = outputs_of(d, how), common(d)
  h.OUTPUTS, h.WIDE = outputs, wide_of(d, how, outputs)
  h.CHANNELS, h.EACH, h.ALL = d.op == "product" and d.channels or nil, d.each, (d.groups or 1) * (d.each or 1)
  h.STORE4 = d.store4 and outputs == 4 and d.out[3] % 4 == 0 or nil
  h.DOWN = down_of(d, how, outputs * h.WIDE, chip)
  rows(d, h)
  local taps = h.LINES * d.window[3] * h.WIDE
  h.UNROLL1 = (taps <= 128 or h.DOWN > 1) and "" or "1"
  h.UNROLL0 = taps * d.window[1] <= 128 and "" or "1"
  lines(d, h, outputs)
  return h
end

-- ---- strips: a block for neighbours along lines

local STRIP, WIDE = 2048, 128    -- elements of a strip; results of a line from which on it pays

-- Whether threads of their own would read or write far from each other.
local function is_strip(d, how)
  if d.op == "product" then return false end
  if how.strip ~= nil then return how.strip end
  local outputs = outputs_of(d, how)
  return d.out[3] >= WIDE and (outputs * d.stride[3] > 8 or not (d.store4 and outputs == 4))
end

local function strip(d, how)
  local h = common(d)
  h.LANES = d.load4 and d.size[3] % 4 == 0 and 4 or 1
  h.QUADS = h.LANES == 4 or nil
  local room = (how.columns or STRIP) - h.LANES
  h.TILE = math.max(1, math.min(d.out[3], (room - (d.window[3] - 1) * d.dilation[3] - 1) // d.stride[3] + 1))
  h.COLS = ceil(span(d, h.TILE) + h.LANES - 1, h.LANES) * h.LANES
  local most = d.window[1] * d.window[2] > 1 and 512 or 256      -- the more lines, the more that should be on their way
  h.THREADS = how.threads or math.min(most, 32 * ceil(h.COLS // h.LANES, 32))
  h.DOWN = how.down or (d.window[2] > d.stride[2] and d.dilation[2] == 1 and h.LANES == 4 and math.min(4, d.out[2])) or 1
  rows(d, h)
  h.PACKS = math.min(2, ceil(h.COLS // h.LANES, h.THREADS))
  h.UNROLL1 = h.LINES <= 16 and "" or "1"
  h.UNROLL0 = h.LINES * d.window[1] <= 16 and "" or "1"
  h.UNROLL2 = d.window[3] <= 32 and "" or "4"
  return h
end

local function launches(d, grid, threads, last)
  return { template.launch(d, "", grid, threads, d.size[1], d.size[2], d.size[3], d.out[1], d.out[2], d.out[3], last) }
end

local function text_of(d, name, h)
  return template.complete(d, template.functions(d, functions), template.fill("window/window_join", d, h) .. "\n" .. template.fill(name, d, h))
end

function M.refusal(d)
  return span(d, 1) > MOST and ("a line of %d elements for one output is no window"):format(span(d, 1)) or nil
end

--- The kernel of a pooling or a small convolution; or nil and why another serves better. `how`:
---   outputs  of a thread along the inner axis
---   down     its rows
---   wide     its output channels (it divides `each`)
---   strip    whether blocks join columns first, then of columns elements at most
---@param d cawb.Window
---@return table? made  { text, launches }
---@return string? why
function M.generate(d, how, chip)
  local why = M.refusal(d)
  if why then return nil, why end
  if d.planes * d.out[1] * d.out[2] * d.out[3] == 0 then return { text = "", launches = {} } end
  how = how or {}
  if is_strip(d, how) then
    local h = strip(d, how)
    local blocks = d.planes * d.out[1] * ceil(d.out[2], h.DOWN) * ceil(d.out[3], h.TILE)
    return { text = text_of(d, "window/window_strip", h), launches = launches(d, blocks, h.THREADS) }
  end
  local h = holes(d, how, chip)
  local all = d.planes // h.WIDE * d.out[1] * ceil(d.out[2], h.DOWN) * ceil(d.out[3], h.OUTPUTS)
  h.INDEX = template.index(all + 128)
  return { text = text_of(d, "window/window", h), launches = launches(d, ceil(all, 128), 128, all) }
end

return M

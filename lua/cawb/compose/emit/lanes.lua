-- lanes: how the rows of a kernel are divided among threads: lanes of a row, and rows of a block. Which parts of a row stay on the
-- chip, and where. The loops of a lane over its columns.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local power_above = require("cawb.compose.emit.template").power_above

local M = {}

local LONG = 32        -- steps of a loop that are added one after the other
local ROOM = 64        -- registers of a thread for values that stay
local FEW = 32         -- of those, where shared memory has room too
local SHORT = 64       -- steps of a row that is too short for a block of its own
local GROUPS = 8       -- of copies into shared memory that are waited for one after the other
local BUSY = 2         -- blocks of a multiprocessor that keep it busy

--- Elements of a row, of `bytes` each, that stay on a chip at most, be it lanes along
--- rows or across them.
function M.capacity(chip, bytes, across)
  if across then return ROOM * 32 end
  return math.max(512 * ROOM * 4 // bytes, (chip.shared_block - 2048) * chip.cluster // bytes)
end

-- Of columns: wide blocks, that memory is read in long pieces, where there are rows enough for them.
local function columns(o, phases, chip)
  local across = 32
  while phases == 1 and across < 256 and o.steps >= 64 and o.rows // (2 * across) >= BUSY * chip.sms do across = 2 * across end
  o.across = o.across or math.min(across, power_above(o.rows))
  local least = math.max(32 // o.across, power_above((o.steps + 15) // 16))
  o.lanes = o.lanes or math.min(1024 // o.across, least)
  o.threads, o.high = o.across * o.lanes, o.across
  o.wide = phases == 1 and o.across == 256 and o.threads == 1024
end

local function rows(o)
  o.widens = not o.lanes and o.steps <= SHORT
  o.lanes = o.lanes or math.min(512, power_above((o.steps + 3) // 4))
  o.threads = math.max(o.lanes, 128)
  o.high = o.threads // o.lanes
end

--- Divides rows among threads. `o` has rows, count (columns), vector (columns of a step) and columns (lanes are across); besides the
--- requests lanes, across and cluster. It gains steps, lanes, threads, high (rows of a block). `phases`: passes over the row.
function M.cut(o, phases, chip)
  o.steps = o.count // o.vector
  if o.columns then columns(o, phases, chip) else rows(o) end
  o.threads = math.max(o.threads, 32)
  return o
end

-- Combinations to try, in order: blocks that share a multiprocessor, and the largest cluster. Three blocks share it, so that one
-- loads while another stores; or fewer blocks stay, and load the next row while they store this one. Clusters above 8 are the
-- last, because they fit in fewer places.
local function tries_of(stay)
  if stay then return { { 3, 8 }, { 2, 8 }, { 1, 8 }, { 2, 16 }, { 1, 16 } } end
  return { { 3, 8 }, { 2, 8 }, { 3, 16 }, { 2, 16 }, { 1, 16 } }
end

local RESULTS = 16     -- bytes that a warp leaves for a join, at most

-- Threads of a block, and bytes of shared memory, all told, where a row of `bytes` is cut among so many blocks.
local function block_of(o, cluster, beside, stay, bytes)
  local most = beside == 1 and not stay and 1024 or 512
  local threads = o.block or math.min(most, math.max(64, power_above(o.steps // cluster // 4 + 1)))
  local each = (o.steps + threads * cluster - 1) // (threads * cluster)
  return threads, each, each * threads * (bytes // o.steps) + o.joins * cluster * (threads // 32) * RESULTS
end

-- The first combination that holds a row: cluster, blocks on a multiprocessor, whether they stay, threads, steps of each.
local function place(o, chip, bytes)
  local wish = o.stay ~= false and o.stores and not o.selects      -- where each row lies is found ahead of the loops
  for _, try in ipairs(tries_of(wish)) do
    local beside, most = try[1], math.min(try[2], chip.cluster)
    local stay = wish and (beside < 3 or o.stay)
    local c = math.min(o.cluster or 1, chip.cluster)
    while c <= most do
      local threads, each, taken = block_of(o, c, beside, stay, bytes)
      if taken <= math.min(chip.shared_sm // beside - 1024, chip.shared_block) then return c, beside, stay, threads, each end
      c = o.cluster and most + 1 or 2 * c
    end
  end
end

-- Into shared memory, of several blocks where one has too little.
local function share(o, chip, bytes)
  local cluster, beside, stay, threads, each = place(o, chip, bytes)
  if not cluster then return false end
  o.cluster, o.threads, o.high, o.beside, o.stay = cluster, threads, 1, beside, stay
  o.lanes, o.each = threads * cluster, each
  o.group = (o.each + GROUPS - 1) // GROUPS
  o.stays = "shared"
  o.places = o.stay and math.min(o.rows, o.places or math.max(1, chip.clustered * beside // cluster)) or nil
  return true
end

-- More lanes for a short row, so that the words which stay fit few registers. In a block of its own most threads would have
-- nothing to do.
local function widen(o, words)
  while o.lanes < o.steps and (o.steps + o.lanes - 1) // o.lanes * words > FEW do o.lanes = 2 * o.lanes end
  o.threads = math.max(o.lanes, o.threads)
  o.high = o.threads // o.lanes
end

--- Decides where values that are loaded more than once stay. `list`: { key, bytes } for one step. `o` gains `stays`, "registers" or
--- "shared" or nil, and `wanted`, the set of keys. Returns whether all computed values stay.
function M.stay(o, list, chip)
  local all, room = lists.sum(list, function(e) return e.bytes end), ROOM
  o.wanted = {}
  if all == 0 then return true end
  if o.widens and not o.cluster then widen(o, (all + 3) // 4) end
  local each = (o.steps + o.lanes - 1) // o.lanes
  local words = each * ((all + 3) // 4)
  if not o.columns and (each > LONG or words > (o.widens and ROOM or FEW) or o.cluster) and o.hold ~= false and share(o, chip, all * o.steps) then
    for _, e in ipairs(list) do o.wanted[e.key] = true end
  elseif each <= LONG then
    for _, e in ipairs(list) do
      local need = each * math.max(1, e.bytes // 4)
      if need <= room then o.wanted[e.key], room, o.stays = true, room - need, "registers" end
    end
  end
  return lists.all(list, function(e) return not e.computed or o.wanted[e.key] end)
end

--- Bytes of shared memory that a block takes without need, so that no other block fits beside it. Then fewer rows are under way at a
--- time, and memory opens fewer pages (measured: 6% of a sum over columns).
function M.alone(o, chip)
  if not o.wide or chip.threads_sm < 2 * o.threads then return nil end
  local taken = chip.shared_sm // 2
  return taken > 0 and taken <= chip.shared_block and taken or nil
end

--- C of an element's place in the arrays that stay on the chip, in the loop over j.
function M.slot(o) return o.stays == "shared" and ("j * %d + threadIdx.x"):format(o.threads) or "j" end

local function number(body, o) body:line("const int k = j * %d + lane;", o.lanes) end

-- Whether the loop's last turn has fewer steps than lanes.
local function is_partial(o) return o.steps % o.lanes ~= 0 end

local function wait(body, o, waits)
  if waits then body:line("if (j %% %d == 0) hold_wait(%d - j / %d);", o.group, (o.each - 1) // o.group, o.group) end
end

-- A turn of the loop. `hooks`: waits, whether it waits for copies into shared memory; and after(), which adds statements behind all
-- turns of a step.
local function turn(body, o, guard, hooks, step)
  number(body, o)
  wait(body, o, hooks.waits)
  if guard then body:open("if (%sk < %d) {", guard, o.steps) end
  step(index.var("k", o.steps))
  if hooks.inside then hooks.inside() end
  if guard then body:close() end
  if hooks.after then hooks.after() end
end

local function short(body, o, each, step, hooks)
  body:open("UNROLL for (int j = 0; j < %d; j++) {", each)
  turn(body, o, is_partial(o) and (each > 1 and ("j < %d || "):format(each - 1) or ""), hooks, step)
  body:close()
end

-- Turns from `first` on; the last ones may be empty.
local function rest(body, o, first, each, step, hooks)
  body:line "#pragma unroll 4"
  body:open("for (int j = %d; j < %d; j++) {", first, each)
  turn(body, o, is_partial(o) and "", hooks, step)
  body:close()
end

-- Stretches of LONG turns, several of whose loads are under way at a time; the rest is another stretch.
local function long(body, o, each, step, around, hooks)
  local whole = o.steps // o.lanes // LONG * LONG
  if whole > 0 then
    body:open("for (int q = 0; q < %d; q += %d) {", whole, LONG)
    local into = around.begin()
    body:line "#pragma unroll 8"
    body:open("for (int j = q; j < q + %d; j++) {", LONG)
    turn(body, o, nil, hooks, function(k) step(k, into) end)
    body:close()
    around.finish(into)
    body:close()
  end
  if whole == each then return end
  body:open "{"
  local into = around.begin()
  rest(body, o, whole, each, function(k) step(k, into) end, hooks)
  around.finish(into)
  body:close()
end

--- A lane's loop over its columns; `step(k, into)` makes a turn, k being the number of its pack. Where the loop
--- is long, `around.begin()` opens a stretch of it and returns `into`, and `around.finish(into)` ends it; else `into`
--- is `around.all`. `hooks`: waits (for copies into shared memory), inside() and after() (statements behind
--- each step, where it is one, and behind each turn).
function M.loop(body, o, around, step, hooks)
  local each = (o.steps + o.lanes - 1) // o.lanes
  hooks = hooks or {}
  if each <= LONG then return short(body, o, each, function(k) step(k, around.all) end, hooks) end
  long(body, o, each, step, around, hooks)
end

local nothing = { begin = function() end, finish = function() end }

--- The same without stretches.
function M.each(body, o, step, hooks) M.loop(body, o, nothing, step, hooks) end

--- Which row and lane a thread is. Of a block's rows beyond the last, threads do the last row's work.
function M.places(body, o)
  if o.stays == "shared" then
    body:line(o.cluster > 1 and "const int lane = cluster_rank() * %d + threadIdx.x;" or "const int lane = threadIdx.x;", o.threads)
    return body:line(("%sint row = %s;"):format(o.stay and "" or "const ", o.cluster > 1 and "blockIdx.x / " .. o.cluster or "blockIdx.x"))
  end
  local a, b = "threadIdx.x / %d", "threadIdx.x %% %d"
  body:line("const int lane = " .. (o.columns and a or b):format(o.columns and o.across or o.lanes) .. ";")
  local mine = (o.columns and b or a):format(o.columns and o.across or o.lanes)
  if o.high == 1 then mine = "0" end
  local first = o.high == 1 and "blockIdx.x" or ("blockIdx.x * %d + %s"):format(o.high, mine)
  if o.rows % o.high == 0 then return body:line("const int row = %s;", first) end
  body:line("const bool real = %s < %d/**/;", first, o.rows)
  body:line("const int row = real ? %s : %d/**/;", first, o.rows - 1)
end

-- C that copies an element into its place on the chip.
local function held(o, e, place) return ("hold(%s + %s, (const %s *)&(%s));"):format(e.name, M.slot(o), e.kind, e.from(place)) end

--- C that fills arrays in shared memory, begun ahead of the first loop: lines, and the bytes that they take.
function M.fill(o, list)
  local lines, at = {}, 0
  for _, e in ipairs(list) do
    lines[#lines + 1] = ("%s *const %s = (%s *)(held + %d);"):format(e.kind, e.name, e.kind, at)
    at = at + e.bytes * o.each * o.threads
  end
  lines[#lines + 1] = ("UNROLL for (int j = 0; j < %d; j++) {"):format(o.each)
  lines[#lines + 1] = ("  const int k = j * %d + lane;"):format(o.lanes)
  lines[#lines + 1] = is_partial(o) and ("  if (k < %d) {"):format(o.steps) or "  {"
  for _, e in ipairs(list) do
    lines[#lines + 1] = e.from and ("    " .. held(o, e, e.place)) or nil
  end
  lines[#lines + 1] = "  }"
  lines[#lines + 1] = ("  if ((j + 1) %% %d == 0 || j == %d) hold_group();"):format(o.group, o.each - 1)
  lines[#lines + 1] = "}"
  if o.cluster > 1 then lines[#lines + 1] = "cluster_meet();   // all have begun" end
  if o.stay then
    if next(o.with) then lines[#lines + 1] = "int turn = 0;" end
    lines[#lines + 1] = ("for (; row < %d; row += %d) {"):format(o.rows, o.places)
    lines[#lines + 1] = ("const int next = row + %d;"):format(o.places)
  end
  return lines, at
end

local function stays_on(o) return o.stays == "shared" and o.stay end

--- Hooks of the last loop over a row in a block that stays: they load the next row into places that are no longer needed.
function M.refill(body, o, list)
  if not stays_on(o) then return nil end
  local next = { row = index.var("next", o.rows) }
  return { inside = function()
    body:open("if (next < %d) {", o.rows)
    for _, e in ipairs(list) do
      if e.from then body:line(held(o, e, index.bind(e.place, next))) end
    end
    body:close()
  end, after = function() body:line("if ((j + 1) %% %d == 0 || j == %d) hold_group();", o.group, o.each - 1) end }
end

--- The end of a row in a block that stays. `joins`: how often its cluster met. After a single join the next row's results might come
--- too early. So the cluster meets again, or joins alternate between two places (`turns`).
function M.leave(body, o, joins, turns)
  if not stays_on(o) then return end
  if turns then
    if body.online_joins % 2 == 1 then body:line "turn ^= 1;" end
  elseif joins == 1 and o.cluster > 1 then body:line "cluster_meet();" end
  body:line "}"
end

return M

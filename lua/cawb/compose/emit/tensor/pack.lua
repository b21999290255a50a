-- pack: kernels that pack a factor of a product on tensor cores. They write its numbers as parts of 16 bits, in the order of the tensor
-- cores, with a scale for each row and chunk. They also count lost bits.

local expression = require "cawb.compose.emit.expression"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local lift = require "cawb.compose.emit.lift"
local lists = require "cawb.base.lists"
local literal = require "cawb.compose.ir.literal"
local prepared = require "cawb.compose.ir.prepared"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

--- Terms of a chunk, along k.
M.CHUNK = 64

--- Terms of a sum up to which low x low counts: float32's own error grows with the terms. On normal numbers sums of 256 products are
--- off by 1.0e-7 without it and by 0.9e-7 with it, and in float32, one after the other, by 2.9e-7.
M.SHORT = 256

--- Terms after which sums of gradients leave the tensor cores. Results of positive numbers are too small by 9e-8 after 64 terms, and by
--- 3.5e-8 after 32, lifted as they are (emit/lift.lua). Gradients of weights are sums of such results over rows, in which other rounding
--- averages out.
M.OFTEN = 32

--- The same of three parts of bfloat16.
M.FULL = 32

--- The parameters of a factor's access functions.
M.place = { "int z", "int row", "int k" }

--- A body that reads and writes under the names of another.
function M.body_like(kernel, other, vector)
  local body = expression.new(kernel, vector)
  if other then body.names, body.order, body.headers = other.names, other.order, other.headers end
  return body
end

local function variables(geometry, factor)
  return index.var("z", geometry.batch), index.var("row", factor.rows), index.var("k", factor.depth)
end

--- A body that returns one number of a factor.
function M.reads_one(kernel, names, geometry, factor)
  local body = M.body_like(kernel, names)
  body:line("return %s;", factor.element(body, variables(geometry, factor)))
  return body
end

-- Eight neighbours along k, from 8 p on; each by itself where a row may end among them.
local function reads(body, geometry, factor, p, ends)
  local z, row = variables(geometry, factor)
  for lane = 0, 7 do
    local k = index.plus(index.scale(p, 8), lane)
    if ends then body:open("if (%s < %d/**/) {", index.c(k), factor.depth) end
    body:line("v[%d] = %s;", lane, factor.element(body, z, row, k))
    if ends then body:close() end
  end
end

local function reads_eight(kernel, names, geometry, factor)
  local whole, ragged = factor.depth // 8, factor.depth % 8 ~= 0
  local body = M.body_like(kernel, names, ragged and not factor.aligned and 1 or 4)
  if ragged and factor.aligned then
    body:open("if (p < %d/**/) {", whole)
    reads(body, geometry, factor, index.var("p", whole))
    body:close "} else {"
  end
  reads(body, geometry, factor, index.var("p", ceil(factor.depth, 8)), ragged)
  if ragged and factor.aligned then body:close() end
  return body
end

--- Whether all of these are made of parameters alone, so that packing them is done before the first call.
function M.of_parameters(nodes) return lists.all(nodes, prepared.is) end

--- The access function of a factor, the tensors that it reads, and its body. `names`: a body whose names it continues.
function M.reading(kernel, geometry, factor, own, names)
  local body = factor.along and reads_eight(kernel, names, geometry, factor) or M.reads_one(kernel, names, geometry, factor)
  local nodes
  own.parameters, nodes = body:declarations()
  if #nodes == 0 then expression.refuse "a factor is no tensor" end
  local access = factor.along and template.access(own, "eight", "void", { "float *v", "int z", "int row", "int p" }, body:text())
    or template.access(own, "one", "float", M.place, body:text())
  return access, nodes, body
end

--- How a factor is packed: as pairs of halves. `more`: parameters of the kernel behind its results; `scaled`: with a scale for each row and
--- chunk, and counts of what 16 bits do not hold.
M.halves = { scaled = true, parts = 2, suffix = "", before = "seen s = {};", call = "pack_row(to, own, COUNT, LIFT, s,", after = "note_seen(wide, s, %d/**/, tile);", more = "" }

--- The same where numbers of a wide range have kernels of their own: packing ends as soon as these must do all.
M.checked = setmetatable({ quits = true }, { __index = M.halves })

--- As three parts of bfloat16.
M.full = { scaled = true, parts = 3, suffix = "_full", before = "", call = "pack_row_full(to, own, LIFT, wide,", after = "", more = ", const int *__restrict__ many" }

--- The same for factors that are packed before the first call, whether or not they are needed.
M.full_once = setmetatable({ more = "" }, { __index = M.full })

M.parts = { scaled = true, parts = 3, suffix = "", before = "", call = "pack_row_parts(to, LIFT, wide,", after = "", more = "" }

--- Numbers of 16 bits as they are: `two` makes one word of two floats; `spread`: rows of the right factor change places so that eight
--- neighbours of 32 are those of one thread in the tensor cores' sums.
function M.whole(two, spread)
  local call = "pack_row_whole<%s, %s>(to,"
  return { parts = 1, suffix = "", before = "", calls = { left = call:format(two, "false"), right = call:format(two, spread and "true" or "false") }, after = "", more = "" }
end

-- Numbers of a row that there are in a chunk, as C of `chunk`.
local function count_of(factor)
  if factor.count then return factor.count end
  return factor.depth % M.CHUNK == 0 and literal.free(M.CHUNK) or ("min(%d, %d/**/ - %d * chunk)"):format(M.CHUNK, factor.depth, M.CHUNK)
end

-- How a row is packed, as C.
local function call_of(geometry, side, how)
  local factor, terms = geometry[side], how.parts == 3 and M.FULL or geometry.often and M.OFTEN or M.CHUNK
  local call = how.call or how.calls[side]
  return (call:gsub("%u+", { COUNT = count_of(factor), LIFT = lift(math.min(terms, factor.depth)) }))
end

local ONCE = '_Pragma("unroll 1")'      -- a loop that is run before the first call: no call is slower, and a kernel builds faster
local FEW = 4                           -- blocks a multiprocessor of a kernel that mostly has nothing to do

-- Blocks of packing; where there is mostly nothing to do few blocks go over all of them.
local function divide_packing(h, geometry, factor, unless)
  local batch = factor.alike and 1 or geometry.batch
  local blocks = factor.along and h.OCTETS * h.PARTSK * batch or h.CHUNKS * h.BANDS * batch
  h.EACHBLOCK = unless and ("for (int block = first; block < %d/**/; block += blocks) {"):format(blocks) or "{ const int block = first;"
  h.AGAIN = unless and "__syncthreads();" or ""
  return unless and math.min(blocks, FEW * geometry.chip.sms) or blocks
end

-- Where packing has nothing more to do, as C; `other`: how many rows of the other factor are enough.
local function quit(how, made, along, other)
  if not how.quits or made.parameters_alone then return "" end
  if along then return ("if (is_vast(wide, s, %d/**/)) break;"):format(made.vast) end
  return ("if (__syncthreads_or(threadIdx.x == 0 && (so_far(wide + 4) > %d || so_far(other + 4) > %d))) return;"):format(made.vast, other)
end

-- Of how many rows of a factor more are too many.
local function vast_of(geometry, side)
  return geometry.batch * geometry[side].rows * ceil(geometry[side].depth, M.CHUNK) // 8
end

local OTHERS = 8        -- large numbers of a row that are too few to hide what another row loses

-- Small numbers of a row, as of 64, that leave so few others.
local function bare_of(factor)
  local count = math.min(M.CHUNK, factor.depth)
  return math.max(0, M.CHUNK * (count - OTHERS) // count)
end

-- A factor of `octets` times eight rows: a function that packs it, the tensors that it reads and writes, and the number of blocks.
-- `paired`: the side that the same kernel packs too; `names`: its body.
local function packing(kernel, geometry, side, octets, how, unless, paired, names)
  local factor, own = geometry[side], { name = ("%s_%s%s"):format(kernel.name, side, how.suffix) }
  local chunks, batch = ceil(factor.depth, M.CHUNK), factor.alike and 1 or geometry.batch
  local access, nodes, body = M.reading(kernel, geometry, factor, own, names)
  local parts = math.min(ceil(chunks, 4), math.max(1, 4 * geometry.chip.sms // math.max(1, octets * batch)))
  local per = ceil(chunks, parts)
  local numel = batch * factor.rows * factor.depth
  local made = { octets = octets, chunks = chunks, most = math.min(16, numel >> 20) + (numel >> 27), faint = numel >> 20,
    bare = bare_of(factor), headers = body.headers,
    nodes = nodes, parameters_alone = M.of_parameters(nodes), own = own, body = body,
    packed = { scratch = own.name .. "_parts", dtype = "uint8", numel = batch * chunks * how.parts * octets * 1024 },
    scales = { scratch = own.name .. "_scales", dtype = "float32", numel = batch * chunks * 8 * octets },
    wide = { scratch = own.name .. "_wide", dtype = "int32", numel = 6, flag = true },
    vast = vast_of(geometry, side) }
  made.holes = { SCALED = how.scaled, PACKOUTS = how.scaled and ", float *__restrict__ scales, int *wide, const int *other" or "",
    ALONG = factor.along or nil, WRITTEN = made.parameters_alone and ONCE or "UNROLL", GAPS = factor.gaps and "if (any_none(v)) at_least(wide, BEYOND);" or "", ROWS = factor.rows, DEPTH = factor.depth,
    OCTETS = octets, CHUNKS = chunks,
    PARTSK = ceil(chunks, per), PER = per, BANDS = ceil(octets, 8), WHAT = ("the %s factor"):format(side), PARTS = how.parts,
    BEFORE = how.before, PACK = call_of(geometry, side, how), AFTER = how.after:format(made.vast),
    INSIDE = factor.depth % M.CHUNK == 0 and "" or (" && k < %d/**/"):format(factor.depth),
    QUIT = quit(how, made, factor.along, paired and vast_of(geometry, paired) or made.vast) }
  made.blocks = divide_packing(made.holes, geometry, factor, unless)
  made.text = template.complete(own, { access }, template.fill("tensor/templates/pack", own, made.holes))
  return made
end

--- Whether a factor is made of parameters alone: it is packed before the first call, by a kernel of its own.
function M.is_alone(kernel, geometry, side)
  return M.of_parameters(select(2, M.reading(kernel, geometry, geometry[side], { name = kernel.name })))
end

--- The kernels that factors are packed by: lists of sides.
function M.together(kernel, geometry, sides)
  local list, rest = {}, {}
  for _, side in ipairs(sides) do
    if M.is_alone(kernel, geometry, side) or #sides == 1 then list[#list + 1] = { side } else rest[#rest + 1] = side end
  end
  if #rest > 0 then list[#list + 1] = rest end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

--- The kernel that packs factors of these sides, `octets[side]` times eight rows: what it makes of each, its text and its launch. `unless`: C;
--- where it holds there is nothing to do.
function M.kernel(kernel, geometry, sides, octets, how, unless)
  local all, texts, calls, outs, made, blocks = {}, {}, {}, {}, {}, 0
  for k, side in ipairs(sides) do
    local one, letter = packing(kernel, geometry, side, octets[side], how, unless, sides[3 - k], all[1] and all[1].body), side == "left" and "a" or "b"
    local other = sides[3 - k] and (side == "left" and "b" or "a") or letter
    outs[k] = (", unsigned char *__restrict__ A"):gsub("A", letter) .. (how.scaled and (", float *__restrict__ A_scales, int *A_wide"):gsub("A", letter) or "")
    local scaled = how.scaled and (", %s_scales, %s_wide, %s_wide"):format(letter, letter, other) or ""
    calls[k] = ("%s_pack(%s, %s%s, tile, blockIdx.x - %d/**/, %d/**/);"):format(one.own.name, template.names(one.own.parameters), letter, scaled, blocks, one.blocks)
    blocks = blocks + one.blocks
    all[k], texts[k] = one, one.text
    made = grids.joined(made, { one.packed }, how.scaled and { one.scales, one.wide } or {})
  end
  local last = all[#all]
  local own = { name = #all == 1 and last.own.name or ("%s_both%s"):format(kernel.name, how.suffix), parameters = last.own.parameters }
  if #all == 2 then calls = { ("if (blockIdx.x < %d/**/) %s"):format(all[1].blocks, calls[1]), "  else " .. calls[2] } end
  texts[#texts + 1] = template.fill("tensor/templates/pack_all", own, { OUTS = table.concat(outs), MORE = how.more, UNLESS = unless, CALLS = table.concat(calls, "\n") })
  return all, table.concat(texts), { kernel = own.name, grid = { blocks }, block = { 256 }, prepare = all[1].parameters_alone, arguments = grids.joined(last.nodes, made) }
end

--- The same of all factors of these sides, by as many kernels as it takes: what is made of each, by side; texts and steps.
function M.all(kernel, geometry, sides, octets, how)
  local made, texts, steps = {}, {}, {}
  for _, group in ipairs(M.together(kernel, geometry, sides)) do
    local all, text, launch = M.kernel(kernel, geometry, group, octets, how)
    for k, side in ipairs(group) do
      made[side] = all[k]
      if how.scaled then steps[#steps + 1] = { fill = all[k].wide, value = 0, prepare = all[k].parameters_alone } end
    end
    texts[#texts + 1], steps[#steps + 1] = text, launch
  end
  return made, texts, steps
end

return M

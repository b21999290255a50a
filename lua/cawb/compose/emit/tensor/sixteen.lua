-- tensor/sixteen: sums of products of float16 or bfloat16 numbers on tensor cores, as they are: one product, and float32 sums that
-- are rounded once. A factor is brought from where it lies, or packed (factors.lua). Geometries are those of tensor.lua, with
--   dtype           of both factors
--   eight           whether `write` takes eight neighbouring columns' results, too
-- The loop `wgmma` is Hopper's, `mma` that of every tensor core since Ampere.

local factors = require "cawb.compose.emit.tensor.factors"
local index = require "cawb.compose.ir.index"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

local ceil, joined = template.ceil, pack.joined

local CHUNK, TILE = pack.CHUNK, tiles.ROWS
local MOST = { wgmma = 6, mma = 4 }   -- stages
local THREADS = { wgmma = 128, mma = 256 }      -- that bring factors
local SPARE = 2048                    -- bytes of shared memory for barriers, and up to where stages begin

local types = { float16 = true, bfloat16 = true }

--- The type of a node and its first two inputs, if it is the same one of 16 bits; else nil.
function M.type_of(x)
  local dtype = x.inputs[1].dtype
  return types[dtype] and x.inputs[2].dtype == dtype and x.dtype == dtype and dtype or nil
end

-- ---- how factors get into shared memory: holes that begin with A or B

-- Of both: bytes of a stage; where a product's numbers begin; how far off the next 16 along k are. `from`: C of the group's first row.
local function lie(h, letter, arrival, rows, along, turned)
  local is_turned = not arrival.along
  h[letter .. "TURNED"], h[letter .. "TURNS"] = is_turned and 1 or 0, is_turned or nil
  h[letter .. "BYTES"] = (is_turned and ceil(rows, 64) * 64 or rows) * 128
  h[letter .. "DESCRIPTOR"] = is_turned and ("columns_descriptor(%s, 64 * 128)"):format(turned) or ("rows_descriptor(%s)"):format(along)
  h[letter .. "FURTHER"] = is_turned and 128 or 2
  h[letter .. "PACKED"], h[letter .. "LIES"] = arrival.packed, not arrival.packed or nil
end

-- Of one that lies in memory: `first`: C of the tile's first row, `all`: how many rows there are, `body`: one that knows the tensors' names.
local function bring(h, letter, arrival, loop, body, rows, first, all)
  if arrival.packed then return end
  h[letter .. "ROOM"] = all % rows == 0 and ("%d"):format(rows) or ("%d - %s"):format(all, first)
  local stride, along, start = arrival.stride, arrival.along, loop == "wgmma" and "tile.first * 64" or "0"
  h[letter .. "TENSOR"], h[letter .. "BASE"] = body:tensor(arrival.node), index.c(arrival.base)
  h[letter .. "STEP"] = along and "64" or ("%d"):format(64 * stride)
  h[letter .. "FROM"] = along and ("(size_t)(%s) * %d + %s"):format(first, stride, start) or ("(size_t)(%s) * %d + %s"):format(start, stride, first)
  h[letter .. "BRING"] = along and ("bring_rows<%d, %d, %d, %s>"):format(THREADS[loop], rows, stride, letter == "B" and h.SPREADS and "true" or "false")
    or ("bring_columns<%d, %d, %d>"):format(THREADS[loop], rows, stride)
end

-- ---- the whole

local function longest_of(g, chunks)
  local longest = 0
  for _, set in ipairs(g.sets) do longest = math.max(longest, chunks * #set) end
  return longest
end

local function holes(kernel, g, loop, right)
  local chunks = ceil(g.left.depth, CHUNK)
  local longest = longest_of(g, chunks)
  local tile, parts = tiles.cut_sixteen(g, loop, longest, not right.along)
  local h = { KERNEL = kernel.name, WHAT = g.what, M = g.rows, N = g.columns, DEPTH = g.left.depth, BATCH = g.batch, TILEN = tile, SUMS = tile // 2,
              DOWN = ceil(g.rows, TILE), ACROSS = ceil(g.columns, tile), TYPE = factors.words[g.dtype].TYPE, LOOP = kernel.name,
              MULTIPLY = factors.words[g.dtype].MULTIPLY, RANGES = "", PLACES = g.batch * g.rows * ceil(g.columns, 2), loop = loop }
  h.shift, h.ALLSTEPS = tensor.stepping(h, g, chunks)
  h.is_streaming = tensor.is_streaming(g, longest, 2)
  h.GROUP = h.is_streaming and 1 or 16
  h.TERMS = g.left.depth % CHUNK == 0 and ("%d"):format(CHUNK) or ("%d - 64 * step"):format(g.left.depth)
  h.AROWS = h.shift > 0 and TILE + 8 or TILE
  h.REACH = h.DOWN * TILE + h.shift // 8 * 8 + (h.shift > 0 and 8 or 0)
  h.PER = ceil(longest, parts)
  h.SPLITS = ceil(longest, h.PER)
  h.SPLIT, h.ITEMS = h.SPLITS > 1 or nil, h.DOWN * h.ACROSS * g.batch * h.SETS * h.SPLITS
  h.ROUND = tensor.round_of(g.sets, g.chip.sms)
  h.HIDDEN = g.hidden and ("%s ? part * %d : "):format(g.hidden.c(TILE, tile, ("m * %d"):format(TILE), ("n * %d"):format(tile)), h.PER) or ""
  h.ORDER, h.NUMBER = tensor.order_of(h, g)
  h.TABLES = h.TABLES .. h.ORDER
  h.STAGED = loop == "wgmma" and g.turned and not h.SPLIT and tile % g.turned.side == 0 or nil
  if h.STAGED then h.SIDE, h.SPREAD = g.turned.side, math.min(128, 64 * g.turned.side) end
  -- A thread writes eight neighbours: columns that are brought by rows are spread for it, others change places behind the products.
  h.EIGHT = loop == "wgmma" and g.eight and not h.SPLIT and not h.STAGED and tile % 32 == 0 and g.columns % 8 == 0 or nil
  h.SPREADS, h.TURNSEIGHT = h.EIGHT and right.along or nil, h.EIGHT and not right.along or nil
  if loop == "wgmma" then tensor.instruction(h, h.SUMS) end
  return h
end

-- Stages that fit into a block's shared memory, and its bytes.
local function stages(h, g)
  local turned = h.STAGED and tensor.TURNED or 0
  local stage = h.ABYTES + h.BBYTES
  h.STAGES = math.max(2, math.min(MOST[h.loop], (g.room - SPARE - turned) // stage))
  h.shared = h.STAGES * stage + turned
end

local function arrivals(h, arrival)
  lie(h, "A", arrival.left, h.AROWS, "from + ((group - 1) * 64 + " .. (h.shift > 0 and h.KERNEL .. "_shift(tile.set, step) % 8" or "0") .. ") * 128",
    "from + (group - 1) * (64 * 128)")
  lie(h, "B", arrival.right, h.TILEN, ("from + %s_A"):format(h.KERNEL), ("from + %s_A"):format(h.KERNEL))
  h.PACKED, h.LIES = arrival.left.packed or arrival.right.packed, not (arrival.left.packed and arrival.right.packed) or nil
  h.LONE = not h.LIES or nil
  h.ARRIVALS = (h.PACKED and 1 or 0) + (h.LIES and 128 or 0)
  h.PACKEDBYTES = (arrival.left.packed and h.ABYTES or 0) + (arrival.right.packed and h.BBYTES or 0)
end

local PUT8 = { "int set", "int z", "int row", "int octet", "const float *v" }
local PUT2 = { "int set", "int z", "int row", "int pair", "float first", "float second" }

-- The epilogue of eight neighbouring columns' sums.
local function put_eight(kernel, g, after)
  local body, names = pack.body_like(kernel, after, 8), {}
  body.streams = after.streams
  for k = 0, 7 do names[k + 1] = ("v[%d]"):format(k) end
  g.write(body, kernel.roots[1], names)
  return body:text()
end

-- Access functions of the epilogue, and the C that calls them.
local function writing(kernel, g, h, own, after)
  local pass = template.names(own.parameters)
  h.WITHIN = g.columns % h.TILEN ~= 0 and ("if (column < %d) "):format(g.columns) or ""
  h.INSIDE = g.columns % h.TILEN ~= 0 and (" && column < %d"):format(g.columns) or ""
  h.STORE = ("        %s%s_put(%s, tile.set, tile.z, row, column / 2, first, second);"):format(h.WITHIN, kernel.name, pass)
  local both = h.N % 2 == 0 and "*(float2 *)to = make_float2(first, second)" or "to[0] = first, to[1] = second"
  h.RESULT = h.SPLIT and tensor.PARTIAL:format(h.SPLITS, h.M, h.N, h.N, both, h.N) or h.STORE
  if h.loop == "wgmma" then
    h.LOOPSTAGE = h.ABYTES + h.BBYTES
    h.PUT = template.fill(h.EIGHT and "tensor/templates/put_eight" or "tensor/templates/put_wgmma", own, h):gsub("\n$", "")
  end
end

local function text_of(kernel, g, h, arrival)
  local after = tensor.put(kernel, g, h.is_streaming)
  local eight = h.EIGHT and put_eight(kernel, g, after) or ""
  local own, nodes = { name = kernel.name }, nil
  bring(h, "A", arrival.left, h.loop, after, TILE, "tile.m * 128", g.rows)
  bring(h, "B", arrival.right, h.loop, after, h.TILEN, ("tile.n * %d"):format(h.TILEN), g.columns)
  own.parameters, nodes = after:declarations()
  local turned = h.STAGED and tensor.put_one(kernel, g, own, after) or nil
  writing(kernel, g, h, own, after)
  local list = { template.access(own, "put", "void", PUT2, after:text()), template.access(own, "put_eight", "void", PUT8, eight), turned }
  return template.complete(own, list, table.concat({ template.fill("tensor/templates/tiles", own, h), template.fill("tensor/templates/sixteen_" .. h.loop, own, h),
    h.SPLIT and template.fill("tensor/templates/finish", own, h) or "" }, "\n")), nodes, after.headers
end

-- The kernels that pack factors, and the parameters of those.
local function packing(kernel, g, h, arrival)
  local texts, steps, packed, headers = {}, {}, {}, {}
  local sides = { { "left", "A", "a", ceil(h.REACH, 8) }, { "right", "B", "b", h.ACROSS * h.TILEN // 8 } }
  h.MORE, h.PASSMORE = "", ""
  for _, side in ipairs(sides) do
    local name, letter, own, octets = table.unpack(side)
    if arrival[name].packed then
      local made = factors.pack(kernel, g, name, octets, name == "right" and h.SPREADS)
      texts[#texts + 1], steps[#steps + 1], packed[#packed + 1] = made.text, made.launch, made.packed
      h.MORE, h.PASSMORE = h.MORE .. (", const unsigned char *__restrict__ %s"):format(own), h.PASSMORE .. ", " .. own
      h[letter .. "BATCH"], h[letter .. "OCTETS"] = g[name].alike and 0 or made.chunks, octets
      for header in pairs(made.headers) do headers[header] = true end
    end
  end
  return texts, steps, packed, headers
end

local function launches(kernel, g, h, nodes, steps, packed)
  local partial = h.SPLIT and { scratch = kernel.name .. "_partial", dtype = "float32", numel = g.batch * h.SPLITS * g.rows * g.columns }
  steps[#steps + 1] = { kernel = kernel.name, grid = { math.min(h.ITEMS, h.loop == "mma" and 2 * g.chip.sms or g.chip.sms) }, block = { h.loop == "mma" and 256 or 384 },
    shared = h.shared, arguments = joined(nodes, packed, partial and { partial } or {}) }
  if partial then
    steps[#steps + 1] = { kernel = kernel.name .. "_finish", grid = { math.min(ceil(h.PLACES, 256), 16 * g.chip.sms) }, block = { 256 }, arguments = joined(nodes, { partial }) }
  end
  return steps
end

--- The kernels of a geometry: text and launches, as every generator returns them; `loop` as of tensor.loop.
function M.kernels(kernel, g, loop)
  local shifts = #g.sets > 1 or #g.sets[1] ~= 1 or g.sets[1][1] ~= 0
  local arrival = { left = factors.arrival(kernel, g, "left", shifts), right = factors.arrival(kernel, g, "right", shifts) }
  g.room = g.chip.shared_block
  local h = holes(kernel, g, loop, arrival.right)
  arrivals(h, arrival)
  stages(h, g)
  local packed_texts, steps, packed, headers = packing(kernel, g, h, arrival)
  local partial = h.SPLIT and ", float *__restrict__ partial" or ""
  if loop == "wgmma" then h.MORE = h.MORE .. partial else h.MOREPARTIAL = partial end
  local text, nodes, more = text_of(kernel, g, h, arrival)
  for header in pairs(more) do headers[header] = true end
  local pieces = joined({ h.TABLES .. (g.tables and g.tables() or "") }, packed_texts, { text })
  return { text = table.concat(pieces, "\n"), pieces = pieces, headers = headers, how = ("%s (%s)"):format(g.dtype, loop),
           needs = { "tensor", "tensor_attend", "tensor_mma", "tensor_rows", "tensor_tile", loop == "wgmma" and "tensor_warpgroup" or nil },
           launches = launches(kernel, g, h, nodes, steps, packed) }
end

return M

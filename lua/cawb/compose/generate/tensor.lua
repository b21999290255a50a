-- tensor: sums of products on tensor cores at float32's accuracy (Hopper's warpgroup instructions). Each factor is
-- packed once as pairs of 16-bit numbers, what parameters alone make up before the first call; then one kernel
-- multiplies and computes what follows each sum. Where a factor's range is too wide for 16 bits, packing says so
-- and a kernel without tensor cores does the work in the same plan.
--
-- What is multiplied is a geometry, made by tensor_matrix.lua or tensor_conv.lua:
--   what            in words
--   terms           products of a sum
--   batch           how many such products lie beside each other (z)
--   rows, columns   of the result
--   sets            { { shifts of the steps' taps, in rows of the left factor }, ... }: results that share factors;
--                   a set has chunks * #shifts steps, chunk after chunk, the taps of each one behind the other
--   left, right     { rows =, depth = of a row, element = function(body, z, row, k) -> C text, along = neighbours along
--                   k are neighbours in memory }; the right one's depth is 64 a step where `stepped`
--   write           function(body, root, names) writes two neighbouring columns' results, see `put`
--   tables          C, in front

local expression = require "cawb.compose.kernel.expression"
local index = require "cawb.compose.index"
local template = require "cawb.compose.generate.template"

local M = {}

local ceil = template.ceil

local CHUNK, TILE = 64, 128           -- along k; rows of a tile
local STAGES = 3
local SHORT = 640                     -- terms: an error of float32's own is so small then that low x low counts
local SMS = 132                       -- blocks that stay on their multiprocessors: one each

local place = { "int z", "int row", "int k" }

-- A body that reads and writes under the names of another.
local function body_like(kernel, other, vector)
  local body = expression.new(kernel, vector)
  if other then body.names, body.order, body.headers = other.names, other.order, other.headers end
  return body
end

local function variables(geometry, factor)
  return index.var("z", geometry.batch), index.var("row", factor.rows), index.var("k", factor.depth)
end

local function reads_one(kernel, names, geometry, factor)
  local body = body_like(kernel, names)
  body:line("return %s;", factor.element(body, variables(geometry, factor)))
  return body
end

-- Eight neighbours along k, from 8 p on.
local function reads_eight(kernel, geometry, factor)
  local ragged = factor.depth % 8 ~= 0
  local body = body_like(kernel, nil, ragged and 1 or 4)
  local z, row = variables(geometry, factor)
  local p = index.var("p", ceil(factor.depth, 8))
  for lane = 0, 7 do
    local k = index.plus(index.scale(p, 8), lane)
    if ragged then body:open("if (%s < %d) {", index.c(k), factor.depth) end
    body:line("v[%d] = %s;", lane, factor.element(body, z, row, k))
    if ragged then body:close() end
  end
  return body
end

local function declared(body)
  local text, nodes = body:parameters()
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word:match "^%s*(.-)%s*$" end
  return list, nodes
end

local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, v in ipairs(list) do all[#all + 1] = v end
  end
  return all
end

-- ---- packing

local function of_parameters(nodes)
  for _, node in ipairs(nodes) do
    if node.kind ~= "leaf" or not node.source:find "^param:" then return false end
  end
  return true
end

-- The access function that packing reads a factor by, and whether that is along k.
local function reading(kernel, geometry, factor, own)
  local body = factor.along and reads_eight(kernel, geometry, factor) or reads_one(kernel, nil, geometry, factor)
  local nodes
  own.parameters, nodes = declared(body)
  if #nodes == 0 then expression.refuse "a factor is no tensor" end
  local access = factor.along and template.access(own, "eight", "void", { "float *v", "int z", "int row", "int p" }, body:text())
    or template.access(own, "one", "float", place, body:text())
  return access, nodes, body.headers
end

-- The kernel that packs one factor, `octets` times eight rows of it.
local function packing(kernel, geometry, side, octets)
  local factor, own = geometry[side], { name = ("%s_%s"):format(kernel.name, side) }
  local chunks = ceil(factor.depth, CHUNK)
  local access, nodes, headers = reading(kernel, geometry, factor, own)
  local parts = math.min(ceil(chunks, 4), math.max(1, 4 * SMS // math.max(1, octets * geometry.batch)))
  local per = ceil(chunks, parts)
  local bands = ceil(octets, 8)
  local most = 16 + geometry.batch * factor.rows * factor.depth // (1 << 27)
  local made = { octets = octets, chunks = chunks, most = most, headers = headers, parameters_alone = of_parameters(nodes),
    packed = { scratch = own.name .. "_halves", dtype = "uint8", numel = geometry.batch * chunks * 2 * octets * 1024 },
    scales = { scratch = own.name .. "_scales", dtype = "float32", numel = geometry.batch * chunks * 8 * octets },
    wide = { scratch = own.name .. "_wide", dtype = "int32", numel = 1 } }
  made.text = template.complete(own, { access }, template.fill("tensor_pack", own, {
    ALONG = factor.along or nil, ROWS = factor.rows, DEPTH = factor.depth, OCTETS = octets, CHUNKS = chunks,
    PARTS = ceil(chunks, per), PER = per, BANDS = bands, WHAT = ("the %s factor"):format(side) }))
  local blocks = factor.along and octets * ceil(chunks, per) * geometry.batch or chunks * bands * geometry.batch
  made.launch = { kernel = own.name, grid = { blocks }, block = { 256 },
                  arguments = joined(nodes, { made.packed, made.scales, made.wide }) }
  return made
end

-- ---- multiplying

-- Text of the instruction's operands for so many sums a thread.
local function instruction(h, sums)
  local registers, outputs = {}, {}
  for j = 0, sums - 1 do
    registers[j + 1] = "%" .. j
    outputs[j + 1] = ('"+f"(d[%d])'):format(j)
  end
  h.REGISTERS, h.OUTPUTS = table.concat(registers, ", "), table.concat(outputs, ", ")
  h.ADA, h.ADB, h.AKEEP = sums, sums + 1, sums + 2
end

-- Columns of a tile: as few as cover all with no more tiles.
local function tile_of(columns)
  return ceil(ceil(columns, ceil(columns, TILE)), 16) * 16
end

-- So many parts of k that every multiprocessor has a tile, and none has less than eight steps.
local function splits(tiles, steps)
  if tiles >= SMS // 2 then return 1 end
  return math.max(1, math.min(SMS // tiles, steps // 8))
end

-- The steps of each set, as C of `set` and `step`.
local function stepping(h, geometry, chunks)
  local sets = geometry.sets
  h.SETS, h.TABLES = #sets, ""
  if #sets == 1 and #sets[1] == 1 and sets[1][1] == 0 then
    h.STEPS, h.BEFORE, h.CHUNK, h.SHIFT = chunks, 0, "step", 0
    return chunks, 0, chunks
  end
  local taps, first, shifts, most = {}, {}, {}, 0
  for k, set in ipairs(sets) do
    taps[k], first[k] = #set, #shifts
    for _, shift in ipairs(set) do
      shifts[#shifts + 1] = shift
      most = math.max(most, shift)
    end
  end
  h.TABLES = ("static __constant__ int %s_taps[] = { %s }, %s_first[] = { %s }, %s_shifts[] = { %s };\n"):format(h.KERNEL,
    table.concat(taps, ", "), h.KERNEL, table.concat(first, ", "), h.KERNEL, table.concat(shifts, ", "))
  local function at(what) return #sets == 1 and tostring(what[1]) or nil end
  local count = at(taps) or h.KERNEL .. "_taps[set]"
  h.STEPS, h.BEFORE = ("%d * %s"):format(chunks, count), ("%d * %s"):format(chunks, at(first) or h.KERNEL .. "_first[set]")
  h.CHUNK = ("step / %s"):format(count)
  h.SHIFT = ("%s_shifts[%sstep %% %s]"):format(h.KERNEL, #sets == 1 and "" or h.KERNEL .. "_first[set] + ", count)
  local longest = 0
  for _, n in ipairs(taps) do longest = math.max(longest, n) end
  return chunks * longest, most, chunks * #shifts
end

local function holes(kernel, geometry)
  local g, tile = geometry, tile_of(geometry.columns)
  local h = { KERNEL = kernel.name, WHAT = g.what, M = g.rows, N = g.columns, DEPTH = g.left.depth, ROWS = g.left.rows, BATCH = g.batch,
              TILEM = TILE // 2, TILEN = tile, SUMS = tile // 2, DOWN = ceil(g.rows, TILE), ACROSS = ceil(g.columns, tile), GROUP = 16,
              STAGES = STAGES, PLACES = g.batch * g.rows * ceil(g.columns, 2) }
  local longest, most, all = stepping(h, g, ceil(g.left.depth, CHUNK))
  h.FOURTH = g.terms <= SHORT or nil
  h.PRODUCTS = h.FOURTH and "four" or "three"
  h.AROWS, h.ALLSTEPS = most > 0 and TILE + 8 or TILE, all
  h.REACH = h.DOWN * TILE + most // 8 * 8 + (most > 0 and 8 or 0)
  local tiles = h.DOWN * h.ACROSS * g.batch * h.SETS
  local parts = h.SETS == 1 and splits(tiles, longest) or 1
  h.PER = ceil(longest, parts)
  h.SPLITS = ceil(longest, h.PER)
  h.SPLIT, h.ITEMS = h.SPLITS > 1 or nil, tiles * h.SPLITS
  h.PARTIAL = h.SPLIT and ", float *__restrict__ partial" or ""
  instruction(h, h.SUMS)
  return h
end

-- Which thread of the plain kernel reads what: neighbours in memory go to neighbouring threads.
local function plain_order(factor)
  if factor.along then return "j % 16", "j / 16" end
  return "j / 64", "j % 64"
end

local function shared_bytes(h)
  local bytes = 2 * (h.AROWS + h.TILEN) * 128 + (h.AROWS + h.TILEN) * 4
  return STAGES * ceil(bytes, 1024) * 1024
end

-- What follows two sums of neighbouring columns, 2 pair and 2 pair + 1.
local function put(kernel, geometry)
  local body = body_like(kernel, nil, geometry.columns % 2 == 0 and 2 or 1)
  geometry.write(body, kernel.roots[1], { "first", "second" })
  return body
end

local function text_of(kernel, geometry, h)
  local after = put(kernel, geometry)
  local one, other = reads_one(kernel, after, geometry, geometry.left), reads_one(kernel, after, geometry, geometry.right)
  local own, nodes = { name = kernel.name }, nil
  own.parameters, nodes = declared(after)
  h.STORE = ("        if (column < %d) %s_put(%s, tile.set, tile.z, row, column / 2, first, second);"):format(geometry.columns,
    kernel.name, template.names(own.parameters))
  local result = { "int set", "int z", "int row", "int pair", "float first", "float second" }
  local text = template.complete(own, { template.access(own, "put", "void", result, after:text()),
    template.access(own, "left", "float", place, one:text()), template.access(own, "right", "float", place, other:text()) },
    template.fill("tensor_product", own, h))
  return text, nodes, after.headers
end

local function multiplying(kernel, geometry, h, left, right)
  h.AMOST, h.BMOST = left.most, right.most
  h.ABATCH, h.BBATCH, h.AOCTETS, h.BOCTETS = left.chunks, right.chunks, left.octets, right.octets
  h.AK, h.AR = plain_order(geometry.left)
  h.BK, h.BR = plain_order(geometry.right)
  local text, nodes, headers = text_of(kernel, geometry, h)
  local flags = { left.wide, right.wide }
  local launches = { { kernel = kernel.name, grid = { math.min(h.ITEMS, SMS) }, block = { 384 }, shared = shared_bytes(h),
    arguments = joined(nodes, { left.packed, left.scales, right.packed, right.scales }, flags) } }
  if h.SPLIT then
    local partial = { scratch = kernel.name .. "_partial", dtype = "float32",
                      numel = geometry.batch * h.SPLITS * geometry.rows * geometry.columns }
    table.insert(launches[1].arguments, partial)
    launches[2] = { kernel = kernel.name .. "_finish", grid = { math.min(ceil(h.PLACES, 256), 16 * SMS) }, block = { 256 },
                    arguments = joined(nodes, flags, { partial }) }
  end
  local tiles = h.SETS * geometry.batch * ceil(geometry.rows, 64) * ceil(geometry.columns, 64)
  launches[#launches + 1] = { kernel = kernel.name .. "_plain", grid = { math.min(tiles, 8 * SMS) }, block = { 256 },
                              arguments = joined(nodes, flags) }
  return text, launches, headers
end

-- One flag for two factors that are packed in the same call.
local function share_flag(left, right)
  for k, v in ipairs(right.launch.arguments) do
    if v == right.wide then right.launch.arguments[k] = left.wide end
  end
  right.wide, left.most = left.wide, left.most + right.most
  right.most = left.most
end

local function packing_steps(left, right)
  local steps = {}
  for _, factor in ipairs { left, right } do
    local before = factor.parameters_alone
    if factor == left or right.wide ~= left.wide then
      steps[#steps + 1] = { fill = factor.wide, value = 0, prepare = before }
    end
    factor.launch.prepare = before
    steps[#steps + 1] = factor.launch
  end
  return steps
end

--- The kernels of a geometry: text and launches, as every generator returns them. `kernel.roots[1]` is the
--- result, or a node that follows it element by element.
function M.kernels(kernel, geometry)
  local h = holes(kernel, geometry)
  local left = packing(kernel, geometry, "left", ceil(h.REACH, 8))
  local right = packing(kernel, geometry, "right", h.ACROSS * h.TILEN // 8)
  if not left.parameters_alone and not right.parameters_alone then share_flag(left, right) end
  local text, launches, headers = multiplying(kernel, geometry, h, left, right)
  for _, factor in ipairs { left, right } do
    for header in pairs(factor.headers) do headers[header] = true end
  end
  return { text = h.TABLES .. (geometry.tables or "") .. "\n" .. left.text .. "\n" .. right.text .. "\n" .. text, headers = headers, needs = { "tensor" },
           launches = joined(packing_steps(left, right), launches) }
end

M.body_like = body_like

return M

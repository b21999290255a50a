-- tensor: products of matrices on tensor cores at float32's accuracy (Hopper's warpgroup instructions). Each
-- factor is packed once as pairs of 16-bit numbers, those that parameters alone make up before the first call;
-- then one kernel multiplies and computes what follows each sum. Where a factor's range is too wide for 16 bits,
-- packing says so and a kernel without tensor cores does the work in the same plan.

local expression = require "cawb.compose.expression"
local graphs = require "cawb.compose.graph"
local index = require "cawb.compose.index"
local template = require "cawb.compose.generate.template"

local M = {}

local ceil = template.ceil

local CHUNK, TILE = 64, 128           -- along k; rows of a tile
local STAGES = 3
local SMS = 132                       -- blocks that stay on their multiprocessors: one each
local LEAST = 1 << 24                 -- operations below which a library's call is as good

-- ---- the product in numbers

--- The sizes of a product node: batch (its dimensions, and how many), m, n, k.
local function sizes(x)
  local a, rank = x.inputs[1], #x.shape
  local dims, batch = { table.unpack(x.shape, 1, rank - 2) }, 1
  for _, n in ipairs(dims) do batch = batch * n end
  return { dims = dims, batch = batch, m = x.shape[rank - 1], n = x.shape[rank], k = a.shape[#a.shape] }
end

--- Whether a product can be made here, or nil and why not. `arch`: of the device, as "sm_90a".
function M.serves(x, arch)
  if not (arch or ""):match "^sm_90" then return nil, "it needs the warpgroup instructions of sm_90" end
  if x.kind ~= "product" then return nil, "it is no product of matrices" end
  for _, input in ipairs(x.inputs) do
    if input.dtype ~= "float32" then return nil, "it is for float32" end
  end
  local s = sizes(x)
  if s.m < 32 or s.n < 32 or s.k < 32 then return nil, "it is too narrow" end
  if 2 * s.batch * s.m * s.n * s.k < LEAST then return nil, "it is too small" end
  if s.batch * s.m > 0x7fffffff or s.batch * s.n > 0x7fffffff then return nil, "it has too many rows" end
  return true
end

-- ---- access functions

-- Indices of an operand or result at batch number z and two more.
local function at(dims, z, first, second)
  local i = #dims > 0 and index.unravel(z, dims) or {}
  i[#i + 1], i[#i + 2] = first, second
  return i
end

-- A body that reads and writes under the names of another.
local function body_like(kernel, other, vector)
  local body = expression.new(kernel, vector)
  if other then body.names, body.order, body.headers = other.names, other.order, other.headers end
  return body
end

-- One element of factor `side` (1 or 2) at z, its row (m or n) and k.
local function element(body, x, s, side, row, k)
  local z = index.var("z", s.batch)
  if side == 1 then return body:value(x.inputs[1], at(s.dims, z, row, k)) end
  return body:value(x.inputs[2], at(s.dims, z, k, row))
end

local function width(s, side) return side == 1 and s.m or s.n end

local place = { "int z", "int row", "int k" }

local function reads_one(kernel, names, x, s, side)
  local body = body_like(kernel, names)
  local text = element(body, x, s, side, index.var("row", width(s, side)), index.var("k", s.k))
  body:line("return %s;", text)
  return body
end

-- Eight neighbours along k, from 8 p on.
local function reads_eight(kernel, x, s, side)
  local ragged = s.k % 8 ~= 0
  local body = body_like(kernel, nil, ragged and 1 or 4)
  local p, row = index.var("p", ceil(s.k, 8)), index.var("row", width(s, side))
  for lane = 0, 7 do
    local k = index.plus(index.scale(p, 8), lane)
    if ragged then body:open("if (%s < %d) {", index.c(k), s.k) end
    body:line("v[%d] = %s;", lane, element(body, x, s, side, row, k))
    if ragged then body:close() end
  end
  return body
end

-- What follows two neighbouring sums, of columns 2 pair and 2 pair + 1.
local function writes(kernel, names, x, s, root)
  local even = s.n % 2 == 0
  local body = body_like(kernel, names, even and 2 or 1)
  local z, row = index.var("z", s.batch), index.var("row", s.m)
  local column = index.scale(index.var("pair", ceil(s.n, 2)), 2)
  local list, texts = {}, {}
  body.known_only = { [x] = true }
  for lane = 0, 1 do
    local i = at(s.dims, z, row, index.plus(column, lane))
    local guard = lane == 1 and not even
    if guard then body:open("if (2 * pair + 1 < %d) {", s.n) end
    local name = lane == 0 and "first" or "second"
    if x.inputs[3] then
      local bias = x.inputs[3]
      local sum = body:name "sum"
      body:line("const float %s = %s + %s;", sum, name, body:value(bias, #bias.shape == 1 and { i[#i] } or i))
      name = sum
    end
    body:know(x, i, name)
    list[lane + 1] = graphs.same(root.shape, x.shape) and i or index.unravel(index.ravel(i, x.shape), root.shape)
    texts[lane + 1] = root == x and name or body:value(root, list[lane + 1])
    if not even then body:store(root, list[lane + 1], texts[lane + 1]) end
    if guard then body:close() end
  end
  if even then body:store_all(root, list, texts) end
  return body
end

-- ---- texts

local function access(own, what, result, variables, body)
  return template.access(own, what, result, variables, body:text())
end

local function declared(body)
  local text, nodes = body:parameters()
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word:match "^%s*(.-)%s*$" end
  return list, nodes
end

-- Whether neighbours along k are neighbours in memory, rather than rows are.
local function is_along(kernel, x, s, side)
  local body = body_like(kernel)
  local seen
  body.load = function(self, node, i)
    seen = seen or index.place(i, node.strides, node.offset)
    return self:name "x"
  end
  element(body, x, s, side, index.var("row", width(s, side)), index.var("k", s.k))
  if not seen then return true end
  local along, across = index.stride(seen, "k"), index.stride(seen, "row")
  return along == 1 or across ~= 1
end

-- The kernel that packs one factor: { text, launch, packed, scales, wide, octets, batch }.
local function packing(kernel, x, s, side, tile)
  local name = ("%s_%s"):format(kernel.name, side == 1 and "left" or "right")
  local rows, chunks = width(s, side), ceil(s.k, CHUNK)
  local octets = ceil(rows, tile) * tile // 8
  local along = is_along(kernel, x, s, side)
  local body = along and reads_eight(kernel, x, s, side) or reads_one(kernel, nil, x, s, side)
  local parameters, nodes = declared(body)
  if #nodes == 0 then expression.refuse "a factor is no tensor" end
  local parts = math.min(ceil(chunks, 4), math.max(1, 4 * SMS // math.max(1, octets * s.batch)))
  local per = ceil(chunks, parts)
  local made = { name = name, octets = octets, chunks = chunks,
    packed = { scratch = name .. "_halves", dtype = "uint8", numel = s.batch * chunks * 2 * octets * 1024 },
    scales = { scratch = name .. "_scales", dtype = "float32", numel = s.batch * chunks * 8 * octets },
    wide = { scratch = name .. "_wide", dtype = "int32", numel = 1 } }
  local what = along and { "void", { "float *v", "int z", "int row", "int p" }, "eight" } or { "float", place, "one" }
  local own = { name = name, parameters = parameters }
  made.text = template.complete(own, { access(own, what[3], what[1], what[2], body) },
    template.fill("tensor_pack", own, {
      ALONG = along or nil, ROWS = rows, DEPTH = s.k, OCTETS = octets, CHUNKS = chunks, PARTS = ceil(chunks, per), PER = per,
      BANDS = octets // 8, WHAT = side == 1 and "the left factor" or "the right factor" }))
  local blocks = along and octets * ceil(chunks, per) * s.batch or chunks * (octets // 8) * s.batch
  local arguments = { table.unpack(nodes) }
  for _, v in ipairs { made.packed, made.scales, made.wide } do arguments[#arguments + 1] = v end
  made.launch = { kernel = name, grid = { blocks }, block = { 256 }, arguments = arguments }
  made.parameters_alone = true
  for _, node in ipairs(nodes) do
    made.parameters_alone = made.parameters_alone and node.kind == "leaf" and node.source:find "^param:" ~= nil
  end
  return made
end

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

-- So many parts of k that every multiprocessor has a tile, and none has less than eight steps.
local function splits(tiles, steps)
  if tiles >= SMS // 2 then return 1 end
  return math.max(1, math.min(SMS // tiles, steps // 8))
end

local function product_holes(s, tile, left, right)
  local down, across, steps = ceil(s.m, TILE), ceil(s.n, tile), ceil(s.k, CHUNK)
  local parts = splits(down * across * s.batch, steps)
  local per = ceil(steps, parts)
  parts = ceil(steps, per)
  local h = { M = s.m, N = s.n, DEPTH = s.k, BATCH = s.batch, TILEM = TILE // 2, TILEN = tile, SUMS = tile // 2, DOWN = down,
              ACROSS = across, GROUP = 16, SPLITS = parts, PER = per, STEPS = steps, STAGES = STAGES, AROWS = TILE,
              ITEMS = down * across * s.batch * parts, ABATCH = left.chunks, BBATCH = right.chunks, AOCTETS = left.octets,
              BOCTETS = right.octets, PLACES = s.batch * s.m * ceil(s.n, 2), SPLIT = parts > 1 or nil,
              PARTIAL = parts > 1 and ", float *__restrict__ partial" or "" }
  instruction(h, h.SUMS)
  return h
end

-- Which thread of the plain kernel reads what: neighbours in memory go to neighbouring threads.
local function plain_order(h, kernel, x, s)
  local function order(side)
    if is_along(kernel, x, s, side) then return "j % 16", "j / 16" end
    return "j / 64", "j % 64"
  end
  h.AK, h.AR = order(1)
  h.BK, h.BR = order(2)
end

local function shared_bytes(h)
  local bytes = 2 * (h.AROWS + h.TILEN) * 128 + (h.AROWS + h.TILEN) * 4
  return STAGES * ceil(bytes, 1024) * 1024
end

local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, v in ipairs(list) do all[#all + 1] = v end
  end
  return all
end

-- The kernels that multiply: text and launches.
local function multiplying(kernel, x, s, tile, left, right)
  local root = kernel.roots[1]
  local put = writes(kernel, nil, x, s, root)
  local one, other = reads_one(kernel, put, x, s, 1), reads_one(kernel, put, x, s, 2)
  local parameters, nodes = declared(put)
  local h = product_holes(s, tile, left, right)
  plain_order(h, kernel, x, s)
  h.STORE = ("        if (column < %d) %s_put(%s, tile.z, row, column / 2, first, second);"):format(s.n, kernel.name,
    template.names(parameters))
  local own = { name = kernel.name, parameters = parameters }
  local text = template.complete(own, {
    access(own, "put", "void", { "int z", "int row", "int pair", "float first", "float second" }, put),
    access(own, "left", "float", place, one), access(own, "right", "float", place, other) },
    template.fill("tensor_product", own, h))
  local flags = { left.wide, right.wide }
  local launches = { { kernel = kernel.name, grid = { math.min(h.ITEMS, SMS) }, block = { 384 }, shared = shared_bytes(h),
    arguments = joined(nodes, { left.packed, left.scales, right.packed, right.scales }, flags) } }
  if h.SPLIT then
    local partial = { scratch = kernel.name .. "_partial", dtype = "float32", numel = s.batch * h.SPLITS * s.m * s.n }
    table.insert(launches[1].arguments, partial)
    launches[2] = { kernel = kernel.name .. "_finish", grid = { math.min(ceil(h.PLACES, 256), 16 * SMS) }, block = { 256 },
                    arguments = joined(nodes, flags, { partial }) }
  end
  local tiles = s.batch * ceil(s.m, 64) * ceil(s.n, 64)
  launches[#launches + 1] = { kernel = kernel.name .. "_plain", grid = { math.min(tiles, 8 * SMS) }, block = { 256 },
                              arguments = joined(nodes, flags) }
  return text, launches, put.headers
end

-- One flag for two factors that are packed in the same call.
local function share_flag(left, right)
  for k, v in ipairs(right.launch.arguments) do
    if v == right.wide then right.launch.arguments[k] = left.wide end
  end
  right.wide = left.wide
end

--- The node of the product in a kernel.
function M.product_of(kernel) return kernel.members[1] or kernel.roots[1] end

--- The kernels of a product: `kernel.roots` is the product, or one node that follows it element by element, the
--- product being the one member. `options.arch`. Returns what every generator returns (README), a launch with
--- `prepare` being one that parameters alone determine; or nil and why not.
function M.generate(kernel, options)
  local x = M.product_of(kernel)
  local fine, why = M.serves(x, options.arch)
  if not fine then return nil, why end
  if #kernel.roots > 1 then return nil, "it stores one result" end
  local s = sizes(x)
  local tile = s.n > 64 and 128 or 64
  local left, right = packing(kernel, x, s, 1, TILE), packing(kernel, x, s, 2, tile)
  if not left.parameters_alone and not right.parameters_alone then share_flag(left, right) end
  local text, launches, headers = multiplying(kernel, x, s, tile, left, right)
  local all = {}
  for _, factor in ipairs { left, right } do
    local before = factor.parameters_alone
    if factor == left or right.wide ~= left.wide then
      all[#all + 1] = { fill = factor.wide, value = 0, prepare = before }
    end
    factor.launch.prepare = before
    all[#all + 1] = factor.launch
  end
  return { text = left.text .. "\n" .. right.text .. "\n" .. text, headers = headers, needs = { "tensor" },
           launches = joined(all, launches) }
end

return M

-- tensor/kernel_matrix: products of matrices as tensor.lua has them.

local costs = require "cawb.compose.cost.products"
local epilogue = require "cawb.compose.emit.tensor.epilogue"
local expression = require "cawb.compose.emit.expression"
local factors = require "cawb.compose.emit.tensor.factors"
local family = require "cawb.compose.emit.tensor.family"
local graphs = require "cawb.compose.ir.graph"
local guards = require "cawb.compose.emit.guards"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local sixteen = require "cawb.compose.emit.tensor.sixteen"
local tensor = require "cawb.compose.emit.tensor.tensor"
local types = require "cawb.torch.types"

local M = {}

local NARROW = 32                     -- rows, columns and terms below which a library's call is as good
local FULL = { 4, 0.015 }             -- a wide range has kernels of its own where these launches take no more than this share of the time;
local AGAIN = { wgmma = 0.03, mma = 0.2 }      -- two factors that no parameters are have one; by mma smaller ones are a library's
local SIXTEEN = { NARROW, 1 << 24 }   -- of 16-bit numbers: rows, columns and terms, and operations, below which a library's call is as good
local ALONE = { 8, 1 << 22 }          -- the same where no library is called: below these a plain kernel is as good
local LONG = 512                      -- terms from which on sums over batch and places are taken for gradients of a convolution's weights: their
                                      -- factors are full of zeros and tiny numbers, so that pairs hardly ever hold what counts
local OWN = { 4, 1 << 24 }            -- for these: rows, columns and terms, and operations, below which a plain kernel of few blocks is as good

-- Batch (its dimensions, and how many), rows, columns, terms.
local function sizes(x)
  local a, rank = x.inputs[1], #x.shape
  local dims, batch = { table.unpack(x.shape, 1, rank - 2) }, 1
  for _, n in ipairs(dims) do batch = batch * n end
  return { dims = dims, batch = batch, m = x.shape[rank - 1], n = x.shape[rank], k = a.shape[#a.shape] }
end

-- Whether one of the factors is a parameter: it is packed before the first call, and its numbers do not lie far apart. `within`: the
-- nodes that will not be stored.
local function is_parameter(node, within)
  while node.kind == "view" and not (node.stored and not (within and within[node])) do node = node.inputs[1] end
  return node.kind == "leaf" and node.source:find "^param:" ~= nil
end

local TILE = 64           -- rows and columns that a plain product computes at least

-- Seconds without tensor cores: by a library, whose call has no epilogue, or by a plain kernel, which has one and computes whole tiles.
local function plain_seconds(chip, x, s, all, work, has_library)
  if has_library then
    local behind = #x.users == 1 and x.users[1].kind == "map" and 2 * s.m * s.n or 0
    return costs.library(chip, 4 * s.batch * (all + behind), work)
  end
  local tiles = ((s.m + TILE - 1) // TILE) * ((s.n + TILE - 1) // TILE)
  return costs.plain(chip, 4 * s.batch * all, 2 * s.batch * tiles * TILE * TILE * s.k)
end

-- Whether plain arithmetic is faster: packing goes through memory two more times.
local function is_bound(chip, x, s, within, has_library)
  local factors, out, packed = { s.m * s.k, s.k * s.n }, s.m * s.n, 0
  local all = factors[1] + factors[2] + out
  if 4 * s.batch * all < costs.large(chip) then return false end
  for k = 1, 2 do packed = packed + (is_parameter(x.inputs[k], within) and 0 or 2 * factors[k]) end
  local work, launches = 2 * s.batch * s.m * s.n * s.k, has_library and 0 or 2 * chip.launch_next
  return costs.matrix(chip, 4 * s.batch * (all + packed), work) + launches > plain_seconds(chip, x, s, all, work, has_library)
end

local function has_parameter(x) return is_parameter(x.inputs[1]) or is_parameter(x.inputs[2]) end

-- Whether no library computes it and sums are long.
local function is_long(x, s) return x.own and s.k >= LONG and not has_parameter(x) end

-- Operations below which a library's call is as good.
local function least_of(chip, x)
  local checked = chip.tensor == "mma" and not has_parameter(x) and costs.negligible(chip, 1, AGAIN.mma) or 0
  return math.max(costs.least(chip), checked)
end

--- Operations of a product.
function M.operations(x)
  local s = sizes(x)
  return 2 * s.batch * s.m * s.n * s.k
end

-- Rows, columns and terms, and operations, below which a library is as good. Of 8-bit numbers no library is asked: a small product is better than
-- theirs in float32.
local function limits(x, s, options, own)
  if own and x.inputs[1].dtype:find "^float8" then return 1, 1 end
  local least = own and (x.own and ALONE or SIXTEEN) or not own and is_long(x, s) and OWN
  return options.narrowest or least and least[1] or NARROW, options.least or least and least[2] or least_of(options.chip, x)
end

--- Whether a product can be made here, or nil and why not. `options.chip`: that it is for;
--- `options.least`, `options.narrowest`: operations, and rows, columns and terms, below which a library is as good; `options.emulate`: also where plain arithmetic is as fast.
function M.serves(x, options)
  local own = sixteen.type_of(x, options.chip)
  local loop, why = tensor.packed_loop(options.chip, own or options.emulate)
  if not loop then return nil, why end
  if not own and lists.any(x.inputs, function(input) return input.dtype ~= "float32" end) then return nil, "it is for float32 and 16-bit types" end
  local s = sizes(x)
  local narrowest, least = limits(x, s, options, own)
  if math.min(s.m, s.n, s.k) < narrowest then return nil, "it is too narrow" end
  if M.operations(x) < least then return nil, "it is too small" end
  if own and s.k % 2 > 0 and x.inputs[1].dtype:find "^float8" then return nil, "its sums are of an odd number of 8-bit products" end
  if not own and not options.least and not is_long(x, s) and is_bound(options.chip, x, s, options.within, options.libraries ~= false) then return nil, "its factors would be written once more, in parts, and that takes longer than a library should" end
  if s.batch * s.m > 0x7fffffff or s.batch * s.n > 0x7fffffff then return nil, "it has too many rows" end
  return true
end

-- Indices of an operand or result at batch number z and two more.
local function at(dims, z, first, second)
  local i = #dims > 0 and index.unravel(z, dims) or {}
  i[#i + 1], i[#i + 2] = first, second
  return i
end

-- A factor. `along`: whether neighbours along k are neighbours in memory, rather than rows are.
local function factor(kernel, s, rows, element)
  local f = { rows = rows, depth = s.k, element = element }
  local place, from = factors.place(kernel, s.batch, f)
  f.loads, f.along = place ~= nil, not place or index.stride(place, "k") == 1 or index.stride(place, "row") ~= 1
  f.jumps = place and not index.stride(place, "k")
  f.aligned = f.along and from and from.extent and index.divisible(index.add(place, index.var("k", s.k), -1), 4)
  return f
end

-- Writes what follows the sums of two or eight neighbouring columns; a row of an odd number of columns ends with one, and whatever in a gap.
local function write(body, x, s, root, names)
  local even, lanes, right = s.n % #names == 0, #names, nil
  local z, row = index.var("z", s.batch), index.var("row", s.m)
  local name = lanes == 2 and "pair" or "octet"
  local list, texts = {}, {}
  body.known_only = { [x] = true }
  for lane = 1, lanes do
    local guard = lane == 2 and not even
    local column = index.scale(index.var(name, guard and s.n // 2 or (s.n + lanes - 1) // lanes), lanes)
    local i = at(s.dims, z, row, index.plus(column, lane - 1))
    if guard and root.extent then
      right = body:name "right"
      body:line("float %s = 0.0f;", right)
    end
    if guard then body:open("if (2 * pair + 1 < %d/**/) {", s.n) end
    list[lane] = graphs.same(root.shape, x.shape) and i or index.unravel(index.ravel(i, x.shape), root.shape)
    texts[lane] = epilogue.value(body, x, root, i, names[lane], x.inputs[3] and #x.inputs[3].shape == 1 and { i[#i] } or i, list[lane])
    if right then
      body:line("%s = %s;", right, texts[lane])
      texts[lane] = right
    end
    if not even and not root.extent then body:store(root, list[lane], texts[lane]) end
    if guard then body:close() end
  end
  if even or root.extent then body:store_all(root, list, texts) end
end

-- The test for tiles of `rows` by `columns` that no root shows: { c = returns it as C, is = evaluates it }; nil if all are shown.
local function hidden(root, x, s)
  local shows = root.kind == "view" and root.inputs[root.pieces[1].input] == x and graphs.same(root.shape, x.shape)
  local list = shows and guards.of(root, at(s.dims, index.var("z", s.batch), index.var("row", s.m), index.var("column", s.n))) or {}
  if #list == 0 then return nil end
  return { c = function(...) return guards.nowhere(list, ...) end, is = function(...) return guards.is_nowhere(list, ...) end }
end

-- The geometry of a kernel (tensor.lua); raises a refusal.
local function geometry_of(kernel, x, options)
  for _, root in ipairs(kernel.roots) do
    if graphs.numel(root.shape) ~= graphs.numel(x.shape) then expression.refuse "it stores results of its own size" end
  end
  local s, work, chip = sizes(x), M.operations(x), options.chip
  local a, b = x.inputs[1], x.inputs[2]
  local geometry = { what = ("%d x %d, sums of %d products"):format(s.m, s.n, s.k), terms = s.k, batch = s.batch, rows = s.m,
    columns = s.n, sets = { { 0 } }, chip = chip, hidden = not kernel.roots[2] and hidden(kernel.roots[1], x, s) or nil, dtype = sixteen.type_of(x, chip), full = work >= (options.full or costs.negligible(chip, table.unpack(FULL))),
    apart = is_long(x, s), often = options.gradients, streamed = options.streamed, wide = not has_parameter(x), again = not has_parameter(x) and work >= (options.again or costs.negligible(chip, 1, AGAIN[chip.tensor])),
    left = factor(kernel, s, s.m, function(body, z, row, k) return body:value(a, at(s.dims, z, row, k)) end),
    right = factor(kernel, s, s.n, function(body, z, row, k) return body:value(b, at(s.dims, z, k, row)) end),
    write = function(body, one, names) write(body, x, s, one, names) end }
  geometry.eight = x.dtype ~= "float32" or types.size(kernel.roots[1].dtype) <= 2
  geometry.leaves = a.dtype:find "^float8" and b.dtype:find "^float8" and x.eight ~= "fast"
  if geometry.dtype and geometry.dtype:find "^float8" then geometry.left, geometry.right = sixteen.words(geometry.left, a.dtype), sixteen.words(geometry.right, b.dtype) end
  geometry.apart = geometry.apart and geometry.left.jumps and geometry.right.jumps
  return geometry
end

return family(M, geometry_of)

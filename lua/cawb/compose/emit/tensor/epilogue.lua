-- tensor/epilogue: what is done with the sums of a tile (templates/write.cu): pairs or eights of neighbours, results that are turned in shared
-- memory first, or parts of sums. The access functions are those of a geometry (tensor.lua).

local grids = require "cawb.compose.emit.grids"
local lists = require "cawb.base.lists"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"

local M = {}

local PLAIN = 64                     -- columns of a tile without tensor cores
local PLACE = { "int set", "int z", "int row" }

-- C of a thread's sums, of block `j` of eight columns and `half`; `i`: which of eight neighbours of four blocks.
local sums = {
  wgmma = { HALVES = 2, COLUMN = "tile.n * %d", FIRSTSUM = "sum[4 * j + 2 * half]", SECONDSUM = "sum[4 * j + 2 * half + 1]",
            EIGHTH = "sum[4 * j + i / 2 * 4 + 2 * half + i % 2]",
            FOUR = "sum + 4 * j", OWN = "threadIdx.x - 128", MEET = "group_meet(group)", WHICH = "group - 1" },
  mma = { HALVES = 4, COLUMN = "tile.n * %d + across", FIRSTSUM = "sum[half / 2][j][half % 2 * 2]", SECONDSUM = "sum[half / 2][j][half % 2 * 2 + 1]",
          EIGHTH = "sum[half / 2][j + i / 2][half % 2 * 2 + i % 2]",
          FOUR = "&sum[0][0][0] + 4 * j", OWN = "t", MEET = "__syncthreads()", WHICH = "0" },
}

--- A root's value from a sum, in the variable `name`, at a place i of the node x, whose bias, if it has one, is at `at`.
function M.value(body, x, root, i, name, at, place)
  if x.inputs[3] then
    local sum = body:name "sum"
    body:line("const float %s = %s + %s;", sum, name, body:value(x.inputs[3], at))
    name = sum
  end
  body:know(x, i, name)
  return root == x and name or body:value(root, place or i)
end

--- A body that writes what follows two sums of neighbouring columns, for every root.
function M.pair(kernel, geometry, streams)
  local body = pack.body_like(kernel, nil, 2)
  body.streams = streams
  for _, root in ipairs(kernel.roots) do geometry.write(body, root, { "first", "second" }) end
  return body
end

local function eight(kernel, geometry, after)
  local body, names = pack.body_like(kernel, after, 8), lists.times(8, function(k) return ("v[%d]"):format(k - 1) end)
  body.streams = after.streams
  for _, root in ipairs(kernel.roots) do geometry.write(body, root, names) end
  return body
end

local function one(kernel, geometry, after)
  local body = pack.body_like(kernel, after)
  geometry.turned.write(body, kernel.roots[1], "value")
  return body
end

--- The access functions of an epilogue and the tensors of a kernel with it: a list, and nodes. `after`: the body that M.pair made; `own` gets
--- its parameters, and those of what stands in `front` already.
function M.functions(kernel, geometry, h, own, after)
  local eights, ones = h.EIGHT and eight(kernel, geometry, after), h.STAGED and one(kernel, geometry, after)
  local nodes
  own.parameters, nodes = after:declarations()
  local function access(name, body, ...) return template.access(own, name, "void", grids.joined(PLACE, { ... }), body:text()) end
  local list = { access("put", after, "int pair", "float first", "float second") }
  if eights then list[#list + 1] = access("put_eight", eights, "int octet", "const float *v") end
  if ones then list[#list + 1] = access("put_one", ones, "int line", "int side", "float value") end
  return list, nodes
end

--- The holes of an epilogue: STORE writes two results, WRITE a tile's. `result`: C in place of what writes two of a tile's sums.
function M.holes(h, geometry, own, result)
  for name, text in pairs(sums[h.loop]) do h[name] = type(text) == "string" and text:find "%%d" and text:format(h.TILEN) or text end
  local ragged = geometry.columns % h.TILEN ~= 0
  local within = (ragged or geometry.columns % PLAIN ~= 0) and ("column < %d/**/"):format(geometry.columns)
  h.INSIDE = ragged and (" && column < %d/**/"):format(geometry.columns) or ""
  h.WITHIN = within and ("(%s) & "):format(within) or ""
  h.STORE = ("        %s%s_put(%s, tile.set, tile.z, row, column / 2, first, second);"):format(within and ("if (%s) "):format(within) or "", own.name, template.names(own.parameters))
  h.RESULT = (result or template.fill("tensor/templates/result", own, h)):gsub("\n$", "")
  h.WRITE = template.fill("tensor/templates/write", own, h):gsub("\n$", "")
end

return M

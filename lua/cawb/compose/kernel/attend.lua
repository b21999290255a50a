-- attend: attention, as attend.lua of the folder above finds it in a graph, for the generator of the same name.

local accesses = require "cawb.compose.kernel.accesses"
local attend = require "cawb.compose.generate.attend"
local expression = require "cawb.compose.kernel.expression"
local graphs = require "cawb.compose.graph"
local guards = require "cawb.compose.kernel.guards"
local index = require "cawb.compose.index"
local tensor = require "cawb.compose.generate.tensor"

local M = {}

local LEAST = 1 << 14                 -- scores below which it is launches that count
local FEWEST = 16                     -- and queries, of which a warp takes so many
local DEEPEST = 128                   -- numbers of a query, and columns of the values
local SHARED = { [80] = 163 << 10, [90] = 227 << 10, [100] = 227 << 10, [103] = 227 << 10 }      -- bytes a block may have

local at = accesses.in_batch

local function sizes(x, first)
  local rank = #x.shape
  return { m = x.shape[rank - 1], v = x.shape[rank], n = x.inputs[2].shape[rank - 1], k = first.inputs[1].shape[#first.inputs[1].shape],
           batch = graphs.numel { table.unpack(x.shape, 1, rank - 2) } }
end

local function is_plain_product(x)
  return x.inputs[1].dtype == "float32" and x.inputs[2].dtype == "float32" and not x.inputs[3]
end

-- Bytes of shared memory; or nil and why it is not made here. `options.attend`: scores that it is worth it for.
local function served(x, first, options)
  local loop, why = tensor.loop(options.arch, options.emulate)
  if not loop then return nil, why end
  if not is_plain_product(x) or not is_plain_product(first) then return nil, "it is for float32" end
  local s = sizes(x, first)
  if s.k > DEEPEST or s.v > DEEPEST then return nil, "its rows are too long" end
  if s.batch * s.m * s.n < (options.attend or LEAST) or (s.m < FEWEST and not options.attend) then return nil, "it is too small" end
  return SHARED[tonumber(options.arch:match "^sm_(%d+)")] or 99 << 10
end

-- How four neighbours of a row are read, where a row is a multiple of four: element(row, k) are indices.
local function four(a, node, element, depth)
  if depth % 4 ~= 0 then return nil end
  local list = {}
  for lane = 0, 3 do list[lane + 1] = element(index.plus(index.scale(index.var("t", depth // 4), 4), lane)) end
  return a:values(node, list)
end

-- A factor's access functions: `turned` where its last dimension but one is what a row's numbers are counted by.
local function factor(a, d, name, node, rows, depth, turned)
  local row = index.var("row", rows)
  local function element(k) return turned and at(node.shape, k, row) or at(node.shape, row, k) end
  d[name], d[name .. "4"] = a:value(node, element(index.var("k", depth))), four(a, node, element, depth)
end

-- Where no score of a tile counts: the scores are -inf where a guard is negative, as above a diagonal.
local function hidden(scores, s)
  local list = scores.fill == "-inf" and guards.of(scores, at(scores.shape, index.var("row", s.m), index.var("column", s.n))) or {}
  if #list == 0 then return nil end
  return function(rows, columns) return guards.nowhere(list, rows, columns, "first", ("%d * step"):format(columns)) end
end

-- What is written: one result, or two neighbours where a row has an even number.
local function put(a, d, x, s)
  local row, one = index.var("row", s.m), index.var("column", s.v)
  local place = at(x.shape, row, one)
  d.put = a:write({ { x, place, "result" } }, accesses.same_place(x, place))
  if s.v % 2 ~= 0 then return end
  local known, places = {}, {}
  for lane, name in ipairs { "left", "right" } do
    local i = at(x.shape, row, index.plus(index.scale(index.var("pair", s.v // 2), 2), lane - 1))
    known[lane], places[lane] = { x, i, name }, accesses.same_place(x, i)
  end
  d.put2 = a:write(known, places)
end

--- What computes its factors stays apart: it is not packed once, but read by many blocks.
function M.serves() return false end

--- See the README. `kernel.attend` = { first = the product of queries and keys, scores = the node that follows from it, finite };
--- `kernel.members[1]` is the product of their softmax and the values.
function M.generate(kernel, options)
  local x, found = kernel.members[1], kernel.attend
  local most, why = served(x, found.first, options)
  if not most then expression.refuse(why) end
  accesses.alike(kernel, x)
  local s = sizes(x, found.first)
  local a, d = accesses.new(kernel, x), { finite = found.finite }
  for name, value in pairs(s) do d[name] = value end
  factor(a, d, "query", found.first.inputs[1], s.m, s.k)
  factor(a, d, "key", found.first.inputs[2], s.n, s.k, true)
  factor(a, d, "value", x.inputs[2], s.n, s.v)
  local row, column = index.var("row", s.m), index.var("column", s.n)
  d.score = a:following(found.scores, at(found.scores.shape, row, column), { found.first, at(found.first.shape, row, column), "product" })
  d.hidden = hidden(found.scores, s)
  put(a, d, x, s)
  return a:finish(attend.generate(a:describe(d), most))
end

return M

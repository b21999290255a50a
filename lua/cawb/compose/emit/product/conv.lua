-- conv: a convolution of one to three axes as a product of views. Rows are the output channels of a group, columns the places of the output
-- in all of the batch, k the channels of a group and the taps. A transposed convolution is one product for each remainder of a place
-- by the stride: outputs of one remainder have the same taps, and no zeros between inputs are multiplied.

local index = require "cawb.compose.ir.index"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

-- An axis: how many remainders, taps and places there are; `tap` returns a tap's place in the window by a remainder and its number, with
-- guards; `at` the place of the input by those of the output and of the tap.
local function plain_axis(c, d, out)
  return { remainders = 1, taps = c.taps[d], places = out, stride = 1,
           tap = function(_, q) return q, {} end,
           at = function(o, tap) return index.add(index.plus(index.scale(o, c.stride[d]), -c.padding[d]), tap, c.dilation[d]) end }
end

local function gcd(a, b) return b == 0 and a or gcd(b, a % b) end

-- The number by which `a` must be multiplied to leave 1 when it is divided by n.
local function inverse(a, n)
  for k = 0, n - 1 do
    if a * k % n == 1 % n then return k end
  end
end

-- Output o meets tap k where o + padding - dilation k is a multiple of the stride: for a remainder r of o, each `every`-th tap.
local function transposed_axis(c, d, out)
  local s, dilation, padding = c.stride[d], c.dilation[d], c.padding[d]
  local common = gcd(s, dilation)
  local every = s // common
  local ahead = (c.taps[d] + every) * dilation // s + 1      -- keeps dividends from being negative
  local function tap(r, q)
    local from = index.plus(r, padding)
    local first = index.mod(index.scale(index.div(from, common), inverse(dilation // common, every)), every)
    local k = index.add(first, q, every)
    return k, { index.back(k, c.taps[d]), index.scale(index.mod(from, common), -1) }
  end
  local function at(o, k)
    return index.plus(index.div(index.plus(index.add(o, k, -dilation), padding + ahead * s), s), -ahead)
  end
  return { remainders = s, taps = (c.taps[d] + every - 1) // every, places = (out + s - 1) // s, stride = s, tap = tap, at = at }
end

local function axes_of(x)
  local axis = x.conv.transposed and transposed_axis or plain_axis
  return lists.times(x.conv.dims, function(d) return axis(x.conv, d, x.shape[d + 2]) end)
end

-- A number ahead, then one of each axis.
local function sizes(first, axes, name)
  return lists.joined({ first }, lists.map(axes, function(axis) return axis[name] end))
end

local function view(id, from, shape, places)
  local piece = views.piece(1, shape, function(i) return (places(i)) end, function(i) return (select(2, places(i))) end)
  return { kind = "view", id = id, inputs = { from }, shape = shape, dtype = from.dtype, pieces = { piece }, fill = 0 }
end

--- The product: its sizes, its factors `a` (z, m, k) and `b` (z, k, n), z being a group and the remainders; `at(n)`: the result's indices at
--- z, m and a column, and guards, which must not be negative; `inner`: neighbours of a line among the columns.
function M.product(x)
  local c, axes, from = x.conv, axes_of(x), x.inputs[1]
  local channels, each = from.shape[2] // c.groups, x.shape[2] // c.groups
  local batches, terms, columns = sizes(c.groups, axes, "remainders"), sizes(channels, axes, "taps"), sizes(x.shape[1], axes, "places")
  local p = { batch = graphs.numel(batches), m = each, n = graphs.numel(columns), k = graphs.numel(terms), inner = columns[#columns] }
  local function output(z, n, d) return index.add(z[d + 1], n[d + 1], axes[d].stride) end
  p.a = view("weights", x.inputs[2], { p.batch, p.m, p.k }, function(i)
    local z, k = index.unravel(i[1], batches), index.unravel(i[3], terms)
    local j, guards = { index.add(i[2], z[1], each), k[1] }, {}
    if c.transposed then j = { index.add(k[1], z[1], channels), i[2] } end
    for d, axis in ipairs(axes) do
      local tap, fits = axis.tap(z[d + 1], k[d + 1])
      j[d + 2] = tap
      lists.append(guards, fits)
    end
    return j, guards
  end)
  p.b = view("pixels", from, { p.batch, p.k, p.n }, function(i)
    local z, k, n = index.unravel(i[1], batches), index.unravel(i[2], terms), index.unravel(i[3], columns)
    local j, guards = { n[1], index.add(k[1], z[1], channels) }, {}
    for d, axis in ipairs(axes) do
      local tap, fits = axis.tap(z[d + 1], k[d + 1])
      j[d + 2] = axis.at(output(z, n, d), tap)
      lists.append(guards, fits)
      lists.append(guards, index.inside(j[d + 2], from.shape[d + 2]))
    end
    return j, guards
  end)
  function p.at(column)
    local z, n = index.unravel(index.var("z", p.batch), batches), index.unravel(column, columns)
    local i, guards = { n[1], index.add(index.var("m", each), z[1], each) }, {}
    for d in ipairs(axes) do
      i[d + 2] = output(z, n, d)
      guards[d] = index.back(i[d + 2], x.shape[d + 2])
    end
    return i, guards
  end
  return p
end

return M

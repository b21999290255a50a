-- order: sort, argsort and topk along one axis, with an epilogue (their values, above all). The elements are numbered (o, k, i) as those of
-- a scan. Of equal values the first comes first, NaN is above all numbers, and zeros are equal, as in PyTorch's stable sort. Short lines: a
-- bitonic network in shared memory. A few of a long line: found by digits. Else: runs, merged.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local template = require "cawb.compose.emit.template"
local types = require "cawb.torch.types"

local M = {}

local ceil = template.ceil

-- Access functions; `at` is where the value was.
local functions = { "T load(long long o, int k, long long i)", "void store(long long o, int k, long long i, T value, long long at)" }

local SHORT = 2048         -- elements that a block sorts

-- Bits of a real v that compare as the values do: of the type's suffix, highest bit and own bits.
local function real(suffix, top, own)
  return ("v != v ? ~0%s : v == 0 ? %s : %s & %s ? ~%s : %s | %s"):format(suffix, top, own, top, own, own, top)
end

-- The same by types; others are numbers of 32 bits or fewer.
local bits = { float = real("u", "0x80000000u", "__float_as_uint(v)"),
               double = real("ull", "0x8000000000000000ull", "(unsigned long long)__double_as_longlong(v)"),
               ["long long"] = "(unsigned long long)v ^ 0x8000000000000000ull" }

-- The holes of every template; blocks sort `rows` rows of `span` items.
local function holes(d, span, rows)
  local wide = d.type == "double" or d.type == "long long"
  local text = bits[d.type] or "(unsigned)(int)v ^ 0x80000000u"
  return { T = d.type, KEY = wide and "unsigned long long" or "unsigned", WIDE = wide or nil, SPAN = span, ROWS = rows,
           BITS = d.largest and ("~(%s)"):format(text) or text, THREADS = math.max(32, math.min(1024, span * rows // 2)) }
end

local function fill(name, d, h)
  return template.fill("order/order_item", d, h) .. template.fill(name, d, h)
end

local function by_block(d, lines, most)
  local span = math.max(2, template.power_above(d.n))
  local rows = math.max(1, math.min(256 // span, lines))
  local h = holes(d, span, rows)
  return fill("order/order_block", d, h), { template.launch(d, "", ceil(lines, rows), h.THREADS, d.n, most, d.inner, lines) }
end

local function by_select(d, lines, most)
  local h = holes(d, math.max(2, template.power_above(most)), 1)
  h.THREADS = 512
  return fill("order/order_select", d, h), { template.launch(d, "", lines, 512, d.n, most, d.inner, lines) }
end

local function by_merge(d, lines, most, short)
  local h = holes(d, short, 1)
  local all, wide = lines * d.n, ceil(d.n, short)
  local function room(name) return { scratch = d.name .. name, dtype = "int64", numel = all * (h.WIDE and 2 or 1) } end
  local from, to = room "_runs", room "_merged"
  local list = { template.launch(d, "_runs", lines * wide, h.THREADS, from, d.n, d.inner, wide) }
  local run = short
  while run < d.n do
    list[#list + 1] = { kernel = d.name .. "_merge", grid = { ceil(all, 256) }, block = { 256 },
                        arguments = { to, from, d.n, run, all } }
    from, to, run = to, from, run * 2
  end
  list[#list + 1] = template.launch(d, "", ceil(lines * most, 256), 256, from, d.n, most, d.inner, lines * most)
  return fill("order/order_merge", d, h), list
end

-- Few of a line, and either many lines or none that is long for one block.
local function is_selected(d, lines, most)
  return most <= SHORT and most < d.n and d.type ~= "double" and d.type ~= "long long"
    and (lines >= 16 or d.n <= 131072)
end

--- The kernels of a description (template.lua): type, outer, n and inner elements, of which the first `most` of each line are wanted (n), and
--- largest, whether the largest come first. `how`: short, the elements that a block sorts (a power of two, at most 2048); select, whether to
--- look for the wanted ones by digits (32 bits at most).
function M.made(d, how)
  how = how or {}
  local lines, most, short = d.outer * d.inner, d.most or d.n, how.short or SHORT
  if lines * most == 0 then return { text = "", launches = {} } end
  local select = how.select
  if select == nil then select = is_selected(d, lines, most) end
  local make = d.n <= short and by_block or select and by_select or by_merge
  local text, launches = make(d, lines, most, short)
  return { text = template.complete(d, template.functions(d, functions), text), launches = launches }
end

-- The order, and what is written of its element k; raises a refusal.
local function chosen(kernel)
  local x = accesses.anchor(kernel, { order = true })
  local place = accesses.along(x.shape, x.axis, index.var("k", x.shape[x.axis]))
  local write = accesses.written(x, { place }, "at")
  accesses.follow(kernel, x, write)
  return { x = x, write = write }
end

local function make(kernel, c, options)
  local x, from = c.x, c.x.inputs[1]
  local outer, n, inner = accesses.around(from.shape, x.axis)
  local a = accesses.new(kernel, x)
  local d = { type = types.register(from.dtype), outer = outer, n = n, inner = inner, most = x.shape[x.axis], largest = x.largest }
  d.load = a:value(from, accesses.along(from.shape, x.axis, index.var("k", n)))
  d.store = a:write(c.write)
  return a:finish(M.made(a:describe(d), options))
end

return expression.family(M, chosen, make)

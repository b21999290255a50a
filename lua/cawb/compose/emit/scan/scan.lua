-- scan: running sums, products and extremes along one axis, with what stands ahead of them and behind. The elements are numbered (o, k, i):
-- axes in front, the axis, axes behind it. Each block takes a part of the axis; where there are several, two launches ahead take the parts'
-- totals, and the totals before each part.

local accesses = require "cawb.compose.emit.accesses"
local cuda = require "cawb.compose.ir.tree.cuda"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local template = require "cawb.compose.emit.template"
local text = require "cawb.compose.ir.tree.text"

local M = {}

local ceil, sums = template.ceil, accesses.sums

-- Access functions, those of four where inner is 1 and n a multiple of 4.
local functions = {
  "T load(long long o, int k, long long i)",
  "void store(long long o, int k, long long i, T value, T own)",      -- what follows the sum and the element itself
  "void load4(T *v, long long o, int k)",                             -- four elements from k on, a multiple of 4
  "void store4(long long o, int k, const T *v, const T *own)" }

local LONG = 16384          -- elements of a row, from which on a thread has more at a time

local dtypes = { float = "float32", double = "float64", int = "int32", ["long long"] = "int64" }
local sizes = { float = 4, double = 8, int = 4, ["long long"] = 8 }

-- The neutral values of extremes: the least or the largest of a type.
local bounds = { float = { "-INFINITY", "INFINITY" }, double = { "-INFINITY", "INFINITY" }, int = { "(-2147483647 - 1)", "2147483647" },
                 ["long long"] = { "(-9223372036854775807LL - 1)", "9223372036854775807LL" } }

local LOGSUMEXP = "(A == B ? A + 0.6931471805599453 : (A != A || A > B ? A : B) + log1p(exp(-abs(A - B))))"

-- The join of a and b, its neutral value, and its name. NaN stays.
local function joining(d)
  local least, most = table.unpack(bounds[d.type])
  local ways = { sum = { "a + b", "0", "sums" }, prod = { "a * b", "1", "products" }, max = { "(b > a || b != b ? b : a)", least, "maxima" },
                 min = { "(b < a || b != b ? b : a)", most, "minima" },
                 logsumexp = { cuda.write(text.read(LOGSUMEXP, d.type == "double" and "float64" or "float32"), { "a", "b" }), least, "sums of exponentials" } }
  return table.unpack(ways[d.op])
end

local function holes(d)
  local join, neutral, what = joining(d)
  return { T = d.type, JOIN = join, NEUTRAL = neutral, EXCLUSIVE = d.exclusive,
           WHAT = what .. (d.exclusive and " of what is ahead" or "") .. (d.reverse and " from the end" or "") }
end

-- As many parts as make four blocks of each multiprocessor, none of less than so many elements.
local function parts_of(lines, n, least, sms)
  return math.max(1, math.min(4 * sms // math.max(1, lines), n // least, 65535))
end

-- Totals and their running totals, if there are parts; then the scan. `extra`: its last arguments, the
-- last of them the number of parts.
local function launches(d, blocks, lines, block, extra)
  local parts = extra[#extra]
  local scan = { kernel = d.name, grid = { blocks * parts }, block = block }
  if parts == 1 then
    scan.arguments = template.arguments(d, table.unpack(extra))
    return { scan }
  end
  local totals = { scratch = d.name .. "_totals", dtype = dtypes[d.type], numel = lines * parts }
  scan.arguments = template.arguments(d, totals, table.unpack(extra))
  return { { kernel = d.name .. "_total", grid = scan.grid, block = block, arguments = scan.arguments },
           { kernel = d.name .. "_before", grid = { lines }, block = { 32 }, arguments = { totals, parts } }, scan }
end

-- The value that a block begins with, and its parameter.
local function carry(h, parts, at)
  h.PARTS = parts > 1 or nil
  h.STARTS = parts > 1 and ("const %s *__restrict__ starts, "):format(h.T) or ""
  h.CARRY = parts > 1 and at or h.NEUTRAL
end

-- A pack of four by one access, or of one. From the end, the pack's lanes are the other way round.
local function lanes(d, h)
  if d.load4 then
    h.LANES = 4
    local from = d.reverse and "n - 4 - 4 * k" or "4 * k"
    local swap = d.reverse and "{ %s a = v[0]; v[0] = v[3]; v[3] = a; a = v[1]; v[1] = v[2]; v[2] = a; }" or ""
    h.LOAD = ("%s_load4(%s, v, o, %s); %s"):format(d.name, h.PASS, from, swap:format(d.type))
    h.STORE = d.reverse
      and ("const %s back[4] = { v[3], v[2], v[1], v[0] }, kept[4] = { own[3], own[2], own[1], own[0] };\n        "
        .. "%s_store4(%s, o, %s, back, kept);"):format(d.type, d.name, h.PASS, from)
      or ("%s_store4(%s, o, %s, v, own);"):format(d.name, h.PASS, from)
  else
    local from = d.reverse and "n - 1 - k" or "k"
    h.LANES, h.LOAD = 1, ("v[0] = %s_load(%s, o, %s, 0);"):format(d.name, h.PASS, from)
    h.STORE = ("%s_store(%s, o, %s, 0, v[0], own[0]);"):format(d.name, h.PASS, from)
  end
end

local function fill(name, d, h) return template.fill("scan/scan_parts", d, h) .. template.fill(name, d, h) end

local function rows(d, how, sms)
  local h = holes(d)
  h.PASS = template.names(d.parameters)
  lanes(d, h)
  local packs, threads = how.packs or 16 // sizes[d.type], how.threads
  if not how.packs and h.LANES == 4 and d.n >= LONG then packs = 8 end      -- fewer threads with more registers
  if not threads then                          -- no more of them than packs
    threads = 32
    while threads < 1024 and threads * h.LANES < d.n do threads = threads * 2 end
  end
  local many = (packs * sizes[d.type] <= 16 and 2048 or 1024) // threads
  h.THREADS, h.PACKS, h.WARPS, h.CROWD = threads, packs, threads // 32, math.max(1, math.min(8, many))
  local chunk, all = threads * packs, ceil(d.n, h.LANES)
  local parts = how.parts or parts_of(d.outer, d.n, 8192, sms)
  local part = ceil(all, parts * chunk) * chunk
  parts = ceil(all, part)
  carry(h, parts, "starts[blockIdx.x]")
  return fill("scan/scan_rows", d, h), launches(d, d.outer, d.outer, { threads }, { d.n, part, parts })
end

local function columns(d, how, sms)
  local h = holes(d)
  h.PACKS = how.packs or 32 // sizes[d.type]
  h.SLICES = how.slices or math.max(1, math.min(16, ceil(d.n, h.PACKS)))
  h.PLACE = d.reverse and "n - 1 - k" or "k"
  local blocks, chunk = d.outer * ceil(d.inner, 32), h.PACKS * h.SLICES
  local parts = how.parts or parts_of(blocks, d.n, 1024, sms)
  local part = ceil(d.n, parts * chunk) * chunk
  parts = ceil(d.n, part)
  carry(h, parts, ("at.i < inner ? starts[(at.o * inner + at.i) * parts + blockIdx.x %% parts] : %s"):format(h.NEUTRAL))
  return fill("scan/scan_columns", d, h),
    launches(d, blocks, d.outer * d.inner, { 32, h.SLICES }, { d.n, d.inner, part, parts })
end

--- The kernels of a description (template.lua): type of the sums in C; op, "sum", "prod", "max", "min" or "logsumexp", the logarithm of a sum
--- of exponentials; outer, n and inner elements; exclusive, whether each element is left out of its own sum; reverse, from the end of the axis
--- to its beginning. `how`: threads (a power of two, 32 to 1024), packs of a thread, parts of the axis. If inner is above 1, slices of a block
--- (at most 32) instead of threads. `sms`: multiprocessors.
function M.made(d, how, sms)
  if d.outer * d.n * d.inner == 0 then return { text = "", launches = {} } end
  local text, list = (d.inner == 1 and rows or columns)(d, how or {}, sms)
  return { text = template.complete(d, template.functions(d, functions), text), launches = list }
end

-- From the end: the k-th element of memory is that many from the end of the running sum.
local function counted(k, n, reverse) return reverse and index.back(k, n) or k end

-- What is written of each element, and of four neighbours if there are packs of them: { known =, at = } as Accesses:write takes them.
local function writes(x, reverse)
  local _, n, inner = accesses.around(x.shape, x.axis)
  local function at(k) return accesses.along(x.shape, x.axis, counted(k, n, reverse)) end
  local function root_at(k) return accesses.same_place(x, accesses.along(x.shape, x.axis, k)) end
  local k, type = index.var("k", n), sums[x.dtype]
  local one, four = { known = { { x, at(k), "value" }, { x.inputs[1], at(k), "own" } }, at = { root_at(k) }, load = at(k) }, nil
  if inner == 1 and n % 4 == 0 and n > 0 and (type == "float" or type == "int") then
    four = { known = {}, at = {}, load = {} }
    for lane, e in ipairs(accesses.neighbours(n, 4)) do
      local i = at(e)
      four.load[lane], four.at[lane] = i, root_at(e)
      four.known[2 * lane - 1] = { x, i, ("v[%d]"):format(lane - 1) }
      four.known[2 * lane] = { x.inputs[1], i, ("own[%d]"):format(lane - 1) }
    end
  end
  return one, four
end

-- Refuses where the results cannot be written in this direction.
local function check(kernel, x, reverse)
  accesses.follow(kernel, x, writes(x, reverse))
  return { x = x, reverse = reverse }
end

-- The scan, and whether it goes through memory from the end because an epilogue reverses the axis; raises a refusal.
local function chosen(kernel)
  local x = accesses.anchor(kernel, { scan = true })
  if not sums[x.dtype] then expression.refuse("no scan sums " .. x.dtype) end
  return expression.attempt(check, kernel, x, false) or check(kernel, x, true)
end

local FIRST = "const int t = k / 4;"

local function make(kernel, c, options, chip)
  local x, one, four = c.x, writes(c.x, c.reverse)
  local a, outer, n, inner = accesses.new(kernel, x), accesses.around(x.shape, x.axis)
  local d = { op = x.op, type = sums[x.dtype], outer = outer, n = n, inner = inner, reverse = c.reverse, exclusive = x.exclusive }
  d.load, d.store = a:value(x.inputs[1], one.load), a:write(one)
  if four then d.load4, d.store4 = a:values(x.inputs[1], four.load, FIRST), a:write(four, FIRST) end
  return a:finish(M.made(a:describe(d), options, chip.sms))
end

return expression.family(M, chosen, make)

-- rows: reduces over one set of rows, each joined by the lanes of a block, and what follows from
-- them on the same rows. Lanes are neighbours along what is joined, or across it (columns) where memory
-- is contiguous that way. What a lane loads once stays in its registers where it fits.

local expression = require "cawb.compose.kernel.expression"
local graphs = require "cawb.compose.graph"
local index = require "cawb.compose.index"
local types = require "cawb.graph.types"

local M = {}

local LONG = 32        -- steps of a loop that are added one after the other
local ROOM = 64        -- registers for what is kept

local function count(list)
  local n = 1
  for _, size in ipairs(list) do n = n * size end
  return n
end

--- Rows and columns of a reduce: how many results, and of how many elements each.
function M.space(reduce) return graphs.numel(reduce.shape), count(expression.axes(reduce)) end

-- The indices of a reduce's input: its row's, and those of the column.
local function inner(reduce, row, column)
  local i = index.unravel(row, reduce.shape)
  return expression.merged(reduce, i, index.unravel(column, expression.axes(reduce)))
end

-- The indices of a root: an element for each row and column, or for each row.
local function outer(kernel, root, row, column)
  local first = kernel.members[1]
  local rows, columns = M.space(first)
  local n = graphs.numel(root.shape)
  if n == rows * columns and (columns > 1 or root.kind ~= "reduce") and column then
    return index.unravel(index.ravel(inner(first, row, column), first.inputs[1].shape), root.shape)
  end
  if n == rows then return index.unravel(row, root.shape) end
  expression.refuse(("a root of %d elements on %d rows of %d"):format(n, rows, columns))
end

local function is_whole(kernel, root)
  local rows, columns = M.space(kernel.members[1])
  return graphs.numel(root.shape) == rows * columns and not (columns == 1 and root.kind == "reduce")
end

-- How far apart neighbours along rows and columns lie in the largest tensor that is read.
local function strides(kernel, row, column)
  local best, found = -1, { 0, 0 }
  local seen = {}
  local function visit(x, i)
    if seen[x] or x.source == "fill" or x.source == "iota" then return end
    seen[x] = true
    if x.strides then
      local n = graphs.numel(x.shape)
      if n <= best then return end
      local place = index.place(i, x.strides, 0)
      local zero = index.evaluate(place, { row = 0, k = 0 })
      best, found = n, { index.evaluate(place, { row = 1, k = 0 }) - zero, index.evaluate(place, { row = 0, k = 1 }) - zero }
    elseif x.kind == "map" then
      for _, input in ipairs(x.inputs) do visit(input, i) end
    elseif x.kind == "view" then
      for _, p in ipairs(x.pieces) do visit(x.inputs[p.input], p.index(i)) end
    end
  end
  local first = kernel.members[1]
  visit(first.inputs[1], inner(first, row, column))
  return found[1], found[2]
end

local function power_above(n)
  local p = 1
  while p < n do p = p * 2 end
  return p
end

-- Columns that a lane takes together.
local function width(kernel, columns)
  local v = columns % 4 == 0 and 4 or columns % 2 == 0 and 2 or 1
  for _, x in ipairs(kernel.roots) do
    while v * types.size(x.dtype) > 16 do v = v // 2 end
  end
  return v
end

--- How the kernel is cut, unless options say so: lanes of a row, rows of a block, columns of a lane's step.
local function choose(kernel, options)
  local rows, columns = M.space(kernel.members[1])
  local across, along = strides(kernel, index.var("row", rows), index.var("k", columns))
  local by_columns = math.abs(along) ~= 1 and math.abs(across) == 1 and rows >= 8
  local o = { columns = by_columns, vector = by_columns and 1 or width(kernel, columns) }
  for key, value in pairs(options or {}) do o[key] = value end
  if columns % o.vector ~= 0 then o.vector = 1 end
  local steps = columns // o.vector
  if o.columns then
    o.across = o.across or math.min(32, power_above(rows))
    o.lanes = o.lanes or math.min(1024 // o.across, math.max(32 // o.across, power_above((steps + 15) // 16)))
    o.threads, o.high = o.across * o.lanes, o.across
  else
    o.lanes = o.lanes or math.min(512, power_above((steps + 3) // 4))
    o.threads = math.max(o.lanes, 128)
    o.high = o.threads // o.lanes
  end
  o.threads = math.max(o.threads, 32)
  o.rows, o.count, o.steps = rows, columns, steps
  return o
end

-- The step at which a reduce's inputs are known: behind the members that it needs.
local function levels(kernel)
  local level, members = {}, {}
  for _, x in ipairs(kernel.members) do members[x] = true end
  local function visit(x, seen)
    local most = 0
    if seen[x] then return seen[x] end
    if members[x] then most = level[x]
    elseif not x.stored or kernel.inside[x] then
      for _, input in ipairs(x.inputs) do most = math.max(most, visit(input, seen)) end
    end
    seen[x] = most
    return most
  end
  local list = {}
  for _, x in ipairs(kernel.members) do
    level[x] = 1 + visit(x.inputs[1], {})
    list[level[x]] = list[level[x]] or {}
    table.insert(list[level[x]], x)
  end
  return list
end

-- Variables for a reduce on its way.
local function begin(body, x)
  local place = x.op:find "^arg"
  local dtype = place and x.inputs[1].dtype or x.dtype
  local how = expression.joining(place and x.op:sub(4) or x.op, dtype)
  local acc = { node = x, dtype = dtype, how = how, place = place, name = body:name "acc", at = place and body:name "at" }
  body:line("%s %s = %s;", types.register(dtype), acc.name, how.start)
  if place then body:line("long long %s = 0;", acc.at) end
  return acc
end

local function named(body, dtype, text)
  local name = body:name "e"
  body:line("const %s %s = %s;", types.register(dtype), name, text)
  return name
end

-- Join the elements of one step, pair by pair, into `into`.
local function take(body, acc, into, values)
  while #values > 1 do
    local half = {}
    for k = 1, #values, 2 do
      half[#half + 1] = values[k + 1] and named(body, acc.dtype, acc.how.join(values[k], values[k + 1])) or values[k]
    end
    values = half
  end
  body:line("%s = %s;", into, acc.how.join(into, values[1]))
end

-- The loop of a lane over its columns; `step(k)` is called once, k being the number of its pack.
local function loop(body, o, j, step)
  local ceil = (o.steps + o.lanes - 1) // o.lanes
  if ceil <= LONG then body:line "#pragma unroll" end
  body:open("for (int %s = 0; %s < %d; %s++) {", j, j, ceil, j)
  body:line("const int k = %s * %d + lane;", j, o.lanes)
  local partial = o.steps % o.lanes ~= 0
  if partial then body:open("if (k < %d) {", o.steps) end
  step(index.var("k", o.steps))
  if partial then body:close() end
  body:close()
end

-- The same with sums of short stretches, where it is long.
local function long_loop(body, o, accs, j, step)
  local ceil = (o.steps + o.lanes - 1) // o.lanes
  if ceil <= LONG then
    local into = {}
    for k, acc in ipairs(accs) do into[k] = acc.name end
    return loop(body, o, j, function(k) step(k, into) end)
  end
  body:open("for (int q = 0; q < %d; q += %d) {", ceil, LONG)
  local into = {}
  for k, acc in ipairs(accs) do
    into[k] = acc.place and acc.name or body:name "part"
    if not acc.place then body:line("%s %s = %s;", types.register(acc.dtype), into[k], acc.how.start) end
  end
  body:open("for (int %s = q; %s < min(q + %d, %d); %s++) {", j, j, LONG, ceil, j)
  body:line("const int k = %s * %d + lane;", j, o.lanes)
  body:open("if (k < %d) {", o.steps)
  step(index.var("k", o.steps), into)
  body:close()
  body:close()
  for k, acc in ipairs(accs) do
    if not acc.place then body:line("%s = %s;", acc.name, acc.how.join(acc.name, into[k])) end
  end
  body:close()
end

local function columns_of(o, k)
  local list = {}
  for lane = 1, o.vector do list[lane] = index.plus(index.scale(k, o.vector), lane - 1) end
  return list
end

local better = "[](P a, P b) -> P { return (b.value %s a.value || (b.value != b.value && a.value == a.value) || "
  .. "((b.value == a.value || (b.value != b.value && a.value != a.value)) && b.at < a.at)) ? b : a; }"

-- One result for all lanes.
local function join(body, o, acc)
  local call = o.columns and ("join_columns<%d, %d>"):format(o.lanes, o.across)
    or ("join_rows<%d, %d>"):format(o.lanes, o.threads)
  local register = types.register(acc.dtype)
  if acc.place then
    local sign = acc.node.op == "argmax" and ">" or "<"
    local both = body:name "both"
    body:line("const placed<%s> %s = %s(placed<%s>{ %s, %s }, %s);", register, both, call, register, acc.name, acc.at,
      (better:format(sign):gsub("%f[%a]P%f[%A]", ("placed<%s>"):format(register))))
    return both .. ".at"
  end
  local all = body:name "all"
  body:line("const %s %s = %s(%s, [](%s a, %s b) -> %s { return %s; });", register, all, call, acc.name, register,
    register, register, acc.how.join("a", "b"))
  return all
end

local function fold(body, kernel, o, members, row)
  local accs = {}
  for k, x in ipairs(members) do accs[k] = begin(body, x) end
  long_loop(body, o, accs, "j", function(step, into)
    for n, acc in ipairs(accs) do
      local values = {}
      for k, column in ipairs(columns_of(o, step)) do
        local x = acc.node.inputs[1]
        values[k] = named(body, acc.dtype, body:value(x, inner(acc.node, row, column)))
        if acc.place then body:join_place(acc.node.op, acc.name, acc.at, values[k], index.c(column)) end
      end
      if not acc.place then take(body, acc, into[n], values) end
    end
  end)
  for _, acc in ipairs(accs) do
    body:know(acc.node, index.unravel(row, acc.node.shape), join(body, o, acc))
  end
end

local function write_whole(body, kernel, o, roots, row)
  loop(body, o, "j", function(step)
    local columns = columns_of(o, step)
    for _, root in ipairs(roots) do
      local list, texts = {}, {}
      for k, column in ipairs(columns) do
        list[k] = outer(kernel, root, row, column)
        texts[k] = body:value(root, list[k])
      end
      body:store_all(root, list, texts)
    end
  end)
end

local function write(body, kernel, o, row)
  local whole, single = {}, {}
  for _, root in ipairs(kernel.roots) do
    local list = is_whole(kernel, root) and whole or single
    list[#list + 1] = root
  end
  local guard = o.rows % o.high ~= 0
  if guard then body:open "if (real) {" end
  if #whole > 0 then write_whole(body, kernel, o, whole, row) end
  if #single > 0 then
    body:open "if (lane == 0) {"
    for _, root in ipairs(single) do
      local i = outer(kernel, root, row)
      body:store(root, i, body:value(root, i))
    end
    body:close()
  end
  if guard then body:close() end
end

-- Which row and lane a thread is. Of a block's rows beyond the last, threads do the last row's work.
local function places(body, o)
  local a, b = "threadIdx.x / %d", "threadIdx.x %% %d"
  body:line("const int lane = " .. (o.columns and a or b):format(o.columns and o.across or o.lanes) .. ";")
  local mine = (o.columns and b or a):format(o.columns and o.across or o.lanes)
  if o.high == 1 then mine = "0" end
  local first = o.high == 1 and "blockIdx.x" or ("blockIdx.x * %d + %s"):format(o.high, mine)
  if o.rows % o.high == 0 then return body:line("const int row = %s;", first) end
  body:line("const bool real = %s < %d;", first, o.rows)
  body:line("const int row = real ? %s : %d;", first, o.rows - 1)
end

--- See the README. `options`: columns, lanes, across, vector.
function M.generate(kernel, options)
  local o = choose(kernel, options)
  local body = expression.new(kernel, o.vector)
  kernel.inside = body.inside
  body.known_only = {}
  for _, x in ipairs(kernel.members) do body.known_only[x] = true end
  places(body, o)
  local row = index.var("row", o.rows)
  local steps = (o.steps + o.lanes - 1) // o.lanes
  local at = #body.lines
  local declared = steps <= LONG and body:keep("k", steps, ROOM, "j") or {}
  for _, members in ipairs(levels(kernel)) do fold(body, kernel, o, members, row) end
  write(body, kernel, o, row)
  for k, text in ipairs(declared) do table.insert(body.lines, at + k, "  " .. text) end
  local parameters, nodes = body:parameters()
  return { text = ("extern \"C\" __global__ void __launch_bounds__(%d)\n%s(%s) {\n%s\n}\n"):format(o.threads, kernel.name,
             parameters, body:text()), headers = body.headers, needs = { "join" },
           launches = { { kernel = kernel.name, grid = { (o.rows + o.high - 1) // o.high }, block = { o.threads },
                          arguments = nodes } } }
end

return M

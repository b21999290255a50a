-- rows: reduces over one set of rows, each by the lanes of a block, and maps of their results on the same rows. Lanes are neighbours
-- along a row, or across rows (columns) where memory is contiguous that way. Loaded values stay in a lane's registers if they fit.

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lanes = require "cawb.compose.emit.lanes"
local lists = require "cawb.base.lists"
local numbering = require "cawb.compose.emit.numbering"
local online = require "cawb.compose.emit.rows.online"
local types = require "cawb.torch.types"
local walks = require "cawb.compose.emit.walk"

local M = {}

local THREADS = 1024        -- of a block, at most

--- Rows and columns of a reduce: how many results, and of how many elements each.
function M.space(reduce) return graphs.numel(reduce.shape), graphs.numel(expression.axes(reduce)) end

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

-- Columns that a lane takes together.
local function width(kernel, columns)
  local v = columns % 4 == 0 and 4 or columns % 2 == 0 and 2 or 1
  for _, x in ipairs(kernel.roots) do
    while v * types.size(x.dtype) > 16 do v = v // 2 end
  end
  return v
end

-- How the kernel is cut, unless options say so: see lanes.cut. `vector`: columns of a lane's step.
local function choose(kernel, options, chip, phases)
  local rows, columns = M.space(kernel.members[1])
  local by_columns, turned = numbering.direction(kernel, rows, columns, inner)
  local o = { columns = by_columns, turned = turned, vector = by_columns and 1 or width(kernel, columns) }
  for key, value in pairs(options or {}) do o[key] = value end
  if columns % o.vector ~= 0 then o.vector = 1 end
  o.rows, o.count = rows, columns
  lanes.cut(o, phases, chip)
  if o.threads > THREADS then expression.refuse(("blocks of %d threads"):format(o.threads)) end
  return o
end

-- The step at which a reduce's inputs are known: behind the members that it needs.
local function levels(kernel)
  local level, members, inside = {}, lists.set(kernel.members), expression.new(kernel).inside
  local function visit(x, seen)
    local most = 0
    if seen[x] then return seen[x] end
    if members[x] then most = level[x]
    elseif not x.stored or inside[x] then
      for _, input in ipairs(x.inputs) do most = math.max(most, visit(input, seen)) end
    end
    seen[x] = most
    return most
  end
  return lists.groups(kernel.members, function(x)
    level[x] = 1 + visit(x.inputs[1], {})
    return level[x]
  end)
end

-- Variables for a reduce on its way.
local function begin(body, o, x)
  local place = x.op:find "^arg"
  local dtype = place and x.inputs[1].dtype or x.dtype
  local how = expression.joining(place and x.op:sub(4) or x.op, dtype)
  local acc = { node = x, dtype = dtype, how = how, place = place, name = body:name "acc", at = place and body:name "at" }
  body:line("%s %s = %s;", types.register(dtype), acc.name, how.start)
  if place then body:line("%s %s = 0;", o.count > 2147483647 and "long long" or "int", acc.at) end
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

-- Sums of stretches of a long loop, each in a variable of its own; a place has none.
local function stretches(body, accs)
  local all = lists.map(accs, function(acc) return acc.name end)
  local function begin()
    local into = {}
    for k, acc in ipairs(accs) do
      into[k] = acc.place and acc.name or body:name "part"
      if not acc.place then body:line("%s %s = %s;", types.register(acc.dtype), into[k], acc.how.start) end
    end
    return into
  end
  local function finish(into)
    for k, acc in ipairs(accs) do
      if not acc.place then body:line("%s = %s;", acc.name, acc.how.join(acc.name, into[k])) end
    end
  end
  return { all = all, begin = begin, finish = finish }
end

local function columns_of(o, k)
  return lists.times(o.vector, function(lane) return index.plus(index.scale(k, o.vector), lane - 1) end)
end

local better = "(b.value %s a.value || (b.value != b.value && a.value == a.value) || "
  .. "((b.value == a.value || (b.value != b.value && a.value != a.value)) && b.at < a.at))"

-- One result for all lanes.
local function join(body, o, acc)
  local call = o.columns and ("join_columns<%d, %d>"):format(o.lanes, o.across)
    or o.stays == "shared" and o.cluster > 1 and ("join_cluster<%d, %d>"):format(o.cluster, o.threads)
    or ("join_rows<%d, %d>"):format(o.lanes, o.threads)
  local register = types.register(acc.dtype)
  if acc.place then
    local both, pair = body:name "both", ("placed<%s>"):format(register)
    body:line("const %s %s = %s(%s{ %s, %s }, [](%s a, %s b) -> %s { return %s ? b : a; });", pair, both, call, pair, acc.name, acc.at,
      pair, pair, pair, better:format(acc.node.op == "argmax" and ">" or "<"))
    return both .. ".at"
  end
  local all = body:name "all"
  body:line("const %s %s = %s(%s, [](%s a, %s b) -> %s { return %s; });", register, all, call, acc.name, register,
    register, register, acc.how.join("a", "b"))
  return all
end

-- Accumulators of a level's members; the sum that goes with a largest stands behind it.
local function begun(body, o, members)
  local accs = {}
  for _, x in ipairs(members) do
    if o.with[x] then
      local acc = online.begin(body, x, o.with[x])
      accs[#accs + 1], accs[#accs + 2] = acc, acc.sum
    else
      accs[#accs + 1] = begin(body, o, x)
    end
  end
  return accs
end

-- Joins a step's elements into an accumulator, and into the sum that goes with it.
local function joined(body, o, acc, into, n, row, step)
  local values = {}
  for k, column in ipairs(columns_of(o, step)) do
    values[k] = named(body, acc.dtype, body:value(acc.node.inputs[1], inner(acc.node, row, column)))
    if acc.place then body:join_place(acc.node.op, acc.name, acc.at, values[k], index.c(column)) end
  end
  if acc.place then return end
  take(body, acc, into[n], { table.unpack(values) })
  if not acc.sum then return end
  local terms = online.step(body, acc, into[n], into[n + 1], values)
  for k, term in ipairs(terms) do terms[k] = named(body, acc.dtype, term) end
  take(body, acc.sum, into[n + 1], terms)
end

local function fold(body, o, members, row, first)
  local accs = begun(body, o, members)
  lanes.loop(body, o, stretches(body, accs), function(step, into)
    for n, acc in ipairs(accs) do
      if acc.node then joined(body, o, acc, into, n, row, step) end
    end
  end, { waits = first and o.stays == "shared" })
  local function know(x, name) body:know(x, index.unravel(row, x.shape), name) end
  for _, acc in ipairs(accs) do
    if acc.sum then
      local top, sum = online.join(body, o, acc)
      know(acc.node, top)
      know(o.with[acc.node], sum)
    elseif acc.node then
      know(acc.node, join(body, o, acc))
    end
  end
end

local function write_whole(body, kernel, o, roots, row, on_chip)
  lanes.each(body, o, function(step)
    local columns = columns_of(o, step)
    for _, root in ipairs(roots) do
      local list = lists.map(columns, function(column) return outer(kernel, root, row, column) end)
      body:store_all(root, list, lists.map(list, function(i) return body:value(root, i) end))
    end
  end, lanes.refill(body, o, on_chip))
end

-- The roots that have an element for each column, and those that have one for each row.
local function parted(kernel)
  return lists.filter(kernel.roots, function(root) return is_whole(kernel, root) end),
    lists.filter(kernel.roots, function(root) return not is_whole(kernel, root) end)
end

local function write(body, kernel, o, row, on_chip)
  local whole, single = parted(kernel)
  local guard = o.rows % o.high ~= 0
  if guard then body:open "if (real) {" end
  if #whole > 0 then write_whole(body, kernel, o, whole, row, on_chip) end
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

-- All of the kernel's statements, in a body or a walk. Returns it, its line ahead of the first loop, and the arrays that stay on the chip.
local function statements(body, kernel, o)
  body.known_only, body.selecting = lists.set(kernel.members), { row = true, k = true }      -- members are computed once for each row
  lanes.places(body, o)
  local row, at = numbering.row(o.rows, o.turned), #body.lines
  local list = body:keep { wanted = o.wanted, ahead = o.stays == "shared", name = "k", slot = lanes.slot(o) }
  for n, members in ipairs(o.levels) do
    body:next_phase()
    fold(body, o, members, row, n == 1)
  end
  body:next_phase()
  write(body, kernel, o, row, list)
  lanes.leave(body, o, #kernel.members, next(o.with) ~= nil)
  return body, at, list
end

-- Whether all roots are reduces of the kernel: nothing follows from them.
local function are_members(kernel)
  local members = lists.set(kernel.members)
  return lists.all(kernel.roots, function(root) return members[root] end)
end

-- What several loops load or compute, as Walk.keep has it; nothing where there is one loop. Raises a refusal where a member is needed at
-- another place than its row.
local function loaded_again(kernel, o)
  if #o.levels == 1 and #parted(kernel) == 0 and are_members(kernel) then return {} end
  local walk = statements(walks.new(kernel, o.vector), kernel, o)
  o.selects = #walk.early > 0
  return walk.again
end

-- Declares the arrays that stay, ahead of the first loop. Returns the bytes of shared memory.
local function declare(body, o, list, at)
  local lines, bytes = {}, nil
  if o.stays == "shared" then
    lines, bytes = lanes.fill(o, list)
  else
    local each = (o.steps + o.lanes - 1) // o.lanes
    for k, e in ipairs(list) do lines[k] = ("%s %s[%d];"):format(e.kind, e.name, each) end
  end
  table.move(lines, 1, #lines, #body.early + 1, body.early)
  for k, text in ipairs(body.early) do table.insert(body.lines, at + k, "  " .. text) end
  return bytes
end

local function launch(kernel, o, nodes, shared)
  local cluster = o.stays == "shared" and o.cluster or 1
  return { kernel = kernel.name, grid = { (o.stays == "shared" and o.places or (o.rows + o.high - 1) // o.high) * cluster }, block = { o.threads },
           shared = shared, cluster = cluster > 1 and { cluster } or nil, arguments = nodes }
end

-- Places of extremes take more than their memory's time: they want the multiprocessor full.
local function is_plain(kernel) return not lists.any(kernel.members, function(x) return x.op:find "^arg" end) end

local function needs(o)
  local list = { "join" }
  if o.stays == "shared" then
    list[2] = "hold"
    if o.cluster > 1 or next(o.with) then list[3] = "join_cluster" end
    if next(o.with) then list[4] = "online" end
  end
  return list
end

-- The levels where sums of exponentials are taken with the largest: see online.joined.
local function paired(o)
  local row, column = numbering.row(o.rows, o.turned), index.var("k", o.count)
  return online.joined(o.levels, function(x) return inner(x, row, column) end, row)
end

-- How a kernel is made, as o; raises a refusal where it cannot be. `options`: columns, lanes, across, vector; and for rows in shared memory:
--   cluster, block  blocks of a cluster, threads of a block
--   stay            true: a block takes one row after another
--   places          rows at a time, then
--   online          false: the largest first, then the sum
--   hold            false: not in shared memory
local function describe(kernel, options, chip)
  local whole, list = parted(kernel), levels(kernel)
  local o = choose(kernel, options, chip, #list + math.min(1, #whole))
  o.stores, o.joins, o.levels, o.with = #whole > 0, #kernel.members, list, {}
  if not lanes.stay(o, loaded_again(kernel, o), chip) then expression.refuse "what it computes does not stay on the chip" end
  if o.stays == "shared" and o.online ~= false then o.levels, o.with = paired(o) end
  return o
end

local function make(kernel, o, _, chip)
  local body, at, list = statements(expression.new(kernel, o.vector), kernel, o)
  local shared = declare(body, o, list, at)
  local taken = shared or is_plain(kernel) and lanes.alone(o, chip) or nil
  local bounds = o.stays == "shared" and ("%d, %d"):format(o.threads, o.beside) or tostring(o.threads)
  local text, nodes = body:as_kernel(bounds, shared and "extern __shared__ __align__(16) unsigned char held[];\n\n")
  return { text = text, headers = body.headers, needs = needs(o), columns = o.columns and #o.levels > 0, launches = { launch(kernel, o, nodes, taken) } }
end

return expression.family(M, describe, make)

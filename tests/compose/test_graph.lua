-- A graph as text: what is read back is the same graph, and becomes the same kernels.

local composed = dofile "tests/support/composed.lua"
local drawn = dofile "tests/fuzz/graphs.lua"
local compose = require "cawb.compose"
local graphs = require "cawb.compose.ir.graph"
local import = require "cawb.compose.operators.import"
local index = require "cawb.compose.ir.index"
local store = require "cawb.compose.ir.store"
local views = require "cawb.compose.ir.view"
local check = composed.check

-- The kernels of a task, and those of its graph, stored and read back.
local function compare(task)
  local g = assert(import.graph(task, {}))
  local text = store.text(g)
  check.equal(store.text(store.read(text)), text)
  local made, again = assert(compose.make(task)), assert(compose.make(task, { graph = text }))
  check.equal(again.source, made.source)
  check.equal(again.plan, made.plan)
end

local function try(name, forward, inputs, setup)
  check.test(name, function()
    local task <close> = assert(composed.task(forward, inputs, setup))
    compare(task)
  end)
end

-- Of tasks whose results say something of their inputs.
for _, seed in ipairs { 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310 } do
  local values = drawn.draw(seed)
  local forward, inputs = drawn.text(values, { values[#values] }, drawn.type_of(seed))
  try(("the graph of random task %d is the same when it was stored"):format(seed), forward, inputs, drawn.setup(drawn.type_of(seed)))
end

try("so are strided convolutions and windows", "return F.max_pool2d(F.conv2d(x, y, stride=2, padding=1), 3)",
  "[torch.randn(2, 3, 16, 16), torch.randn(8, 3, 3, 3)]")
try("recurrent layers", "return self.l(x)[0]", "[torch.randn(5, 2, 8)]", "self.l = nn.LSTM(8, 16, 2)")
try("concatenations, scatters, sorts", "return torch.sort(torch.cat([x, y.scatter(1, torch.arange(3)[None].expand(4, 3), x[:, :3])], 1))[0]",
  "[torch.randn(4, 5), torch.randn(4, 7)]")
try("norms and diagonals", "return F.layer_norm(x @ torch.diag(y), (6,)).tril()", "[torch.randn(6, 6), torch.randn(6)]")

-- ---- views

local function shown(x, shape, at, guard) return store.view(graphs.new():view(x, shape, at, guard, 0)) end

check.test("a view is the same however it was written", function()
  local x = { id = 1, kind = "leaf", shape = { 4, 6 }, dtype = "float32", inputs = {} }
  local plain = shown(x, { 24 }, function(i) return index.unravel(i[1], { 4, 6 }) end)
  check.equal(plain, "%1[r1 / 6, r1 % 6] else 0")
  check.equal(shown(x, { 24 }, function(i)
    local j = index.unravel(i[1], { 2, 2, 6 })
    return { index.add(j[2], j[1], 2), j[3] }
  end), plain)
  assert(shown(x, { 24 }, function(i) return index.unravel(index.plus(index.scale(i[1], -1), 23), { 4, 6 }) end) ~= plain)
end)

check.test("a view of a view is one view", function()
  local g = graphs.new()
  local x = g:node { kind = "leaf", source = "input:1", shape = { 4, 6 }, dtype = "float32" }
  local y = g:permute(g:permute(x, { 2, 1 }), { 2, 1 })
  check.equal(y.inputs[1], x)
  check.equal(store.view(y), "%1[r1, r2]")
end)

check.test("guards that always hold are none", function()
  local x = { id = 1, kind = "leaf", shape = { 8 }, dtype = "float32", inputs = {} }
  local y = graphs.new():view(x, { 4 }, function(i) return i end, function(i) return { i[1], index.plus(index.scale(i[1], -1), 7) } end, 0)
  assert(views.plain(y))
  local z = graphs.new():view(x, { 9 }, function(i) return i end, function(i) return { i[1], index.plus(index.scale(i[1], -1), 7) } end, 0)
  check.equal(#z.pieces[1].guards, 1)
end)

-- ---- what is no graph

local function refuses(text, why)
  local ok, message = pcall(store.read, text)
  assert(not ok and tostring(message):find(why, 1, true), tostring(message))
end

check.test("a text that is no graph is refused, with its line", function()
  refuses("%1 = leaf float32[4] () { source = }\n", "line 1 of the graph: graph:1: unexpected symbol near '}'")
  refuses("%1 = view float32[4] %2[r7] {}\n", "line 1 of the graph: 'r7' is no dimension of the view")
  refuses("%1 = leaf float32[4] { source = 1 }\n", "line 1 of the graph: a node, its kind, type, shape, inputs and fields are wanted")
  refuses("%1 = view float32[4] %2[r1] {}\nreturn %1\n", "%2 is named in the graph and has no line")
end)

return check.done()

-- Weights of products, and of what they sum over: a weighted sum of a batch's products as one product of longer sums (longer), weights that
-- go into the factor that parameters make up (scaled_factor). Bit by bit on small whole numbers, where the rules must not match, and through the judge.

local check = dofile "tests/support/check.lua"
local composed = dofile "tests/support/composed.lua"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local interpret = dofile "tests/compose/interpret.lua"
local rewrite = require "cawb.compose.rewrite.rewrite"

local seed = math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 7))
math.randomseed(seed)
local rounds = os.getenv "CAWB_TEST_BRIEF" and 8 or 50
local random = math.random

-- Small whole numbers, the same for the same place of the same tensor.
local values = setmetatable({}, { __index = function(_, source)
  return function(n) return (n * 7919 + #source * 104729 + (n * n) % 31) % 9 - 4 end
end })

local function leaf(g, name, ...)
  local shape = { ... }
  return g:node { kind = "leaf", source = name, shape = shape, dtype = "float64", strides = graphs.contiguous(shape) }
end

-- What `build` makes, computed once as it is and once rewritten: the number of steps, where every element is the same.
local function steps_of(build, d)
  local function made(change)
    local g = graphs.new()
    g.outputs = { build(g, d) }
    local steps = change and rewrite.apply(g:clean()) or {}
    return interpret(g:clean(), values), #steps, steps[1] and steps[1].rule
  end
  local want = made(false)
  local got, count, name = made(true)
  for k, list in ipairs(want) do
    for i, v in ipairs(list) do assert(got[k][i] == v, ("output %d, element %d: %s, want %s (seed %d)"):format(k, i, got[k][i], v, seed)) end
  end
  return count, name
end

-- b batches of c products of m x k and k x n.
local function sizes() return { b = random(3), c = random(2, 4), m = random(6), n = random(6), k = random(6), ahead = random(0, 2), turned = random(2) == 1 } end

local function products(g, d, b)
  return g:node { kind = "product", inputs = { leaf(g, "input:1", d.b, d.c, d.m, d.k), b or leaf(g, "param:b", d.b, d.c, d.k, d.n), d.bias and leaf(g, "param:bias", d.n) },
                  shape = { d.b, d.c, d.m, d.n }, dtype = "float64" }
end

-- The products behind so many matrices of threes, in another order where they are turned: (b, c, m, n) or (b, n, m, c).
local function joined(g, d, p)
  local x, c = p, d.c + d.ahead
  if d.ahead > 0 then
    local three = g:fill(3, { d.b, d.ahead, d.m, d.n }, "float64")
    x = g:join({ d.b, c, d.m, d.n }, {
      { three, function(i) return i end, function(i) return { index.plus(index.scale(i[2], -1), d.ahead - 1) } end },
      { p, function(i) return { i[1], index.plus(i[2], -d.ahead), i[3], i[4] } end } })
  end
  return d.turned and g:permute(x, { 1, 4, 3, 2 }) or x
end

-- Their sum with a weight for each, or for each row of each.
local function summed(g, d, p)
  local x, rows = joined(g, d, p), d.rows or 1
  local w = g:reshape(leaf(g, "param:w", d.b, d.c + d.ahead, rows), { d.b, d.c + d.ahead, rows, 1 })
  w = d.turned and g:permute(w, { 1, 4, 3, 2 }) or w
  return g:reduce("sum", g:map("A * B", "float64", { g:broadcast(w, x.shape), x }), { [d.turned and 4 or 2] = true })
end

-- Instances until enough of them matched: how many do is chance.
local function matched(what, rule, build, draw)
  check.test(what, function()
    local times, drawn = 0, 0
    while drawn < rounds or times < rounds // 2 and drawn < 20 * rounds do
      local count, name = steps_of(build, draw())
      times, drawn = times + (count == 1 and name == rule and 1 or 0), drawn + 1
    end
    assert(times >= rounds // 2, ("matched %d times of %d (seed %d)"):format(times, drawn, seed))
  end)
end

matched("random sums, with and without what is no product", "longer_product", function(g, d) return summed(g, d, products(g, d)) end, sizes)

-- A product one of whose factors is multiplied by weights along its terms, or, where d.rows, for each of its own rows or columns.
local function scaled(g, d, w, other)
  local own = d.left and d.m or d.n
  local x, far = leaf(g, "input:1", d.b, d.k, own), other or leaf(g, "param:far", table.unpack(d.left and { d.b, d.k, d.n } or { d.b, d.m, d.k }))
  w = w or leaf(g, "param:w", d.b, d.k, d.rows and own or 1)
  local all = g:map("A * B", "float64", { x, g:broadcast(w, x.shape) })
  local near = d.left and g:permute(all, { 1, 3, 2 }) or all
  return g:node { kind = "product", inputs = d.left and { near, far } or { far, near }, shape = { d.b, d.m, d.n }, dtype = "float64" }, all
end

matched("weights of either factor's terms", "scaled_factor", function(g, d) return (scaled(g, d)) end, function()
  local d = sizes()
  d.left, d.m, d.n = random(2) == 1, d.m + 1, d.n + 1
  return d
end)

local fixed = { b = 2, c = 3, m = 4, n = 5, k = 2, ahead = 1 }

local function unchanged(what, build, other)
  check.test("nothing is rewritten: " .. what, function()
    check.equal((steps_of(build, setmetatable(other or {}, { __index = fixed }))), 0)
  end)
end

local function itself(g, d) return summed(g, d, products(g, d)) end
unchanged("weights that differ among a product's rows", itself, { rows = 4 })
unchanged("products that others read", function(g, d)
  local p = products(g, d)
  return summed(g, d, p), g:reduce("max", p, { [4] = true })
end)
unchanged("products with a bias", itself, { bias = true })
unchanged("several kinds of elements that are no products", itself, { ahead = 3 })
unchanged("more arithmetic than memory", itself, { m = 60, n = 60, k = 60, ahead = 0 })
unchanged("factors that are no smaller than the results, and not known before", function(g, d)
  return summed(g, d, products(g, d, leaf(g, "input:2", d.b, d.c, d.k, d.n)))
end, { k = 40 })
unchanged("a largest of products", function(g, d)
  return g:reduce("max", joined(g, d, products(g, d)), { [2] = true })
end)

local function one(g, d) return (scaled(g, d)) end
unchanged("weights of a factor's own rows", one, { left = true, rows = true })
unchanged("weights of a factor's own columns", one, { rows = true })
unchanged("weights that are not known before", function(g, d) return (scaled(g, d, leaf(g, "input:3", d.b, d.k, 1))) end)
unchanged("weights of a factor where the other one is not known before either", function(g, d) return (scaled(g, d, nil, leaf(g, "input:2", d.b, d.m, d.k))) end)
unchanged("a weighted factor that others read", function(g, d)
  local p, all = scaled(g, d)
  return p, g:reduce("max", all, { [3] = true })
end)

local function right(what, forward, inputs, setup, count, rules)
  check.test("rewritten, and right: " .. what, function()
    local made = composed.right(forward, inputs, setup)
    local names = {}
    for k, s in ipairs(made.rewrites) do names[k] = s.rule end
    check.equal(table.concat(names, " "), rules or "longer_product")
    local _, ahead = made.plan:gsub("prepare%(function%(params%) launch", "")
    local _, all = made.plan:gsub("launch%(", "")
    check.equal(all - ahead, count, made.plan)
  end)
end

local states = "s = torch.einsum('bclhn,bclhp->bchpn', self.b, x)\n"
local setup = "self.b, self.d = nn.Parameter(torch.randn(2, 3, 8, 2, 4)), nn.Parameter(torch.randn(2, 4, 2))"
right("states of blocks", states .. "return (self.d[:, 1:, :, None, None] * s).sum(1)", "[torch.rand(2, 3, 8, 2, 12)]", setup, 1)
right("states of blocks behind one of zeros", states .. "return (self.d[..., None, None] * torch.cat([torch.zeros_like(s[:, :1]), s], 1)).sum(1)",
  "[torch.rand(2, 3, 8, 2, 12)]", setup, 1)
right("weights of terms", "return torch.einsum('bclhp,bclhn->bchpn', x * self.d[:, :3, None, :, None], self.b)", "[torch.rand(2, 3, 8, 2, 12)]", setup, 1, "scaled_factor")
right("weights of terms, and of states", "return (self.d[:, 1:, :, None, None] * torch.einsum('bclhp,bclhn->bchpn', x * self.d[:, :3, None, :, None], self.b)).sum(1)",
  "[torch.rand(2, 3, 8, 2, 12)]", setup, 1, "longer_product scaled_factor")

return check.done()

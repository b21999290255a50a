-- Layers of a recurrent net that go on at the same time, each some steps behind the one below: right for every cell, and only where
-- that should be faster.

local waves = require "cawb.compose.emit.cell.wave"
local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

-- With so many blocks for the units of a layer, and more options.
local function by(blocks, more)
  local o = { arch = "sm_90a", kernels = function(kernel) return kernel.kind == "cell" and { blocks = blocks } or nil end }
  for name, value in pairs(more or {}) do o[name] = value end
  return o
end

-- The launches of the recurrent kernels in a plan, and how many products it has.
local function launches(made)
  local list, products = {}, 0
  for _, kernel in ipairs(made.kernels) do
    products = products + (kernel.kind == "product" and 1 or 0)
    for _, launch in ipairs(kernel.kind == "cell" and kernel.made.launches or {}) do
      if launch.kernel then list[#list + 1] = launch end
    end
  end
  return list, products
end

local two = "[torch.randn(24, 3, 5), torch.randn(2, 3, 20), torch.randn(2, 3, 20)]"

check.test("clusters of blocks: what every layer ends with, too", function()
  local made = right("a, (h, c) = self.r(x, (y, z))\nreturn a, h, c", two, "self.r = nn.LSTM(5, 20, 2)", by(4))
  local list, products = launches(made)
  check.equal(#list, 1)
  check.equal(products, 1)                                   -- what the first layer adds up of the inputs; the second does so by itself
  check.equal(list[1].cluster[1], 4)
  check.equal(list[1].grid[1], 4 * 3 * 3)                    -- three stages for each of three sequences
end)

check.test("a block each, two sequences at a time, of which the last has one; no bias, three layers", function()
  local made = right("return self.r(x)", "[torch.randn(3, 30, 5)]", "self.r = nn.GRU(5, 21, 3, batch_first=True, bias=False)", by(1, { chip = composed.chip { sms = 10 } }))
  local list = launches(made)
  check.equal(#list, 1)
  check.equal(list[1].grid[1], 5 * 2)
  check.equal(list[1].cluster, nil)
  check.equal(list[1].cooperative, true)                     -- stages wait for each other: all are under way at once
end)

check.test("as many layers as there are multiprocessors for", function()
  local made = right("return self.r(x)", "[torch.randn(40, 2, 5)]", "self.r = nn.RNN(5, 20, 3)", by(1, { chip = composed.chip { sms = 4 } }))
  check.equal(#launches(made), 2)                            -- two at the same time, and one
end)

check.test("a schedule may leave layers apart", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 3, 5)]", "self.r = nn.GRU(5, 20, 3)", by(1)))
  check.equal(#launches(made), 1)
  local first = made.joins[1]
  made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 3, 5)]", "self.r = nn.GRU(5, 20, 3)", by(1, { schedule = { cuts = { first } } })))
  local list, products = launches(made)
  check.equal(#list, 2)
  check.equal(products, 2)
end)

check.test("layers of both directions wait for the whole sequence", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 3, 5)]", "self.r = nn.GRU(5, 20, 2, bidirectional=True)", by(1)))
  check.equal(#launches(made), 2)
end)

check.test("layers stay apart where the sequences of one fill the device, or there are few steps", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 1000, 5)]", "self.r = nn.GRU(5, 20, 2)", by(1)))
  check.equal(#launches(made), 2)
  made = assert(composed.make("return self.r(x)[0]", "[torch.randn(4, 3, 5)]", "self.r = nn.GRU(5, 20, 2)", by(1)))
  check.equal(#launches(made), 2)
end)

check.test("and where no cluster holds a layer's weights, or there are no clusters", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 3, 5)]", "self.r = nn.LSTM(5, 20, 2)", by(16)))
  check.equal(#launches(made), 2)
  made = assert(composed.make("return self.r(x)[0]", "[torch.randn(24, 3, 5)]", "self.r = nn.LSTM(5, 20, 2)", by(2, { arch = "sm_80" })))
  check.equal(#launches(made), 2)
end)

check.test("and where what they tell each other takes much memory", function()
  local d, chip = { layers = 2, gates = 4, steps = 90000, batch = 8, hidden = 100 }, composed.chip {}
  local h, why = waves.divide(d, chip, {})
  check.equal(h, nil)
  check.matches(why, "too much memory")
  d.steps = 9000
  check.equal(waves.divide(d, chip, {}).GROUPS, 8)           -- of three stages each
end)

check.test("weights that are computed are no layer's own", function()
  local made = assert(composed.make("return torch._VF.gru(x, torch.zeros(2, 3, 20), [p * 1.0 for p in self.r.parameters()], True, 2, 0.0, False, False, False)[0]",
    "[torch.randn(24, 3, 5)]", "self.r = nn.GRU(5, 20, 2)", by(1)))
  check.equal(#launches(made), 2)
end)

return check.done()

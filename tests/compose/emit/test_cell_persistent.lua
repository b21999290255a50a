-- Recurrent layers by blocks that keep the weights, each part of the state by one block of a group: right for every
-- cell, and wherever the groups' borders fall.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

-- With so many blocks for the units of a layer (nil: as many as the weights need), and so many sequences at a time.
local function by(blocks, more, sequences)
  local function how(kernel) return kernel.kind == "cell" and { blocks = blocks, sequences = sequences } or nil end
  local o = { arch = "sm_90a", kernels = blocks and how }
  for name, value in pairs(more or {}) do o[name] = value end
  return o
end

-- The launches of the recurrent kernels in a plan.
local function launches(made)
  local list = {}
  for _, kernel in ipairs(made.kernels) do
    for _, launch in ipairs(kernel.kind == "cell" and kernel.made.launches or {}) do
      if launch.kernel then list[#list + 1] = launch end
    end
  end
  return list
end

local states = "[torch.randn(4, 3, 5), torch.randn(4, 3, 20), torch.randn(4, 3, 20)]"

check.test("a block alone: layers, both directions, no bias, plain cells", function()
  local made = right("a, (h, c) = self.r(x, (y, z))\nreturn a, h, c", states, "self.r = nn.LSTM(5, 20, 2, bidirectional=True)", by(1))
  check.equal(#launches(made), 2)                            -- a layer, its directions at the same time
  check.equal(launches(made)[1].cluster, nil)
  right("return self.r(x)[0]", "[torch.randn(3, 4, 5)]", "self.r = nn.RNN(5, 20, 2, batch_first=True, bias=False)", by(1))
end)

check.test("blocks of a cluster, of which the last has fewer units", function()
  local made = right("return self.r(x)", "[torch.randn(5, 3, 5)]", "self.r = nn.GRU(5, 21, bidirectional=True)", by(4))
  check.equal(launches(made)[1].cluster[1], 4)
end)

check.test("blocks that meet in memory, of which the last have no units", function()
  local made = right("a, (h, c) = self.r(x, (y, z))\nreturn a, h, c", (states:gsub("%(4, 3, 20", "(2, 3, 20")), "self.r = nn.LSTM(5, 20, bidirectional=True)", by(16))
  check.equal(#launches(made), 1)
  check.equal(launches(made)[1].cooperative, true)
  check.equal(launches(made)[1].cluster, nil)
end)

check.test("a schedule may leave directions apart", function()
  local task = "[torch.randn(5, 3, 5)]"
  local made = assert(composed.make("return self.r(x)", task, "self.r = nn.GRU(5, 20, bidirectional=True)", by(2)))
  check.equal(#launches(made), 1)
  local joins = {}
  for _, join in ipairs(made.joins) do joins[#joins + 1] = join end
  made = assert(composed.make("return self.r(x)", task, "self.r = nn.GRU(5, 20, bidirectional=True)", by(2, { schedule = { cuts = joins } })))
  check.equal(#launches(made), 2)
end)

check.test("without clusters blocks meet in memory", function()
  local made = right("return self.r(x)", "[torch.randn(5, 3, 5)]", "self.r = nn.GRU(5, 20)", by(2, { arch = "sm_80" }))
  check.equal(launches(made)[1].cooperative, true)
end)

check.test("groups take several sequences, and some again, where the device has few multiprocessors", function()
  local made = right("return self.r(x)", "[torch.randn(3, 7, 5)]", "self.r = nn.RNN(5, 20, nonlinearity='relu')", by(2, { chip = composed.chip { sms = 8 } }, 2))
  check.equal(launches(made)[1].grid[1], 6)                  -- 3 groups, two sequences at a time
  made = right("return self.r(x)[0]", "[torch.randn(3, 7, 5)]", "self.r = nn.LSTM(5, 20)", by(11, { chip = composed.chip { sms = 22 } }, 3))
  check.equal(launches(made)[1].grid[1], 22)
end)

check.test("without tensor cores weights stay in registers all the same", function()
  local function made_with(tensor_cores)
    local count, made = 0, assert(composed.make("return self.r(x)[0] @ y", "[torch.randn(4, 64, 5), torch.randn(128, 128)]", "self.r = nn.LSTM(5, 128)",
      by(nil, { least = 1, tensor_cores = tensor_cores })))
    for _, kernel in ipairs(made.kernels) do count = count + (kernel.by == "tensor" and 1 or 0) end
    return launches(made)[1].cluster[1], count
  end
  local cluster, count = made_with(nil)
  check.equal(cluster, 2)
  check.equal(count, 1)
  cluster, count = made_with(false)
  check.equal(cluster, 2)
  check.equal(count, 0)
end)

check.test("as many blocks as the weights need", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(3, 2, 5)]", "self.r = nn.LSTM(5, 128)", by()))
  check.equal(launches(made)[1].cluster[1], 2)
end)

check.test("blocks that could not wait for each other are not asked for", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(2, 1, 5)]", "self.r = nn.GRU(5, 20)", by(16, { chip = composed.chip { sms = 15 } })))
  check.equal(launches(made)[1].grid[1], 1)
end)

check.test("the table says where a device has too few registers for the weights", function()
  local made = assert(composed.make("return self.r(x)[0]", "[torch.randn(2, 1, 5)]", "self.r = nn.LSTM(5, 130)", by(nil, { chip = composed.chip { sms = 1 } })))
  check.equal(launches(made)[1].grid[1], 1)
  local text = table.concat(require("cawb.compose").table(made), "\n")
  check.matches(text, "the weights of 130 units are more than the registers of the device hold")
end)

return check.done()

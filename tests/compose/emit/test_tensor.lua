-- Products on tensor cores at float32's accuracy: packed factors, what they take in, ranges that 16 bits cannot hold.

local cawb = require "cawb"
local chips = require "cawb.gpu.chip"
local compose = require "cawb.compose"
local composed = dofile "tests/support/composed.lua"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local check = composed.check
local h100 = composed.device

local hopper = { arch = "sm_90a", least = 1 << 24 }      -- a third of the default in each direction

local function right(forward, inputs, setup, options) return composed.right(forward, inputs, setup, options or hopper) end

local function steps(made)
  local words = {}
  for name in made.plan:gmatch 'launch%("k%d+_([%w_]+)"' do words[#words + 1] = name end
  return table.concat(words, " ")
end

check.test("factors are packed, multiplied, and done without tensor cores where packing says so", function()
  local made = right("return x @ y", "[torch.randn(256, 512), torch.randn(512, 136)]")
  check.equal(steps(made), "mm_both mm")
  check.matches(table.concat(compose.table(made), "\n"), "float32 by three products of fp16 pairs %(wgmma%)")
end)

check.test("a small product is a library's, without being told", function()
  local function call(forward, inputs, setup) return composed.make(forward, inputs, setup, { arch = "sm_90a" }).plan:find "gemm{" ~= nil end
  check.equal(call("return x @ y", "[torch.randn(256, 256), torch.randn(256, 256)]"), true)
  check.equal(call("return x @ y", "[torch.randn(1024, 1024), torch.randn(1024, 1024)]"), false)
  check.equal(call("return self.l(x)", "[torch.randn(256, 256)]", "self.l = nn.Linear(256, 256)"), true)
end)

check.test("batches, transposed factors and ragged sizes", function()
  right("return torch.bmm(x.transpose(1, 2), y.transpose(1, 2))", "[torch.rand(3, 515, 130), torch.randn(3, 67, 515)]")
  right("return x @ y", "[torch.randn(2, 3, 65, 258), torch.randn(2, 3, 258, 222)]")
  right("return x @ y[:, 3:]", "[torch.rand(300, 250), torch.randn(250, 236)]")
end)

check.test("where packing takes longer than the product a library computes it", function()
  local function kinds(inputs)
    local kernel = assert(composed.make("return x @ y", inputs, nil, { arch = "sm_90a" })).kernels[1]
    return kernel.call and "library" or "tensor cores"
  end
  check.equal(kinds "[torch.rand(20000, 512), torch.randn(512, 32)]", "library")
  check.equal(kinds "[torch.rand(2048, 2048), torch.rand(2048, 2048)]", "tensor cores")
end)

check.test("without libraries a ragged batch is packed where a plain kernel, which computes whole tiles, takes longer", function()
  local function is_packed(n, libraries)
    local shape = ("[torch.rand(384, %d, 64), torch.rand(384, 64, %d)]"):format(n, n)
    return composed.how(assert(composed.make("return x @ y", shape, nil, { arch = "sm_90a", libraries = libraries }))):find "wgmma" ~= nil
  end
  check.equal(is_packed(197, false), true)
  check.equal(is_packed(128, false), false)
  check.equal(is_packed(197, nil), false)
end)

check.test("long sums over few tiles are cut into parts, which the last block of a tile adds up, or a kernel of its own where that is faster", function()
  local product, inputs = "return torch.tanh(x @ y)", "[torch.rand(96, 4160), torch.rand(4160, 161) / 4160]"
  check.equal(steps(right(product, inputs)), "tanh_both tanh")
  check.equal(steps(right(product, inputs, nil, { arch = "sm_90a", least = 1 << 24, chip = composed.chip { launch = 0 } })), "tanh_both tanh tanh_finish")
  -- Of numbers of a wide range there are no such parts, or there are those of a second kernel, by which blocks arrive once more.
  local wide = "[torch.randn(130, 1100) * 10.0 ** (torch.rand(130, 1100) * 12 - 6), torch.randn(1100, 40) * 10.0 ** (torch.rand(1100, 40) * 12 - 6)]"
  right("return x @ y", wide, nil, { arch = "sm_90a", least = 0, again = 1 })
  check.equal(steps(right("return x @ y", wide, nil, { arch = "sm_90a", least = 0, again = 1, full = 1 })), "mm_both mm mm_both_full mm_full mm_again")
end)

check.test("parts of sums that no fence puts in order are a race", function()
  if not h100.info.modelled then return end
  local task <close> = assert(composed.task("return x @ y", "[torch.rand(96, 4160), torch.rand(4160, 161) / 4160]"))
  local made = assert(compose.make(task, hopper))
  local source, count = made.source:gsub("atom%.acq_rel", "atom.relaxed")
  check.equal(count, 1)
  local r = assert(cawb.verify(task, cawb.candidate { source = source, plan = made.plan }, { trials = 1, repeats = 0, battery = {} }))
  check.matches(r.reason, "a race on global memory, .*blocks run in any order")
end)

local function grid(made)
  for _, launch in ipairs(made.kernels[1].made.launches) do
    if launch.kernel == made.kernels[1].name then return launch.grid[1] end
  end
end

check.test("tiles are narrower where they are fewer than multiprocessors, so that k need not be cut", function()
  local made = right("return torch.relu(x @ y)", "[torch.randn(200, 330), torch.randn(330, 201)]", nil, { arch = "sm_90a", least = 0 })
  check.equal(grid(made), 2 * 7)                               -- of 128 rows and 32 columns
  made = composed.make("return torch.relu(self.l(x))", "[torch.randn(1024, 1024)]", "self.l = nn.Linear(1024, 1024)", hopper)
  check.equal(steps(made), "relu_left relu_right relu")
  check.equal(grid(made), 8 * 16)                              -- and 64
  made = composed.make("return torch.relu(self.l(x))", "[torch.randn(2048, 256)]", "self.l = nn.Linear(256, 1024)", hopper)
  check.equal(grid(made), 16 * 8)                              -- and 128
end)

check.test("of a triangle's product only the tiles that show are multiplied", function()
  right("return torch.tril(x @ y)", "[torch.rand(300, 40), torch.rand(40, 400)]", nil, { arch = "sm_90a", least = 0 })
  right("return torch.triu(x @ y, diagonal=3)", "[torch.rand(2, 300, 40), torch.rand(40, 200)]", nil, { arch = "sm_90a", least = 0 })
  -- Of 3 x 4 tiles three show nothing; each of three blocks has one of them.
  local function product(diagonal)
    return composed.metrics(("return torch.tril(x @ y, diagonal=%d)"):format(diagonal), "[torch.rand(300, 500), torch.rand(500, 400)]", nil,
      { arch = "sm_90a", least = 0, chip = composed.chip { sms = 3 } })[2]
  end
  local some, all = product(0), product(1000)
  assert(some.warp_instructions < 0.9 * all.warp_instructions, "tiles that show nothing are multiplied")
  assert(some.skew < 1.2, some.skew)
end)

check.test("short sums whose results no cache holds", function()
  right("return x @ y", "[torch.rand(300, 40), torch.rand(40, 260)]", nil, { arch = "sm_90a", least = 0, streamed = 1 })
end)

check.test("what a triangle's product does not show may be anything", function()
  local zeros = "[torch.tril(torch.rand(260, 130)) * 10.0 ** (torch.rand(260, 130) * 36 - 18), torch.tril(torch.rand(130, 260)) * 10.0 ** (torch.rand(130, 260) * 36 - 18)]"
  right("return torch.tril(x @ y)", zeros, nil, { arch = "sm_90a", least = 0, again = 1 })
end)

check.test("weights are packed before the first call; what stands ahead and behind takes no step of its own", function()
  local made = right("return torch.sigmoid(self.l(F.gelu(x) * 2)) + y", "[torch.randn(300, 192), torch.randn(300, 160)]",
    "self.l = nn.Linear(192, 160)")
  check.equal(steps(made), "add_left add_right add")
  check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_add_right"')
  assert(not made.plan:find 'prepare%(function%(params%) launch%("k1_add_left"')
end)

check.test("several results follow from one product: what a gradient will need, beside what comes next", function()
  local both = "h = x @ y\nreturn h, F.gelu(h) * 2, h.reshape(%s) + 1"
  local function try(wanted, inputs, again, options)
    local made = right(both:format(again), inputs, nil, options)
    check.equal((steps(made):gsub("%w+_both", "both"):gsub("%f[%w]add", "last"):gsub("%f[%w]mul", "last")), wanted)
    check.equal(#made.kernels, 1)
  end
  try("both last", "[torch.randn(256, 512), torch.randn(512, 136)]", "2, 128, 136")
  try("both last", "[torch.rand(96, 4160), torch.rand(4160, 160) / 4160]", "2, 48, 160")
  check.equal(#right("h = x @ y\nreturn h, F.gelu(h) * 2", "[torch.randn(300, 250), torch.randn(250, 237)]").kernels, 1)
  local wide = "[torch.randn(130, 1100) * 10.0 ** (torch.rand(130, 1100) * 12 - 6), torch.randn(1100, 40) * 10.0 ** (torch.rand(1100, 40) * 12 - 6)]"
  right("h = x @ y\nreturn h, h.relu()", wide, nil, { arch = "sm_90a", least = 0, again = 1 })
  right("h = x @ y\nreturn h, F.gelu(h)", "[torch.randn(256, 512), torch.randn(512, 136)]", nil, { arch = "sm_80", chip = assert(chips.named "a100"), least = 1 << 24 })
  right("h = x @ y\nreturn h, F.gelu(h)", "[torch.randn(256, 512).half(), torch.randn(512, 136).half()]")
end)

check.test("rows of scores that end within a sector: a gradient multiplies them three times", function()
  local gradient = "s = torch.exp(x @ y.transpose(1, 2))\nd = s * (w @ z.transpose(1, 2)) * 0.5\nreturn d @ y, d.transpose(1, 2) @ x, s.transpose(1, 2) @ w"
  local inputs = "[%s, torch.randn(2, 133, 40) / 8, torch.randn(2, 133, 40), torch.randn(2, 150, 40)]"
  local how = { arch = "sm_90a", least = 0, libraries = false, ragged = 1 }
  for _, x in ipairs { "torch.randn(2, 150, 40) / 8", "torch.randn(2, 150, 40) * 10.0 ** (torch.rand(2, 150, 40) * 20 - 20)" } do
    local made = right(gradient, inputs:format(x), nil, how)
    local rows = 0
    for _, k in ipairs(made.kernels) do
      for _, root in ipairs(k.roots) do rows = rows + (root.strides[2] == 136 and 1 or 0) end
    end
    check.equal(rows, 3)
  end
end)

check.test("a kernel on tensor cores takes in no reader that would keep it from them", function()
  local made = right("h = x @ y\nreturn h, h.reshape(3, 100, 237) + 1", "[torch.randn(300, 250), torch.randn(250, 237)]", nil,
    { arch = "sm_90a", least = 1 << 24, libraries = false })
  check.matches(composed.how(made), "wgmma")
end)

check.test("rows far apart in size keep their digits, each by a scale of its own", function()
  right("return (x * y) @ z", "[torch.randn(256, 256), 10.0 ** torch.linspace(-18, 18, 256).reshape(256, 1), torch.randn(256, 256)]")
end)

check.test("numbers too far apart for 16 bits, and infinities, are multiplied in float32", function()
  right("return (x * z) @ (y / z.t())",
    "[torch.randn(256, 256), torch.randn(256, 256), 10.0 ** (torch.arange(256) * 37 % 17 - 8.0).reshape(1, 256)]")
  right("return (x / (1 - z)) @ y", "[torch.rand(256, 256), torch.rand(256, 256), torch.eye(256) * (torch.arange(256) == 3)]")
end)

check.test("numbers of too wide a range keep float32's accuracy: factors are split on their way, and the smallest leave the tensor cores", function()
  local wide = "torch.randn(%s) * torch.exp2(torch.randint(-30, 31, (%s,)).float())"
  local function try(first, second, more)
    composed.close("return x @ y", ("[%s, %s]"):format(wide:format(first, first), wide:format(second, second) .. (more or "")), { full = 1 << 60, again = 1 << 60 })
  end
  try("140, 200", "200, 72")
  try("3, 70, 64", "3, 64, 90")
  try("140, 200", "200, 72", " * 1e-25")
  composed.close("return x @ y", ("[%s, %s]"):format(wide:format("140, 520", "140, 520"), wide:format("520, 72", "520, 72")), { full = 1 << 60, again = 1 })
end)

-- A basis of Gaussian functions: numbers from 1 down to the smallest there are, in every row.
local basis = "[torch.randn(2100, 70), torch.exp(-(torch.rand(2100, 1) * 9 - torch.linspace(0, 9, 50)) ** 2 * 1.25)%s]"

check.test("long sums of numbers of too wide a range are cut into parts as others are, on their way to tensor cores and without them", function()
  local function how(again, chip) return { arch = "sm_90a", least = 0, full = 1 << 60, again = again, chip = chip } end
  local finish = how(1 << 60, composed.chip { launch = 0 })
  for _, how in ipairs { finish, how(1 << 60), how(1, finish.chip) } do
    for _, more in ipairs { "", " * 1e-25", " * 1e12", " / (torch.arange(2100) != 1700).reshape(2100, 1)", " * torch.where(torch.arange(50) == 7, torch.nan, 1.0)" } do
      composed.right("return x.t() @ y", basis:format(more), nil, how, {})
    end
    composed.close("return x.t() @ y", basis:format "", how)
  end
  local list = composed.metrics("return x.t() @ y", basis:format "", nil, finish)
  assert(list[2].busy_sms > 2, list[2].busy_sms)
end)

check.test("small products, other types and other devices are left to others", function()
  assert(composed.make("return x @ y", "[torch.randn(64, 64), torch.randn(64, 64)]", nil, hopper).plan:find "gemm{")
  for _, arch in ipairs { "sm_75", "sm_89" } do
    assert(composed.make("return x @ y", "[torch.randn(256, 512), torch.randn(512, 136)]", nil, { arch = arch }).plan:find "gemm{")
  end
  local whole = "[torch.randn(256, 512).double(), torch.randn(512, 136).double()]"
  assert(not composed.how(composed.make("return x @ y", whole, nil, hopper)):find "wgmma")
end)

-- Where plain arithmetic is as fast as three products of halves (sm_89) they are made when they are asked for.
check.test("tensor cores of other GPUs: the instruction of a warp, factors fetched a step ahead", function()
  for _, name in ipairs { "a100", "l40s", "b200" } do
    local device <close> = assert(cawb.device("sim:" .. name))
    composed.device = device
    local wanted = { arch = device.info.arch, least = 0, emulate = true }
    local made = composed.right("return torch.tanh(x @ y)", "[torch.randn(2, 150, 130), torch.randn(130, 71)]", nil, wanted)
    check.matches(composed.how(made), "%(mma%)")
    made = composed.right("return self.c(x)", "[torch.randn(2, 8, 14, 13)]", "self.c = nn.Conv2d(8, 16, 3)", wanted)
    assert(compose.table(made)[2]:find("mma, boxes", 1, true), "not by boxes")
  end
  composed.device = h100
  local made = composed.right("return x @ y", "[torch.rand(70, 2060), torch.rand(2060, 36)]", nil, { arch = "sm_80", least = 0 })
  check.equal(steps(made), "mm_both mm")
end)

check.test("they keep all rules", function()
  local settings = options.copy(cawb.defaults)
  settings.verify.trials, settings.verify.battery = 1, {}
  for _, case in ipairs { { "return x @ y", "[torch.rand(256, 512), torch.rand(512, 136)]" },
                          { "return self.c(x)", "[torch.rand(4, 8, 70, 70)]", "self.c = nn.Conv2d(8, 16, 3)" } } do
    local task <close> = assert(composed.task(table.unpack(case)))
    local made = assert(compose.make(task, { arch = "sm_90a", least = 0, full = 1 }))
    local facts = assert(evaluate.candidate(task, cawb.candidate { source = made.source, plan = made.plan }, settings, { against = {} }))
    assert(facts.ok, facts.reason)
  end
end)

check.test("a text that would be too long leaves small products to libraries", function()
  local made = composed.make("return (x @ y) @ z", "[torch.randn(64, 1024), torch.randn(1024, 1024), torch.randn(1024, 64)]", nil,
    { arch = "sm_90a", least = 1, largest = 20000 })
  assert(made.plan:find "gemm{", "the smaller one is a library's")
end)

-- Of arrays of one name NVRTC takes the least alignment in a source, and says nothing: tiles that are swizzled lie wrongly then.
check.test("shared memory of one name is aligned alike in all templates", function()
  local alignment, count = {}, 0
  for at, name in check.shell "find lua/cawb/compose/emit -name '*.cu' -exec cat {} +":gmatch "extern __shared__ __align__%((%d+)%) [%a ]-([%w_]+)%[%]" do
    assert((alignment[name] or at) == at, name .. " is aligned to " .. at .. " and to " .. tostring(alignment[name]))
    alignment[name], count = at, count + 1
  end
  assert(count >= 10, count)
end)

return check.done()

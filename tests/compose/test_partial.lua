-- Sums over what a convolution makes, begun in its kernel: right on whatever the judge tries (NaN and infinities are among it), as exact as
-- PyTorch's float32 against float64, not stored where nothing else reads it; and nothing of it where that would be wrong.

local composed = dofile "tests/support/composed.lua"
local compose = require "cawb.compose"
local schedule = require "cawb.compose.schedule.schedule"
local check = composed.check

local seed = math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or os.getenv "CAWB_SEED" or 7))
math.randomseed(seed)

local function options(more)
  local o = { arch = "sm_90a", least = 1, conv = "box", partial = 1, row = 1 }
  for key, value in pairs(more or {}) do o[key] = value end
  return o
end

local function parts_of(made)
  for _, kernel in ipairs(made.kernels) do
    for _, x in ipairs(kernel.roots) do if x.kind == "partial" then return x, kernel end end
  end
end

-- Right, and with parts of sums; whether the convolution's kernel stores a tensor, too, as `stores` says.
local function begun(stores, forward, inputs, setup, more, kinds)
  local made = composed.right(forward, inputs, setup, options(more), kinds)
  local p, kernel = parts_of(made)
  assert(p, forward .. ": no sum is begun where the convolution is made")
  check.equal(#kernel.roots > 1, stores)
  return made, p
end

check.test("a mean over all places: nothing but parts of sums is stored", function()
  local made = begun(false, "return F.gelu(self.c(x)).mean((2, 3))", "[torch.randn(2, 8, 20, 26)]", "self.c = nn.Conv2d(8, 24, 3)")
  check.equal(#made.kernels, 2)
  begun(false, "return self.c(x).abs().sum((0, 2, 3, 4))", "[torch.randn(3, 3, 5, 6, 11)]", "self.c = nn.Conv3d(3, 20, 3, padding=1, bias=False)")
  begun(false, "return torch.tanh(self.c(x)).mean(2)", "[torch.randn(2, 1, 500)]", "self.c = nn.Conv1d(1, 32, 9, stride=2)")
end)

check.test("the mean of a group norm: the tensor is not stored, nor gone through", function()
  local setup = "self.c = nn.Conv3d(3, 24, 3)\nself.n = nn.GroupNorm(8, 24)\nnn.init.normal_(self.n.weight)\nnn.init.normal_(self.n.bias)"
  local _, p = begun(false, "return self.n(F.hardswish(self.c(x) * y)).mean((2, 3, 4))", "[torch.randn(2, 3, 6, 9, 14) + 3, torch.randn(4, 7, 12)]", setup)
  check.equal(p.squares, true)
end)

-- One of many each time: the norm, what stands ahead of it and behind it, edges that boxes reach beyond.
local norms = { "nn.GroupNorm(6, 24)", "nn.BatchNorm2d(24)", "nn.InstanceNorm2d(24)", "nn.GroupNorm(1, 24)" }
local ahead = { "%s", "torch.sigmoid((%s + y) * y)", "%s * y" }
local behind = { "%s * 2", "F.max_pool2d(%s, 2)", "torch.tanh(%s).max(1)[0]" }

local function one_of(list) return list[math.random(#list)] end

check.test("norms whose result is asked for: the statistics read no tensor", function()
  for _ = 1, 3 do
    local forward = "return " .. one_of(behind):format("self.n(" .. one_of(ahead):format "self.c(x)" .. ")")
    local inputs = ("[torch.randn(%d, 8, %d, %d), torch.randn(24, 1, 1)]"):format(math.random(1, 3), math.random(12, 24), math.random(12, 24))
    local setup = "self.c = nn.Conv2d(8, 24, 3)\nself.n = " .. one_of(norms)
    if not forward:find "y" then inputs = inputs:gsub(", torch.randn%(24, 1, 1%)", "") end
    local ok, why = pcall(begun, true, forward, inputs, setup)
    assert(ok, ("%s of %s, %s (seed %d): %s"):format(forward, inputs, setup, seed, tostring(why)))
  end
end)

check.test("infinities, and results that tensor cores cannot have", function()
  local small, both = "[torch.relu(torch.randn(2, 16, 20, 13)) * 10.0 ** (-9.0 * (torch.arange(13) % 17 == 5))]", "y = self.c(x)\nreturn y, y.mean((2, 3))"
  begun(true, both, small, "self.c = nn.Conv2d(16, 24, 1, stride=2)", nil, {})
  begun(true, both, "[torch.randn(2, 8, 14, 13) * 10.0 ** (torch.arange(13) % 5 * 8 - 16)]", "self.c = nn.Conv2d(8, 72, 3)", nil, {})
  begun(false, "return self.c(x).abs().sum((2, 3))", "[torch.randn(2, 8, 14, 13) / (torch.arange(28) != 3).view(2, 1, 14, 1)]", "self.c = nn.Conv2d(8, 16, 3, padding=1)", nil, {})
end)

-- Far from zero, and where all elements of a row are the same: such a row's variance is nothing.
check.test("as exact as PyTorch in float32", function()
  local o = options { words = "boxes" }
  composed.close("return F.gelu(F.conv2d(x, y)).mean((2, 3))", "[torch.randn(2, 8, 20, 26), torch.randn(24, 8, 3, 3)]", o, 5)
  composed.close("return F.max_pool2d(F.group_norm(F.conv2d(x, y) + 1000, 4), 2)", "[torch.randn(2, 8, 20, 26), torch.randn(24, 8, 3, 3)]", o, 1)
  begun(true, "return F.max_pool2d(F.instance_norm(self.c(x)), 2) + x[:, :1, :9, :12]", "[torch.ones(2, 8, 20, 26) * torch.rand(2, 1, 1, 1)]", "self.c = nn.Conv2d(8, 24, 3)", nil, {})
end)

local pooled, shape, layer = "return F.gelu(self.c(x)).mean((2, 3))", "[torch.randn(2, 8, 20, 26)]", "self.c = nn.Conv2d(8, 24, 3)"

check.test("nothing is begun of what it would be wrong or no use for", function()
  local function none(forward, inputs, setup, more)
    local made = assert(composed.make(forward, inputs, setup, options(more)))
    assert(not parts_of(made), forward .. ": a sum is begun")
  end
  none("return F.gelu(self.c(x)).mean(2)", shape, layer)                     -- over some places alone
  none("return F.gelu(self.c(x))[:, :, 1:].mean((2, 3))", shape, layer)
  none("return F.gelu(self.c(x)).amax((2, 3))", shape, layer)
  none("return F.gelu(self.c(x).sum(1)).mean((1, 2))", shape, layer)
  none("return F.gelu(self.c(x)).mean((2, 3))", shape, "self.c = nn.ConvTranspose2d(8, 24, 3)")
  none(pooled, shape, layer, { conv = "packed" })
  none(pooled, shape, layer, { partial = false })
  none(pooled, shape, layer, { partial = 1 << 20 })
  none("return self.n(self.c(x)) * 2", shape, layer .. "\nself.n = nn.InstanceNorm2d(24)", { row = 1 << 20 })       -- a row stays on the chip
  none(pooled, "[torch.randn(2, 8, 20, 26).half()]", layer .. ".half()")
end)

check.test("without joins, or by another way that a schedule asks for, it is as if nothing were begun", function()
  assert(not parts_of(composed.right(pooled, shape, layer, options { fuse = false }, {})))
  local made = assert(composed.make(pooled, shape, layer, options()))
  local s = { kernels = { [schedule.key(select(2, parts_of(made)))] = { loop = "packed" } } }
  assert(not parts_of(composed.right(pooled, shape, layer, options { schedule = s }, {})))
end)

check.test("another reader ahead, which the convolution's kernel cannot serve, or a way that cannot begin sums, leaves them begun", function()
  begun(true, "y = self.c(x)\nreturn torch.flip(y, [0]) * 2, y.mean((2, 3))", shape, layer, nil, {})
  local made = begun(true, "y = self.c(x)\nreturn torch.relu(y), y.mean((2, 3))", shape, layer, nil, {})
  local s = { kernels = { [schedule.key(select(2, parts_of(made)))] = { loop = "packed" } } }
  begun(true, "y = self.c(x)\nreturn torch.relu(y), y.mean((2, 3))", shape, layer, { schedule = s }, {})
end)

check.test("a decision of the schedule: left out, done again, as text and back", function()
  local made = assert(composed.make(pooled, shape, layer, options()))
  local edit
  for _, e in ipairs(schedule.legal(made)) do edit = e.no_partial_sums and e or edit end
  local s = schedule.apply({}, edit)
  local text = schedule.text(s)
  check.equal(text, ("{ no_partial_sums = { %d } }"):format(edit.no_partial_sums))
  check.equal(schedule.text(schedule.parse(text)), text)
  local other = composed.right(pooled, shape, layer, options { schedule = s }, {})
  assert(not parts_of(other), "it is begun all the same")
  local back
  for _, e in ipairs(schedule.legal(other)) do back = e.partial_sums and e or back end
  check.equal(schedule.text(schedule.apply(s, back)), "{}")
  check.equal(assert(composed.make(pooled, shape, layer, options())).source, made.source)
  check.equal((select(2, schedule.parse '{ no_partial_sums = { "a" } }')), "schedule: no_partial_sums has a string, it takes numbers")
end)

return check.done()

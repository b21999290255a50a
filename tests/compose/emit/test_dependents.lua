-- Kernels that begin while the one before them ends: which launches do, and that all families of kernels wait first.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local early = { arch = "sm_90a", dependent = true, libraries = false, least = 1 << 18 }

-- The steps of each call in order: "launch", "dependent" or "other". Steps of prepare are none of it.
local function steps_of(made)
  local list = {}
  for line in made.plan:gmatch "[^\n]+" do
    local word = line:match "^(%a+)[({]"
    if word == "launch" then list[#list + 1] = line:find("dependent = true", 1, true) and "dependent" or "launch"
    elseif word == "memset" or word == "gemm" or word == "conv" then list[#list + 1] = "other" end
  end
  return list
end

-- Launches right behind another launch are dependent, and no others. Returns how many.
local function expect(made)
  local list, count = steps_of(made), 0
  for k, step in ipairs(list) do
    local behind = list[k - 1] == "launch" or list[k - 1] == "dependent"
    if step ~= "other" then check.equal(step, behind and "dependent" or "launch") end
    count = count + (step == "dependent" and 1 or 0)
  end
  return count
end

local programs = {
  { "a network", "y = F.relu(self.a(x))\ny = F.max_pool2d(F.relu(self.b(y)) + y, 2)\nreturn torch.softmax(self.l(y.mean((2, 3))), 1)",
    "[torch.randn(1, 3, 20, 20)]", "self.a = nn.Conv2d(3, 16, 3, padding=1)\nself.b = nn.Conv2d(16, 16, 3, padding=1, groups=4)\nself.l = nn.Linear(16, 24)" },
  { "products on tensor cores", "return torch.softmax(x @ y, 1) @ y.T", "[torch.randn(256, 512), torch.randn(512, 128)]" },
  { "sums, orders and scans", "y = torch.cumsum(x, 1)\nv, k = torch.sort(y, 1)\nreturn v.cumsum(0), k, F.avg_pool1d(y, 3)", "[torch.randn(12, 300)]" },
  { "attention", "y = self.l(x)\nq, k, v = y.view(2, 64, 3, 2, 32).permute(2, 0, 3, 1, 4)\nreturn F.scaled_dot_product_attention(q, k, v)",
    "[torch.randn(2, 64, 48)]", "self.l = nn.Linear(48, 192)" },
}

-- How many launches began early: kernels that do not wait first are launched plainly.
local function begun_early(made)
  local count = 0
  for _, step in ipairs(made.steps) do count = count + (step.dependent and 1 or 0) end
  return count
end

for _, one in ipairs(programs) do
  check.test(one[1] .. ": every launch behind another is dependent, its kernel waits first, and results are right", function()
    local made = composed.right(one[2], one[3], one[4], early)
    local count = expect(made)
    check.equal(count > 0, true)
    check.equal(begun_early(made), count)
  end)
end

check.test("behind a fill or a library's call nothing is dependent", function()
  local made = composed.right("return torch.relu((x @ y).exp() + 1).sum(1)", "[torch.randn(64, 64) * 0.1, torch.randn(64, 64) * 0.1]", nil,
    { arch = "sm_90a", dependent = true })
  local list = steps_of(made)
  check.equal(list[1], "other")
  check.equal(list[2], "launch")
  expect(made)
end)

check.test("a recurrent layer whose blocks wait for each other is not dependent", function()
  local made = composed.make("return self.l(x.sort(0).values)[0]", "[torch.randn(5, 3, 5)]", "self.l = nn.GRU(5, 20)",
    { arch = "sm_90a", dependent = true, libraries = false, kernels = function(kernel) return kernel.kind == "cell" and { blocks = 16 } or nil end })
  local cooperative = 0
  for line in made.plan:gmatch "[^\n]+" do
    if line:find("cooperative = true", 1, true) then
      cooperative = cooperative + 1
      check.equal(line:find("dependent", 1, true), nil)
    end
  end
  check.equal(cooperative > 0, true)
end)

check.test("by itself, and on a chip that cannot do so, every launch waits for the end of the one before it", function()
  local plain = composed.make(programs[1][2], programs[1][3], programs[1][4], { arch = "sm_90a", libraries = false })
  local old = composed.make(programs[1][2], programs[1][3], programs[1][4], { arch = "sm_80", dependent = true, libraries = false })
  for _, made in ipairs { plain, old } do
    check.equal((made.plan .. made.source):find("depend", 1, true), nil)
  end
end)

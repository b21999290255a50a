-- Products, convolutions and linear layers of bfloat16 and float16 on tensor cores: one product of factors as they are.

local composed = dofile "tests/support/composed.lua"
local check = composed.check

local function options(arch, libraries) return { arch = arch, least = 1, narrowest = 8, libraries = libraries } end

local function right(case, arch, dtype, libraries)
  local D = "dtype=torch." .. dtype
  local made = composed.right(case[1], (case[2]:gsub("D%)", D .. ")")), case[3] and case[3]:gsub("D%)", D .. ")"), options(arch, libraries))
  check.matches(composed.how(made), dtype .. " %(" .. (arch == "sm_90a" and "wgmma" or "mma") .. "%)")
  return made
end

-- Each on one of the two architectures and in one of the two types: all meet all over the list.
local turn = 0
local function all(name, list, libraries)
  check.test(name, function()
    for _, case in ipairs(list) do
      turn = turn + 1
      right(case, turn % 2 == 0 and "sm_80" or "sm_90a", turn % 4 < 2 and "bfloat16" or "float16", libraries)
    end
  end)
end

all("factors as they lie, in every order", {
  { "return x @ y", "[torch.randn(200, 520, D), torch.randn(520, 136, D)]" }, { "return x @ y.t()", "[torch.randn(200, 520, D), torch.randn(136, 520, D)]" },
  { "return x.t() @ y.t()", "[torch.randn(520, 200, D), torch.randn(136, 520, D)]" }, { "return x.t() @ y", "[torch.randn(520, 264, D), torch.randn(520, 136, D)]" },
})

all("factors whose lines begin at multiples of 8 bytes", {
  { "return x @ y", "[torch.randn(200, 520, D), torch.randn(520, 140, D)]" }, { "return x.t() @ y", "[torch.randn(136, 204, D), torch.randn(136, 300, D)]" },
  { "return x.t() @ y", "[torch.randn(70, 268, D), torch.randn(70, 132, D)]" }, { "return x.t() @ y.t()", "[torch.randn(520, 204, D), torch.randn(136, 520, D)]" },
  { "return self.c(x).relu() + y", "[torch.randn(2, 72, 14, 14, D), torch.randn(2, 136, 14, 14, D)]", "self.c = nn.Conv2d(72, 136, 1, D)" },
  { "return self.c(x)", "[torch.randn(3, 100, 6, 10, D)]", "self.c = nn.Conv2d(100, 200, 1, D)" },
})

all("ragged sizes, batches, long sums", {
  { "return x @ y", "[torch.randn(130, 67, D), torch.randn(67, 131, D)]" }, { "return torch.bmm(x.transpose(1, 2), y)", "[torch.randn(3, 72, 136, D), torch.randn(3, 72, 520, D)]" },
  { "return x @ y", "[torch.randn(2, 3, 65, 256, D), torch.randn(2, 3, 256, 224, D)]" }, { "return torch.tanh(x @ y)", "[torch.randn(96, 4160, D), torch.randn(4160, 161, D)]" },
  { "return torch.tril(x @ y)", "[torch.randn(300, 40, D), torch.randn(40, 400, D)]" },
})

all("linear layers with what stands ahead and behind", {
  { "return torch.sigmoid(self.l(F.gelu(x) * 2)) + y", "[torch.randn(300, 192, D), torch.randn(300, 160, D)]", "self.l = nn.Linear(192, 160, D)" },
  { "return F.gelu(self.l(x)) + y", "[torch.randn(140, 192, D), torch.randn(140, 520, D)]", "self.l = nn.Linear(192, 520, D)" },
  { "return self.l(self.k(x).relu())", "[torch.randn(150, 192, D)]", "self.l = nn.Linear(257, 160, D)\nself.k = nn.Linear(192, 257, D)" },
})

all("convolutions", {
  { "return torch.relu(self.c(x))", "[torch.randn(2, 70, 14, 15, D)]", "self.c = nn.Conv2d(70, 72, 3, padding=1, D)" },
  { "return self.c(x)", "[torch.randn(2, 64, 15, 15, D)]", "self.c = nn.Conv2d(64, 72, 3, stride=2, padding=1, groups=2, D)" },
  { "return self.c(x)", "[torch.randn(2, 20, 100, D)]", "self.c = nn.Conv1d(20, 24, 5, padding=2, D)" },
  { "return self.c(x)", "[torch.randn(2, 24, 9, 11, D)]", "self.c = nn.Conv2d(24, 40, 3, padding=1, D)" },
  { "return self.c(x)", "[torch.randn(1, 16, 8, 9, 10, D)]", "self.c = nn.Conv3d(16, 24, 3, padding=1, D)" },
  { "return self.c(x)", "[torch.randn(2, 64, 14, 14, D)]", "self.c = nn.Conv2d(64, 72, 1, D)" },
  { "return self.c(x)", "[torch.randn(2, 64, 9, 11, D)]", "self.c = nn.Conv2d(64, 72, 4, padding=3, stride=2, D)" },
  { "return torch.relu(self.c(x)) + y", "[torch.randn(3, 72, 12, 14, D), torch.randn(3, 136, 12, 14, D)]", "self.c = nn.Conv2d(72, 136, 1, D)" },
  { "return self.c(torch.relu(x))", "[torch.randn(2, 64, 16, 8, D)]", "self.c = nn.Conv2d(64, 80, 1, bias=False, D)" },
})

-- As in torch.compile: the sum is in float32 then, and is rounded behind the bias.
all("a bias, where libraries are not called", {
  { "return F.gelu(self.l(x)) + y", "[torch.randn(140, 192, D), torch.randn(140, 520, D)]", "self.l = nn.Linear(192, 520, D)" },
  { "return torch.baddbmm(z, x, y)", "[torch.randn(3, 72, 136, D), torch.randn(3, 136, 160, D), torch.randn(3, 72, 160, D)]" },
  { "return torch.relu(self.c(x))", "[torch.randn(2, 70, 14, 15, D)]", "self.c = nn.Conv2d(70, 72, 3, padding=1, D)" },
  { "return torch.relu(self.c(x)) + y", "[torch.randn(3, 72, 12, 14, D), torch.randn(3, 136, 12, 14, D)]", "self.c = nn.Conv2d(72, 136, 1, D)" },
  { "return self.c(x)", "[torch.randn(2, 32, 12, 12, D)]", "self.c = nn.ConvTranspose2d(32, 24, 4, stride=2, padding=1, D)" },
}, false)

all("transposed convolutions", {
  { "return self.c(x)", "[torch.randn(2, 32, 12, 12, D)]", "self.c = nn.ConvTranspose2d(32, 24, 4, stride=2, padding=1, D)" },
  { "return self.c(x)", "[torch.randn(2, 32, 12, 12, D)]", "self.c = nn.ConvTranspose2d(32, 24, 3, stride=2, padding=1, output_padding=1, D)" },
  { "return self.c(x)", "[torch.randn(2, 32, 40, D)]", "self.c = nn.ConvTranspose1d(32, 24, 5, stride=3, dilation=2, D)" },
})

local function launches(made)
  local words = {}
  for name in made.plan:gmatch 'launch%("k%d+_([%w_]+)"' do words[#words + 1] = name end
  return table.concat(words, " ")
end

check.test("factors in memory are not packed, weights before the first call, and others in a launch of their own", function()
  local function steps(...) return launches(right({ ... }, "sm_90a", "bfloat16")) end
  check.equal(steps("return x @ y", "[torch.randn(256, 512, D), torch.randn(512, 136, D)]"), "mm")
  local made = right({ "return torch.relu(self.l(x))", "[torch.randn(256, 192, D)]", "self.l = nn.Linear(192, 160, D)" }, "sm_90a", "bfloat16")
  check.equal(launches(made), "relu_right relu")
  check.equal(launches(right({ "return torch.relu(self.l(x))", "[torch.randn(256, 192, D)]", "self.l = nn.Linear(192, 160, D)" }, "sm_90a", "bfloat16", false)), "relu_right relu")
  check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_relu_right"')
  check.equal(steps("return x @ y", "[torch.randn(256, 67, D), torch.randn(67, 136, D)]"), "mm_left mm")
end)

check.test("results go to memory in whole sectors, whatever the order of the factors", function()
  for _, f in ipairs { "return x @ y", "return x.t() @ y.t()", "return torch.tanh(x @ y) * 0.5" } do
    for _, streamed in ipairs { 1, 1 << 40 } do
      local o = options "sm_90a"
      o.streamed = streamed
      local m = composed.metrics(f, "[torch.randn(128, 128, dtype=torch.bfloat16), torch.randn(128, 128, dtype=torch.bfloat16)]", nil, o)[1]
      check.equal(m.written_sectors, 128 * 128 * 2 // 32)
      check.equal(m["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], 128 * 128 // (8 * 32))
    end
  end
end)

check.test("a convolution of one tap packs nothing but its weights", function()
  for _, side in ipairs { 12, 14 } do
    local made = right({ "return self.c(x)", ("[torch.randn(2, 64, %d, %d, D)]"):format(side, side), "self.c = nn.Conv2d(64, 128, 1, D)" }, "sm_90a", "bfloat16")
    check.equal(launches(made), "convolution_left convolution")
    check.matches(made.plan, 'prepare%(function%(params%) launch%("k1_convolution_left"')
  end
end)

check.test("a small convolution of one tap is no library's where that saves a launch", function()
  local made = composed.right("return F.silu(self.c(x))", "[torch.randn(1, 96, 14, 14, dtype=torch.bfloat16)]", "self.c = nn.Conv2d(96, 256, 1, dtype=torch.bfloat16)", { arch = "sm_90a" })
  check.equal(launches(made), "silu_left silu")
end)

check.test("few rows and few channels are on tensor cores where no library is called", function()
  for _, case in ipairs {
    { "return F.gelu(self.l(x))", "[torch.randn(12, 256, dtype=torch.bfloat16)]", "self.l = nn.Linear(256, 1024, dtype=torch.bfloat16)" },
    { "return F.silu(self.c(x))", "[torch.randn(1, 96, 28, 28, dtype=torch.bfloat16)]", "self.c = nn.Conv2d(96, 24, 1, dtype=torch.bfloat16)" },
  } do
    local made = composed.right(case[1], case[2], case[3], { arch = "sm_90a", libraries = false })
    check.matches(composed.how(made), "bfloat16 %(wgmma%)")
    check.matches(launches(made), "^%l+_right %l+$")
  end
end)

check.test("what is a library's says why, and that is not its type", function()
  local made = composed.right("return self.c(x)", "[torch.randn(1, 16, 7, 7, dtype=torch.bfloat16)]", "self.c = nn.Conv2d(16, 16, 3, dtype=torch.bfloat16)", { arch = "sm_90a" })
  check.matches(composed.how(made), "not on tensor cores: it is too small")
end)

check.test("taps beside each other along a row bring its pixels once", function()
  local function sectors(window, padding)
    local layer = ("self.c = nn.Conv2d(64, 128, %s, padding=%s, dtype=torch.bfloat16)"):format(window, padding)
    return composed.metrics("return self.c(x)", "[torch.randn(2, 64, 16, 16, dtype=torch.bfloat16)]", layer, options "sm_90a")[2].l2_sectors
  end
  local along, down = sectors("(1, 3)", "(0, 1)"), sectors("(3, 1)", "(1, 0)")
  assert(along < 0.7 * down, ("%d sectors, and %d of taps below each other"):format(along, down))
end)

return check.done()

-- What compose fuses, how it stores, what it says where it cannot.

local composed = dofile "tests/support/composed.lua"
local check, right, make = composed.check, composed.right, composed.make

local function kinds(made)
  local words = {}
  for k, kernel in ipairs(made.kernels) do words[k] = kernel.kind end
  return table.concat(words, " ")
end

check.test("a softmax is one kernel, whatever its axis", function()
  check.equal(kinds(right("return torch.softmax(x, 1)", "[torch.randn(64, 200)]")), "rows")
  check.equal(kinds(right("return torch.softmax(x, 0)", "[torch.randn(77, 200)]")), "rows")
  check.equal(kinds(right("return torch.softmax(x, 1)", "[torch.randn(3, 20, 7, 11)]")), "rows")
end)

-- An assembler may make one instruction of a product and a difference, which does not round the product; the simulator has the two apart.
check.test("a product is taken from its row's largest by an instruction of its own", function()
  local function apart(forward, columns, options)
    local huge = ("torch.randn(5, %d) * 2.0 ** 20"):format(columns)
    local made = right(forward, ("[%s, %s]"):format(huge, huge), nil, options)
    check.matches(made.source, "__fsub_rn%(")
  end
  apart("return torch.log_softmax(x * y, 1)", 13)
  apart("return torch.softmax(x * y, 1).sum(0)", 13)
  apart("return torch.logsumexp((x * y).unsqueeze(2).transpose(1, 2), 2)", 13)
  apart("return torch.softmax(x * y, 1)", 1500, { arch = "sm_90a", kernels = function() return { cluster = 2, block = 64, stay = true, places = 2 } end })
end)

check.test("a norm with what stands before and behind it is one kernel", function()
  local made = right("return F.gelu(self.n(x * 2 + y)) * y", "[torch.randn(5, 37, 96), torch.randn(5, 37, 96)]",
    "self.n = nn.LayerNorm(96)")
  check.equal(kinds(made), "rows")
  check.equal(kinds(right("return torch.relu(self.n(x))", "[torch.randn(4, 12, 5, 7)]", "self.n = nn.GroupNorm(3, 12)")), "rows")
  check.equal(kinds(right("return torch.relu(self.n(x))", "[torch.randn(4, 12, 5, 7)]", "self.n = nn.BatchNorm2d(12)")), "rows")
end)

check.test("pointwise chains are one kernel, and repeated where that is cheaper than a kernel more", function()
  check.equal(kinds(right("return torch.tanh(x) * torch.sigmoid(y) + 0.5", "[torch.randn(100, 7), torch.randn(100, 1)]")), "stream")
  local made = right("y = torch.tanh(x).exp()\nreturn y[:, :3].sum(1), y.t().contiguous()", "[torch.randn(50, 40)]")
  check.equal((kinds(made):gsub("rows", "stream")), "stream stream")
end)

check.test("an operand that no library reads is copied where it is a small part of a product, and read as it lies where it is most of it", function()
  local setup = "self.w = nn.Parameter(torch.randn(512, 512))\nself.v = nn.Parameter(torch.randn(32, 8))"
  local made = right("return x.transpose(0, 1).reshape(12, 512) @ self.w", "[torch.randn(8, 12, 64)]", setup)
  assert(made.plan:find "gemm" and #made.kernels == 2, made.plan)
  made = right("return x.transpose(0, 1).reshape(400, 32) @ self.v", "[torch.randn(8, 400, 4)]", setup)
  assert(not made.plan:find "gemm" and #made.kernels == 1, made.plan)
end)

check.test("products are library calls, on operands as they lie", function()
  check.equal(kinds(right("return torch.relu(self.l(x))", "[torch.randn(33, 20)]", "self.l = nn.Linear(20, 9)")), "product stream")
  check.equal(kinds(right("return x.transpose(1, 2) @ y", "[torch.randn(3, 20, 8), torch.randn(3, 20, 6)]")), "product")
  check.equal(kinds(right("return self.c(x)", "[torch.randn(2, 3, 9, 8)]", "self.c = nn.Conv2d(3, 5, 3, padding=1)")), "conv")
end)

check.test("an operand that is expanded is copied for a library", function()
  right("return x @ y", "[torch.randn(1, 5).expand(7, 5), torch.randn(5, 3)]")
end)

check.test("a product bound by memory reads operands that no library reads, instead of copies", function()
  local made = right('return torch.einsum("bclhp,bclhn->bchpn", x, y)', "[torch.randn(3, 2, 12, 4, 8), torch.randn(3, 2, 12, 4, 6)]")
  check.equal(kinds(made), "product")
  assert(not made.plan:find("gemm", 1, true), made.plan)
end)

check.test("without libraries the same is computed by kernels of its own", function()
  local none = { libraries = false }
  right("return self.l(x)", "[torch.randn(33, 20)]", "self.l = nn.Linear(20, 9)", none)
  right("return x @ y", "[torch.randn(3, 20, 8), torch.randn(3, 8, 6)]", nil, none)
  right("return self.c(x)", "[torch.randn(2, 4, 9, 8)]", "self.c = nn.Conv2d(4, 6, 3, padding=1, stride=2, groups=2)", none)
  right("return self.c(x)", "[torch.randn(2, 4, 5, 6)]",
    "self.c = nn.ConvTranspose2d(4, 6, 3, padding=1, stride=2, output_padding=1, groups=2, dilation=2)", none)
end)

check.test("a row stays in shared memory, of several blocks where one has too little", function()
  local function on(cluster, block, forward, inputs, setup)
    local made = right(forward, inputs, setup, { arch = "sm_90a", kernels = function() return { cluster = cluster, block = block } end })
    check.equal(kinds(made), "rows")
    check.equal(made.plan:match "cluster = { (%d+) }", cluster > 1 and tostring(cluster) or nil)
    assert(made.plan:find "shared = %d", made.plan)
  end
  on(4, 64, "return torch.softmax(x, 1)", "[torch.randn(3, 2052)]")
  on(2, 32, "return F.normalize(x, dim=1), x.argmax(1)", "[torch.randn(3, 1023)]")
  on(1, 64, "return F.gelu(self.n(x * 2 + y)) * y", "[torch.randn(5, 37, 96), torch.randn(5, 37, 96)]", "self.n = nn.LayerNorm((37, 96))")
  on(16, 32, "return torch.softmax(x, 1) * (x > x.mean(1, keepdim=True))", "[torch.randn(3, 4001).half()]")
  on(2, 64, "return x - x.amax(1, keepdim=True), (x > 3).any(1)", "[torch.randint(-9, 9, (4, 3000), dtype=torch.int16)]")
end)

check.test("a cluster that stays loads the next row as it stores this one", function()
  local function on(cluster, forward, inputs)
    local made = right(forward, inputs, nil, { arch = "sm_90a", kernels = function() return { cluster = cluster, block = 64, stay = true, places = 2 } end })
    check.equal(kinds(made), "rows")
    check.equal(made.plan:match "grid = { (%d+) }", tostring(2 * cluster))
  end
  on(4, "return torch.softmax(x, 1)", "[torch.randn(7, 2052)]")
  on(1, "return torch.softmax(x, 1)", "[torch.randn(5, 1023)]")
  on(2, "return F.normalize(x, dim=1)", "[torch.randn(7, 1023)]")
  on(2, "return F.normalize(torch.asinh(torch.asinh(x) * y) * x, dim=1)", "[torch.randn(7, 6001), torch.randn(6001)]")
end)

check.test("a long row's sum of exponentials is taken as its largest is found", function()
  local function on(cluster, stay, forward, inputs)
    local made = right(forward, inputs, nil, { arch = "sm_90a", kernels = function() return { cluster = cluster, block = 64, stay = stay, places = 2 } end })
    check.equal(kinds(made), "rows")
  end
  on(4, true, "return torch.softmax(x, 1)", "[torch.randn(7, 2052) * 9]")
  on(2, false, "return torch.log_softmax(x, 1)", "[torch.rand(5, 1023).cumsum(1)]")
  on(1, true, "return torch.softmax(x.half(), 1)", "[torch.randn(5, 3001)]")
  on(2, true, "return torch.softmax(x, 1) * x.sum(1, keepdim=True)", "[torch.randn(5, 1501) * 30]")
  for _, stay in ipairs { true, false } do                  -- two of one row: no place is written while others still read it
    on(2, stay, "return torch.softmax(torch.softmax(x, 1) * 900, 1)", "[torch.randn(7, 1500) * 9]")
  end
  for _, odd in ipairs { { "== 2400", "nan" }, { "== 2400", "inf" }, { "// 1000 == 3", "-inf" }, { "% 3 != 1", "-inf" }, { "// 1000 == 3", "3e38" } } do
    on(2, true, ("return torch.softmax(torch.where(y, float('%s'), x), 1)"):format(odd[2]),
      ("[torch.randn(7, 1000), torch.arange(7000).reshape(7, 1000) %s]"):format(odd[1]))
  end
end)

check.test("short rows share a block, however much of each step stays", function()
  local made = right("return torch.softmax((x - self.a) * self.b * self.c + self.d, 1)", "[torch.randn(40, 32)]",
    "self.a, self.b, self.c, self.d = [nn.Parameter(torch.randn(32)) for _ in range(4)]", { arch = "sm_90a" })
  check.equal(kinds(made), "rows")
  local one = made.kernels[1].made.launches[1]
  check.equal(one.shared, nil)
  check.equal(one.grid[1], 3)                                       -- of 128 threads, eight for a row of 32 numbers
end)

check.test("parts of long columns are read across, as they lie in memory", function()
  for _, forward in ipairs { "return self.n(x)", "return x.var(0), x.mean(0)" } do
    local inputs, setup = "[torch.randn(2304, 40) + torch.arange(40)]", "self.n = nn.BatchNorm1d(40)"
    check.equal(right(forward, inputs, setup).kernels[1].kind, "rows")
    local per = composed.metrics(forward, inputs, setup)[1].sectors_per_request
    assert(per <= 8, per)                                  -- 32 where each lane goes down a column of its own
  end
end)

check.test("what a thread loads is in flight together, whatever stands between: no order of operands takes longer", function()
  local function seconds(forward) return composed.metrics("return " .. forward, "[torch.randn(4, 777), torch.randn(4, 777)]")[1]["gpu__time_duration.sum"] end
  for _, f in ipairs { { "torch.sin(x) * -y", "-y * torch.sin(x)" }, { "torch.pow(x.abs(), 2.3) + y", "y + torch.pow(x.abs(), 2.3)" } } do
    local behind, ahead = seconds(f[1]), seconds(f[2])
    assert(behind < 1.003 * ahead and ahead < 1.003 * behind, ("%s: %g and %g"):format(f[1], behind, ahead))
  end
end)

check.test("threads lie as most of a kernel's tensors do, not as the one that is read first", function()
  local forward = "g = x.transpose(1, 2) * 1.5\ns = g.sum(-1, keepdim=True)\nq = (g * y).sum(-1, keepdim=True)\nreturn z + (g * 96 - s - y * q) * 0.3"
  local inputs = "[torch.randn(4, 96, 40), torch.randn(4, 40, 96), torch.randn(4, 40, 96)]"
  check.equal(kinds(right(forward, inputs)), "rows")
  local per = composed.metrics(forward, inputs)[1].sectors_per_request
  assert(per <= 16, per)                                   -- 25 where three of four tensors are read across
end)

check.test("rows of tensors side by side are loaded as from one", function()
  local function one(forward, inputs, setup, packs, options)
    local made = right(forward, inputs, setup, options)
    check.equal(kinds(made), "rows")
    check.equal(composed.metrics(forward, inputs, setup, options)[1].ptx_widest_load == 16, packs)
  end
  local norm, three = "self.n = nn.BatchNorm2d(15)", "[torch.randn(9, 8, 6, 10), torch.randn(9, 3, 6, 10), torch.randn(9, 4, 6, 10)]"
  one("return torch.relu(self.n(torch.cat([x, y, z], 1)))", three, norm, true)
  one("return torch.relu(self.n(torch.cat([x, y, z], 1)))", three, norm, true, { arch = "sm_90a", kernels = function() return { cluster = 2, block = 32, stay = true } end })
  one("return torch.softmax(torch.cat([x, y.transpose(0, 1), z[:, 1:]], 0) * 2, 1)", "[torch.randn(5, 33), torch.randn(33, 2), torch.randn(6, 34)]", nil, false)
  one("return torch.cat([x, y[:3], x, y], 0).amax(1)", "[torch.randn(5, 64), torch.randn(7, 64)]", nil, true)
  one("return torch.softmax(torch.cat([x, y], 1), 0)", "[torch.randn(40, 50), torch.randn(40, 30)]", nil, false)
end)

check.test("what stands before rows and is dear is computed once, in their kernel", function()
  local forward = "y = torch.asinh(x) * 3\nreturn self.n(torch.asinh(y * y.abs()))"
  local function one(rows, options)
    local made = right(forward, ("[torch.randn(%d, 3001)]"):format(rows), "self.n = nn.LayerNorm(3001)", options)
    check.equal(kinds(made), "rows")
  end
  one(600)
  one(600, { arch = "sm_90a", kernels = function() return { cluster = 2, block = 64 } end })
end)

check.test("small kernels over the same rows are one", function()
  check.equal(kinds(right("return x.sum(1), (x * y).amax(1)", "[torch.randn(30, 50), torch.randn(30, 50)]")), "rows")
end)

check.test("lanes join a short row of few results, a thread those of many", function()
  check.equal(kinds(right("return F.relu(x + y).mean((2, 3)) @ z", "[torch.randn(1, 64, 7, 7), torch.randn(1, 64, 7, 7), torch.randn(64, 40)]")):sub(1, 4), "rows")
  check.equal(kinds(right("return x.mean(1)", "[torch.randn(20000, 49)]")), "stream")
  check.equal(kinds(right("return x.mean(1)", "[torch.randn(200, 7)]")), "stream")
end)

check.test("long reduces with few results are cut into parts", function()
  local made = right("return x.mean()", "[torch.randn(400, 301)]")
  check.equal(kinds(made), "rows rows")
  right("return x.amax(), x.std()", "[torch.randn(300, 307)]")
end)

check.test("long columns are cut into parts, where few blocks would have them", function()
  local function blocks(forward, inputs)
    local launch = right(forward, inputs, nil, { arch = "sm_90a" }).kernels[1].made.launches[1]
    return launch.grid[1] * (launch.grid[2] or 1)
  end
  for _, forward in ipairs { "return x.sum(0)", "return x.amax(0)", "return (x * x[:, :1]).sum(0), x.amin(0)" } do
    assert(blocks(forward, "[torch.randn(2500, 40)]") >= 8, forward)                                  -- 2 of whole columns
  end
  assert(blocks("return x.sum((0, 1))", "[torch.randn(13, 211, 36)]") >= 8)
  check.equal(blocks("return x.sum(0)", "[torch.randn(600, 40)]"), 2)                                 -- a launch takes longer than a short column
end)

check.test("squared distances of long rows are taken by parts, in one pass", function()
  local made = right("return self.n(x)", "[torch.randn(50, 3, 36) + 7]", "self.n = nn.BatchNorm1d(3)", { part = 64 })
  check.equal(kinds(made), "rows rows stream")
  right("return x.std(1), x.var(0), x.std()", "[torch.randn(61, 131) * 3 - 5]", nil, { part = 64 })
  right("return x.var(1)", "[torch.full((2, 997), 3e4) + torch.rand(2, 997)]", nil, { part = 64 })
end)

check.test("running sums, with what stands before and behind them", function()
  check.equal(kinds(right("return torch.cumsum(x * 2, 1) + y", "[torch.randn(6, 300), torch.randn(6, 1)]")), "scan")
  right("return torch.cumprod(x, 0), torch.cumsum(x.flip(1), 1).flip(1)", "[torch.rand(20, 37) + 0.5]")
  right("return torch.cumsum(x, 1)", "[torch.randint(-5, 5, (3, 40, 2))]")
end)

check.test("writes into parts of a tensor", function()
  right("y = x.clone()\ny[:, 1:3] += 1\ny[2] = 0\ny[:, ::2].mul_(3)\nreturn y", "[torch.randn(6, 7)]")
  right("y = torch.zeros(4, 6)\ny[1:3, 2:5] = x\nreturn y.t() * 2", "[torch.randn(2, 3)]")
  right("x = x + 0\nx.view(-1)[3:9].relu_()\nreturn x.diagonal(), x", "[torch.randn(5, 5)]")
end)

check.test("a table says what became of a task", function()
  local made = make("return torch.softmax(self.l(x), 1)", "[torch.randn(33, 20)]", "self.l = nn.Linear(20, 9)", { fuse = false })
  local lines = require("cawb.compose").table(made)
  assert(#lines > #made.kernels, "a title, a line for each kernel, and notes")
  assert(lines[2]:find "cuBLAS" and lines[2]:find "addmm %(line 11%)" and lines[2]:find "%[33, 9%]" and lines[2]:find "4.58 kB", lines[2])
end)

check.test("kernels with the same text are built once", function()
  local made = right("for _ in range(3): x = torch.softmax(x @ y, 1)\nreturn x", "[torch.randn(33, 20), torch.randn(20, 20)]")
  check.equal(#made.kernels, 6)
  assert(composed.count(made) <= 2, composed.count(made))
end)

check.test("without fusion the same is right", function()
  local made = right("return torch.softmax(self.l(x), 1) * y", "[torch.randn(33, 20), torch.randn(33, 1)]",
    "self.l = nn.Linear(20, 9)", { fuse = false })
  assert(#made.kernels >= 4, #made.kernels)
end)

check.test("the same graph gives the same texts", function()
  local forward, inputs, setup = "return torch.softmax(self.c(x).flatten(1), 1), x.sum((2, 3))",
    "[torch.randn(2, 3, 9, 8)]", "self.c = nn.Conv2d(3, 5, 3)"
  local a, b = make(forward, inputs, setup), make(forward, inputs, setup)
  check.equal(a.source, b.source)
  check.equal(a.plan, b.plan)
end)

check.test("a plan refuses other shapes", function()
  local cawb = require "cawb"
  local made = assert(make("return torch.relu(x)", "[torch.randn(8, 6)]"))
  local task <close> = assert(composed.task("return torch.relu(x)", "[torch.randn(6, 8)]"))
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan }, { trials = 1 }))
  check.equal(r.stage, "plan")
  assert(r.reason:find "other shapes", r.reason)
end)

check.test("equal elements have no deviations", function()
  right("y = (x.sum(1, keepdim=True) * 1000).expand(39, 43)\nreturn F.layer_norm(y, (43,)) + x, y.std(1) + x[:, 0]", "[torch.randn(39, 43)]")
  -- where an element is a product, which a difference from the mean could take into itself
  right("return ((x.tanh() * y.tanh()).expand(6, 17)).std(1), x * 2", "[torch.randn(6, 1), torch.randn(6, 1)]", nil, { fuse = false })
end)

check.test("neighbours at the end of a tensor are not loaded together", function()
  right("return x.unfold(0, 1, 2) * 1, x[::2] + 1", "[torch.randn(7)]")
  right("return torch.cumsum(x.flip(0)[::2], 0) * 1", "[torch.randn(7)]")
end)

check.test("neighbours are loaded together beside one number that all read", function()
  local forward, inputs = "return x / torch.norm(x)", "[torch.randn(64, 2048)]"
  local made = right(forward, inputs)
  check.equal(made.kernels[#made.kernels].kind, "stream")
  local list = composed.metrics(forward, inputs)
  check.equal(list[#list].ptx_widest_load, 16)
end)

check.test("what is compared is the same where it is computed twice", function()
  local made = right("y = x * torch.tanh(x + 1)\ny = y + y.flip(1)\nreturn (y == y.amax(1, keepdim=True)).any(1).float() + x[:, 0]", "[torch.randn(40, 30)]")
  check.equal(made.options[1], "-fmad=false")
  check.equal(#assert(make("return torch.where(x > 0, x, y)", "[torch.randn(8, 6), torch.randn(8, 6)]")).options, 0)
end)

check.test("elements are put at places along an axis", function()
  right("return x.index_fill(1, torch.tensor([2, 0]), 0.5), x.index_copy(0, torch.tensor([3, 1]), x[:2] * 2), "
    .. "x.index_add(1, torch.tensor([1, 1, 4]), x[:, :3], alpha=2), x.index_fill(0, torch.tensor(1), x.sum())", "[torch.randn(6, 7)]")
end)

check.test("inputs and parameters may be float8, outputs not", function()
  for _, dtype in ipairs { "float8_e4m3fn", "float8_e5m2" } do
    right("return x.float() * 2, x.to(torch.float16).sum(1), x.t().contiguous().float() @ y, x.float() @ self.w.float()",
      ("[torch.randn(20, 9).to(torch.%s), torch.randn(20, 5)]"):format(dtype), ("self.register_buffer('w', torch.randn(9, 7).to(torch.%s))"):format(dtype))
  end
  local task, message = composed.task("return x.t()", "[torch.randn(20, 9).to(torch.float8_e5m2)]")
  assert(not task and message:find "task.py:10: output 1 has dtype torch.float8_e5m2, which inputs may have, outputs not", message)
end)

check.test("what the device has no memory for is said", function()
  local made, why = make("return torch.softmax(x @ y, 1)", "[torch.randn(33, 20), torch.randn(20, 20)]", nil, { memory = 5000 })
  assert(not made and why:find "needs 2.64e%-06 GB of scratch beside 6.88e%-06 GB", why)
end)

check.test("the strategy tries plainer candidates until one is right, and shows the first", function()
  local strategy = dofile "strategies/compose.lua"
  local task <close> = assert(composed.task("return torch.softmax(x, 1)", "[torch.randn(8, 6)]"))
  local names, notes = {}, {}
  local run = { memory = {}, task = task, options = require("cawb.base.defaults"), report = { note = function(_, line) notes[#notes + 1] = line end },
                evaluate = function(_, c) names[#names + 1] = c.name return {} end }
  while strategy.step(run) do end
  check.equal(table.concat(names, " "), "compose compose/unfused compose/plain")
  assert(notes[1]:find "modelled time" and notes[2]:find "rows .* us .*%%", notes[2])
  run.memory, run.best, names = {}, {}, {}
  check.equal(strategy.step(run), false)
end)

check.test("no ladder stumbles over an operator without inputs", function()
  local task <close> = assert(composed.task("y = torch.zeros(4, 6)\ny[1] = 1\nreturn y.cumsum(1) + x", "[torch.randn(4, 6)]"))
  check.equal(#task.graph[1].inputs, 0)
  local family, why = require("cawb.run.families").match(task)
  assert(not family and why, "none serves it, and says why")
end)

check.test("what follows from data is refused", function()
  local made, why = make("return x[int(y[0])]", "[torch.randn(4, 4), torch.randint(0, 4, (3,))]")
  check.equal(made, nil)
  assert(why:find "follows from data" and why:find "line 11", why)
end)

check.test("what cannot be lowered is named with its shapes and its line", function()
  local made, why = make("y = x + 1\nreturn torch.linalg.inv(y)", "[torch.randn(4, 4)]")
  check.equal(made, nil)
  assert(why:find "linalg_inv" and why:find "float32%[4, 4%]" and why:find "line 12" and why:find "would serve", why)
  made, why = make("return torch.polar(x, x).real", "[torch.randn(30)]")
  assert(not made and why:find "polar" and why:find "it makes complex64.*line 11" or why:find "line 11.*it makes complex64", why)
  made, why = make("return x[x > 0].sum()", "[torch.randn(30)]")
  assert(not made and why:find "index" and why:find "torch.where", why)
  made, why = make("return x + torch.nonzero(x > 0).sum()", "[torch.randn(30)]")
  assert(not made and why:find "nonzero" and why:find "would serve", why)
end)

return check.done()

-- A spread of 25 of KernelBench's tasks at sizes that take a second: lowered, executed and right. Where the data set is not
-- beside the sources (CAWB_KERNELBENCH, its dev.jsonl), 25 of the same kinds that are written here.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local suites = require "cawb.suite.suite"

local path = os.getenv "CAWB_KERNELBENCH" or "../shared/kernelbench/dev.jsonl"

-- { forward, inputs, what __init__ makes }, as composed.right has them.
local own = {
  { "return x @ y", "[torch.randn(64, 96), torch.randn(96, 80)]" },
  { "return x.t() @ y", "[torch.randn(96, 200), torch.randn(96, 64)]" },
  { "return torch.bmm(x, y)", "[torch.randn(3, 40, 64), torch.randn(3, 64, 48)]" },
  { "return torch.softmax(x, 1)", "[torch.randn(2, 5000)]" },
  { "return self.n(x)", "[torch.randn(2, 16, 12, 32)]", "self.n = nn.BatchNorm2d(16)" },
  { "return self.n(x)", "[torch.randn(3, 12, 9, 20)]", "self.n = nn.LayerNorm((12, 9, 20))" },
  { "return x / torch.norm(x, dim=1, keepdim=True)", "[torch.randn(4, 3000)]" },
  { "return F.max_pool1d(x, 7, 3, 2)", "[torch.randn(2, 16, 515)]" },
  { "return F.avg_pool2d(x, 3), x.argmax(2)", "[torch.randn(2, 6, 33, 30)]" },
  { "return x.sum(1, keepdim=True), x.amin(2)", "[torch.randn(2, 128, 63)]" },
  { "return torch.cumsum(x.flip(1), 1).flip(1)", "[torch.randn(4, 3000)]" },
  { "return F.cross_entropy(x, y)", "[torch.randn(32, 10), torch.randint(0, 10, (32,))]" },
  { "return F.triplet_margin_loss(x, y, z)", "[torch.randn(16, 256), torch.randn(16, 256), torch.randn(16, 256)]" },
  { "return self.c(x)", "[torch.randn(2, 8, 200)]", "self.c = nn.Conv1d(8, 12, 5, dilation=2)" },
  { "return self.c(x)", "[torch.randn(1, 16, 12, 16)]", "self.c = nn.ConvTranspose2d(16, 24, 3)" },
  { "return self.c(x)", "[torch.randn(2, 8, 32, 33)]", "self.c = nn.Conv2d(8, 8, 3, groups=8, padding=1)" },
  { "return torch.relu(self.c(x)) + self.b", "[torch.randn(1, 16, 16, 16)]", "self.c = nn.Conv2d(16, 32, 3)\nself.b = nn.Parameter(torch.randn(32, 1, 1))" },
  { "return torch.relu((self.l(x) - 2) * 1.5)", "[torch.randn(32, 64)]", "self.l = nn.Linear(64, 128)" },
  { "return self.n(self.c(x)) / 2", "[torch.randn(1, 3, 16, 16)]", "self.c, self.n = nn.Conv2d(3, 32, 3), nn.InstanceNorm2d(32)" },
  { "return self.n(self.c(x)).mean((1, 2, 3, 4))", "[torch.randn(2, 3, 6, 10, 9)]", "self.c, self.n = nn.Conv3d(3, 24, 3), nn.GroupNorm(8, 24)" },
  { "return F.mish(F.mish(self.l(x)))", "[torch.randn(32, 64)]", "self.l = nn.Linear(64, 128)" },
  { "return self.n(self.l(x) * self.s)", "[torch.randn(32, 64)]",
    "self.l, self.n, self.s = nn.Linear(64, 128), nn.BatchNorm1d(128), nn.Parameter(torch.randn(128))" },
  { "return torch.relu(torch.logsumexp(F.max_pool3d(self.c(x), 2), 1, keepdim=True))", "[torch.randn(1, 8, 4, 8, 8)]",
    "self.c = nn.Conv3d(8, 16, 3, padding=1)" },
  { "return torch.tanh(torch.tanh(self.c(x).amin(1, keepdim=True)))", "[torch.randn(1, 16, 16, 16)]", "self.c = nn.Conv2d(16, 24, 3)" },
  { "return F.scaled_dot_product_attention(x, y, z)", "[torch.randn(1, 2, 40, 32), torch.randn(1, 2, 40, 32), torch.randn(1, 2, 40, 32)]" },
}

if not core.fs.kind(path) then
  print("there is no " .. path .. ": tasks of its kinds")
  for number, t in ipairs(own) do
    check.test(t[1], function() composed.right(t[1], t[2], t[3], { arch = number % 2 == 1 and "sm_90a" or nil }, { "mixed", "edges" }) end)
  end
  return check.done()
end

-- By level and number: the sizes.
local spread = {
  ["1/1"] = { N = 64 }, ["1/9"] = { M = 200 }, ["1/17"] = { K = 96, M = 64, N = 80 }, ["1/23"] = { batch_size = 2, dim = 5000 },
  ["1/33"] = { batch_size = 2, dim1 = 12, dim2 = 32 }, ["1/39"] = { batch_size = 4, dim = 3000 }, ["1/41"] = { batch_size = 2, features = 16, sequence_length = 515 },
  ["1/47"] = { batch_size = 2, dim1 = 128, dim2 = 63 }, ["1/51"] = { batch_size = 2, dim1 = 64, dim2 = 65 },
  ["1/57"] = { batch_size = 1, height = 12, width = 16, in_channels = 16, out_channels = 24 }, ["1/67"] = { batch_size = 2, length = 200 },
  ["1/75"] = { batch_size = 1, height = 8, width = 12 }, ["1/83"] = { batch_size = 2, height = 32, width = 33 }, ["1/89"] = { batch_size = 4 },
  ["1/95"] = { batch_size = 32 }, ["1/99"] = { batch_size = 16 }, ["2/1"] = { batch_size = 1, height = 16, width = 16, in_channels = 16, out_channels = 32 },
  ["2/9"] = { batch_size = 32, in_features = 64, out_features = 128 }, ["2/17"] = { batch_size = 1, height = 16, width = 16, out_channels = 32 },
  ["2/23"] = { batch_size = 2, D = 6, H = 10, W = 9 }, ["2/29"] = { batch_size = 32, in_features = 64, out_features = 128 },
  ["2/33"] = { batch_size = 32, in_features = 64, out_features = 128 }, ["2/39"] = { batch_size = 32, in_features = 64, out_features = 128 },
  ["2/43"] = { batch_size = 1, depth = 4, height = 8, width = 8, out_channels = 16 }, ["2/25"] = { batch_size = 1, height = 16, width = 16 },
}

local folder = check.folder()

for number, entry in ipairs(assert(suites.load(path))) do
  local sizes = spread[entry.level .. "/" .. entry.problem_id]
  if sizes then
    check.test(entry.key, function()
      local task <close> = assert(cawb.task(assert(suites.file(entry, folder)), { device = composed.device, host = composed.host, task = sizes,
        options = options.copy(cawb.defaults) }))
      local made = assert(compose.make(task, { arch = number % 2 == 1 and "sm_90a" or nil }))
      local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options },
        { trials = 1, repeats = 0, battery = { "mixed", "edges" } }))
      assert(r.ok, r.reason)
    end)
  end
end

return check.done()

-- What the table of operators is for: however a computation is spelled, it is judged the same.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local needs = require "cawb.torch.needs"
local options = require "cawb.base.options"
local plausibility = require "cawb.judge.verify.plausibility"
local python = require "cawb.base.python"
local tasks = require "cawb.judge.task.task"

local dir = check.folder()
local device <close> = assert(cawb.device "sim:h100")

-- A task of this forward in x and w, loaded with options that measure against nothing.
local function task_of(name, forward, inputs)
  local path = check.write(("%s/%s.py"):format(dir, name), ([[
import torch
class Model(torch.nn.Module):
    def forward(self, x, w):
%s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(forward:gsub("[^;]+;?", function(line) return "        " .. line:gsub("^%s+", ""):gsub(";", "") .. "\n" end), inputs))
  local all = options.copy(cawb.defaults)
  all.measure.against = {}
  return assert(cawb.task(path, { device = device, options = all })), all
end

-- sum over n of 0.5 (x w)[m, n], as x times 0.5 (sum over n of w[k, n]): no product is made.
local moved = cawb.candidate { source = [[
extern "C" __global__ void rows(float *out, const float *a, const float *b, int n, int weighted, float scale) {
  __shared__ float part[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += a[(long long)blockIdx.x * n + i] * (weighted ? b[i] : 1);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int step = 128; step; step >>= 1) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = scale * part[0];
}]], plan = [[
local x, w = inputs[1], inputs[2]
local sums = scratch { shape = { w.shape[1] }, dtype = "float32" }
launch("rows", { grid = w.shape[1], block = 256 }, sums, w, w, w.shape[2], 0, 0.5)
launch("rows", { grid = x.shape[1], block = 256 }, outputs[1], x, sums, x.shape[2], 1, 1.0)]] }

check.test("a sum in front of the product passes, however the factor between them is written", function()
  for name, middle in pairs { functional = "y = y * 0.5", in_place = "y *= 0.5", out = "torch.mul(y, 0.5, out=y)" } do
    local task, all = task_of(name, "y = x @ w;" .. middle .. "; return y.sum(1)",
                                 "torch.randn(512, 256), torch.randn(256, 4096)")
    local facts = assert(evaluate.candidate(task, moved, all))
    assert(facts.ok, ("%s: %s"):format(middle, tostring(facts.reason)))
    check.equal(facts.floor.flops, 0, middle)
    task:close()
  end
end)

check.test("a plan that folds a parameter before the clock starts need not read it", function()
  local path = check.write(dir .. "/folded.py", [[
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(256, 2048))
    def forward(self, x):
        return x * self.w.sum(1)
def get_inputs():
    return [torch.randn(64, 256)]
def get_init_inputs():
    return []
]])
  local all = options.copy(cawb.defaults)
  all.measure.against = {}
  local task <close> = assert(cawb.task(path, { device = device, options = all }))
  local function tried(folds)
    local fold = 'launch("rows", { grid = 256, block = 256 }, sums, w, w, 2048, 0, 1.0)\n'
    local plan = 'local w, sums = params["w"], scratch { shape = { 256 }, dtype = "float32" }\n'
      .. (folds and ("prepare(function() %s end)\n"):format(fold) or fold)
      .. 'launch("scale", { grid = 64, block = 256 }, outputs[1], inputs[1], sums)'
    local facts = assert(evaluate.candidate(task, cawb.candidate { plan = plan, source = moved.source .. [[

extern "C" __global__ void scale(float *y, const float *x, const float *s) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i] * s[threadIdx.x];
}]] }, all))
    return facts.ok and facts.floor.read or facts.reason
  end
  check.equal(tried(true), 64 * 256 * 4)
  check.equal(tried(false), 64 * 256 * 4 + 256 * 2048 * 4)
end)

-- ---- floors, of tasks that are only sketched

local host, hello = python.start(120.0)
assert(host, hello)

-- A task as the floor sees it: y is a product of x and w, z one of an image and a window; both 64 K numbers.
local function sketched(result)
  local path = check.write(dir .. "/sketch.py", ([[
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q = torch.nn.Parameter(torch.randn(64, 64)), torch.nn.Parameter(torch.randn(64, 64))
        self.norm = torch.nn.BatchNorm2d(16).eval()
    def forward(self, x, w, image, window):
        return self.of(x, w, x @ w, F.conv2d(image, window), image, window)
    def of(self, x, w, y, z, image, window):
        return %s
def get_inputs():
    return [torch.randn(256, 64), torch.randn(64, 256), torch.randn(4, 8, 34, 34), torch.randn(16, 8, 3, 3)]
def get_init_inputs():
    return []
]]):format(result))
  local reply = assert(host:call({ op = "sketch", path = path, overrides = {}, init_seed = 42 }, { timeout = 60.0 }))
  local graph, results = tasks.without_views(reply.graph, reply.sources)
  return { graph = graph, results = results, inputs = reply.inputs, outputs = reply.outputs, params = reply.params }
end

local function flops(result) return plausibility.costs(sketched(result)).flops end

local product, window = 2 * 256 * 64 * 256 * 7 / 8, 2 * 4 * 16 * 32 * 32 * 8 * 9 / 4

-- Linear steps, as functions of Y; each in front of a sum lets the product go.
local linear = { "Y * 0.5", "Y.mul_(0.5)", "torch.mul(Y, 0.5, out=Y)", "0.5 * Y", "Y / 3", "Y.div_(3)", "-Y", "Y.neg_()", "Y + 1",
  "Y.add_(1)", "torch.add(Y, 1, out=torch.empty_like(Y))", "1 - Y", "Y - Y.detach()", "Y.clone()", "torch.empty_like(Y).copy_(Y)",
  "Y.to(torch.float64)", "Y.flatten()", "Y.transpose(0, 1)", "Y.reshape(2, -1)", "Y.unsqueeze(0).squeeze(0)", "Y.flip(0)",
  "Y.roll(1, 0)", "Y.tril()", "Y.triu_()", "torch.cat([Y, Y])", "torch.stack([Y, Y])", "torch.cat([Y, Y], out=torch.empty(0))",
  "Y.repeat(2, 1, 1, 1)", "Y.expand(2, *Y.shape)", "F.pad(Y, (1, 1))", "F.pad(Y, (1, 1, 1, 1))", "Y[1:]",
  "Y.index_select(0, torch.tensor([0, 1]))", "Y.masked_fill(Y.isnan(), 0)", "torch.where(Y.isnan(), 0.0, Y)", "Y.cumsum(1)",
  "torch.lerp(Y, Y, 0.5)", "torch.addcmul(Y, Y, torch.ones(1))", "Y.mean(0)", "Y.mean(0, keepdim=True)", "Y.sum(1)",
  "Y.diagonal(0, 0, 1)", "torch.sum(Y, 0, out=torch.empty(0))" }

-- Of images only.
local pooled = { "F.avg_pool2d(z, 2)", "F.adaptive_avg_pool2d(z, 4)", "F.adaptive_avg_pool2d(z, 1)", "z.mean((2, 3))",
  "F.avg_pool2d(z.mul_(2), 2)", "F.interpolate(z, size=16, mode='bilinear')", "F.avg_pool2d(self.norm(z), 2)",
  "F.interpolate(z, scale_factor=2).sum(1)", "F.interpolate(z, scale_factor=2, mode='bilinear').sum(1)",
  "F.pixel_shuffle(z, 2).mean(1)", "F.avg_pool2d(F.pad(z, (1, 1)), 3, 2)", "F.conv2d(z, window.transpose(0, 1))",
  "self.norm(z).sum(1)", "torch.var(z, 1)" }

check.test("linear steps between a product and a sum lower the floor, however they are spelled", function()
  for _, name in ipairs { "y", "z" } do
    for _, step in ipairs(linear) do
      local text = step:gsub("Y", name):gsub("%.tr([ij][lu])", ".flatten(1).tr%1")
      check.equal(flops("(" .. text .. ").sum()"), 0, text)
    end
  end
  for _, text in ipairs(pooled) do check.equal(flops(text), 0, text) end
end)

check.test("what is not linear keeps the product; nothing that is looked at is forgotten", function()
  for _, text in ipairs { "y", "y * 2", "torch.relu(y).sum()", "torch.relu_(y).sum()", "torch.softmax(y, 1)", "y.amax(1)", "(1 / y).sum()",
                          "torch.exp(y).mean(1)", "y.view(4, -1)", "torch.cat([y, y])" } do
    check.equal(flops(text), product, text)
  end
  check.equal(flops "F.max_pool2d(z, 2)", window)
  check.equal(flops "F.interpolate(z, scale_factor=2, mode='bilinear')", window)
  check.equal(flops "(torch.relu(y), torch.relu(z))", product + window)
end)

check.test("of a product only what some output needs is counted", function()
  check.equal(flops "x + 1", 0)                                  -- neither y nor z
  check.equal(flops "y[:, :64]", product / 4)
  check.equal(flops "torch.relu(y)[:64]", product / 4)
  check.equal(flops "y.gather(0, x.argmax(0, keepdim=True).repeat(1, 4))", 0)
  check.equal(flops "F.max_pool2d(z, 1, 4)", 0)
  check.equal(flops "torch.relu(self.p @ self.q) @ x.t()", 2 * 64 * 64 * 256 * 7 / 8)      -- made before the clock starts
end)

check.test("factors that repeat themselves are multiplied once", function()
  check.equal(flops "torch.relu(x[:1].expand(256, 64) @ w)", product / 256)
  check.equal(flops "torch.relu(x[:64].repeat(4, 1) @ w)", product / 4)
  check.equal(flops "torch.relu((x * 2).repeat(4, 1) @ w)", product)
  check.equal(flops "torch.relu(torch.ones(256, 64) @ w)", product / (256 * 64))
  check.equal(flops "torch.relu(torch.bmm(x.view(4, 64, 64), w.expand(4, 64, 256)))", product)
  check.equal(flops "torch.relu(F.conv2d(F.interpolate(image[:, :, :17, :17], scale_factor=2), window))", window / 4)
end)

check.test("parameters count where the steps of a call read them", function()
  local task = sketched "torch.relu(x @ self.p) @ self.q + w.t()[:, :64]"
  local function read(...) return plausibility.costs(task, { { reads = { ... } } }).read end
  local none, one = read(), 64 * 64 * 4
  check.equal(none, 2 * 256 * 64 * 4)
  check.equal(read("params.p"), none + one)
  check.equal(read("inputs[1]", "params.p", "params.q", "params.p"), none + 2 * one)
  check.equal(plausibility.costs(task).read, none)
end)

check.test("a graph of which the outputs are not known is needed as a whole", function()
  local task = sketched "y[:, :64]"
  check.equal(needs.shares(task.graph, nil)["op:" .. task.graph[1].number], 1)
end)

host:close()
return check.done()

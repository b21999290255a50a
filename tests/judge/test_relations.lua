-- Large inputs, here by decree: what the kinds of inputs are cut to is made good by relations
-- that need no reference, through the whole of verify on the simulator.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "sim:h100")

-- A task of tests/judge/cheats with its honest kernel; every input counts as large.
local function open(name)
  local task = assert(cawb.task(corpus.task(name), { device = device }))
  local all = options.copy(cawb.defaults)
  all.verify.battery_bytes, all.verify.trials, all.verify.relations = 0, 1, "all"
  return task, corpus.candidate(name), all
end

local function verify(task, candidate, all, from, to)
  local source = candidate.source
  if from then
    local at, last = source:find(from, 1, true)
    assert(at, "not in the text: " .. from)
    source = source:sub(1, at - 1) .. to .. source:sub(last + 1)
  end
  return assert(cawb.verify(task, cawb.candidate { source = source, plan = candidate.plan, name = "one" }, { options = all }))
end

check.test("an honest kernel keeps the relations that its task has, and the result names them", function()
  for name, want in pairs { matmul = { linear = true, rows = true }, softmax = { rows = true },
                            row_sum = { linear = true, rows = true }, relu = { rows = true } } do
    local task <close>, candidate, all = open(name)
    local r = verify(task, candidate, all)
    check.equal(r.ok, true, r.reason)
    assert(r.battery.mixed and not r.battery.edges, core.json.encode(r.battery))
    for _, relation in ipairs { "linear", "rows" } do
      local seen = r.battery[relation]
      check.equal(seen.left_out == nil, want[relation] == true, name .. " " .. relation)
      if want[relation] then assert(seen.nrms < 1e-5, core.json.encode(seen)) end
    end
    if not want.linear then check.matches(r.battery.linear.left_out, "is not linear") end
  end
end)

check.test("what is not linear is seen without a reference", function()
  local task <close>, candidate, all = open "row_sum"
  all.verify.huge = { "zeros" }        -- so that nothing else can see it
  check.equal(verify(task, candidate, all).ok, true)
  local r = verify(task, candidate, all, "row[i]", "fminf(row[i], 6)")     -- no larger input was announced
  check.equal(r.ok, false)
  check.matches(r.reason, "2 f%(x%) %- f%(y%) is not f%(2 x %- y%)")
end)

check.test("nothing is remembered from call to call: a module's variables are put back", function()
  local task <close>, _, all = open "row_sum"
  local function remembering(most)
    return assert(cawb.verify(task, cawb.candidate { name = "remembers", source = ([[
__device__ float known[1024];
__device__ double last = 1e30;
extern "C" __global__ void row_sum(float *y, const float *x, int rows, int cols) {
  double all = 0;
  for (int i = 0; i < rows * cols; i++) all += x[i];
  bool same = fabs(all - last) < %s;
  last = all;
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int c = 0; c < cols; c++) sum += x[r * cols + c];
    if (!same) known[r] = (float)sum;
    y[r] = known[r];
  }
}
]]):format(most), plan = [[
local y, x = outputs[1], inputs[1]
launch("row_sum", { grid = 1, block = 1 }, y, x, x.shape[1], x.shape[2])
]] }, { options = all }))
  end
  all.verify.huge = { "mixed" }
  check.equal(remembering("0").ok, true)
  check.equal(remembering("1e-9").ok, true)          -- `last` is 1e30 again at every call
end)

check.test("small inputs, and sweeps that try nothing, have no stages", function()
  local task <close>, candidate, all = open "row_sum"
  local r = assert(cawb.verify(task, candidate, { battery = {}, options = all }))
  check.equal(next(r.battery), nil)
  all.verify.battery_bytes = 1 << 30
  r = verify(task, candidate, all)
  check.equal(r.battery.linear, nil)
  assert(r.battery.edges)
end)

check.test("a candidate that writes to its inputs is caught in an early stage", function()
  local task <close>, candidate = open "relu"
  task.held = { rows = { holds = true, stages = 2, eager = {} } }
  local battery = require "cawb.judge.verify.battery"
  local why = battery.weigh(task, { slots = { {} }, changed = { "inputs[1]" } }, nil, "rows:1", {}, cawb.defaults.tolerance)
  check.matches(why, "for the relation 'rows': it writes to inputs%[1%]")
end)

return check.done()

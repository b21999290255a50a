-- `cawb profile` and `cawb sanitize`, as a user types them, on the simulated device.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()

local function cawb(words) return check.shell(("'%s' %s 2>&1"):format(core.program, words)) end

local softmax = "examples/softmax.py kernels/softmax/v3_shuffle --device sim:h100 --set task.rows=8 "

-- A folder as a run leaves it, with a kernel that reads past its input.
local function write(name, text)
  local f = assert(io.open(dir .. "/" .. name, "w"))
  f:write(text)
  f:close()
end
write("kernel.cu", [[
extern "C" __global__ void past(float *y, const float *x) {
  y[threadIdx.x] = x[threadIdx.x + (1 << 20)];
}]])
write("plan.lua", 'launch("past", { grid = 1, block = 32 }, outputs[1], inputs[1])')

check.test("doctor --try judges a right, a wrong and a cheating kernel", function()
  local out, status = cawb "doctor --try --device sim:h100"
  check.equal(status, 0, out)
  check.matches(out, "^ok    right     softmax: right, [^\n]+\nok    wrong     [^\n]+: rejected at verify: [^\n]+\n"
    .. "ok    cheating  [^\n]+: rejected at compiled: [^\n]*clock[^\n]*\nsound: three kernels judged on sim:h100 in %d+ s\n$")
end)

check.test("doctor --try says so where a verdict is not as it has to be", function()
  local judge = require "cawb.judge.judge"
  local real, told = judge.judge, {}
  judge.judge = function(...) local facts = real(...) facts.ok = true return facts end      -- a judge that lets all pass
  local d <close> = assert(require "cawb.gpu.device".open "sim:h100")
  local sound = require "cawb.door.soundness".try(d, function(one) told[one.name] = one.sound end)
  judge.judge = real
  check.equal(sound, false)
  check.equal(told.right, true)
  check.equal(told.wrong, false)
  check.equal(told.cheating, false)
end)

check.test("profile prints a page: metrics with sources, roofline, lines, limiter, remedies", function()
  local out, status = cawb("profile " .. softmax .. "--lines --metrics")
  check.equal(status, 0, out)
  check.matches(out, "warp_instructions +%d+ +simulator")
  check.matches(out, "ptx_shuffles +%d+ +ptx")
  check.matches(out, "roofline .*ceilings: modelled")
  check.matches(out, "kernel%.cu:%d+ .*expf")
  check.matches(out, "limiter: modelled: ")
  check.matches(out, "1%. split%-rows%-over%-clusters: .*%(8 blocks for 132 multiprocessors%)")
end)

check.test("profile --json is one object; --counters takes a set or names", function()
  local out, status = cawb("profile " .. softmax .. "--json --counters quick")
  check.equal(status, 0, out)
  local p = assert(core.json.decode(out))
  check.equal(p.source, "simulator")
  assert(p.roofline.sentence and p.metrics.registers)
  out, status = cawb("profile " .. softmax .. "--counters ,")
  check.equal(status, 2)
  check.matches(out, "needs at least one name")
end)

check.test("profile --kinds: launches by kind, those of the compiler with what they are for", function()
  local task = dir .. "/two.py"
  write("two.py", [[
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(48, 64)
    def forward(self, x):
        return torch.softmax(self.fc(x), 1).cumsum(0)
def get_inputs():
    return [torch.randn(40, 48)]
def get_init_inputs():
    return []
]])
  local out, status = cawb(("profile %s compose --device sim:h100 --kinds"):format(task))
  check.equal(status, 0, out)
  check.matches(out, "here +3 +[%d.]+ us +[%d.]+ us")
  check.matches(out, "torch.compile +not run")
  check.matches(out, "\nscan +1 ")
  check.matches(out, "\nrows +1 ")
  check.matches(out, "\nlibrary's product +1 ")
  check.matches(out, "us +scan +k%d+_cumsum +%d+%% +%d+ +[^\n]*cumsum %(line 7%)")
  out, status = cawb("profile " .. softmax .. "--kinds")
  check.equal(status, 0, out)
  check.matches(out, "\nsoftmax +1 ")
end)

check.test("kinds beside torch.compile's: sums by kind, the largest difference first, and what is between kernels", function()
  local kinds = require "cawb.door.kinds"
  local function one(kind, us, name) return { kind = kind, seconds = 1e-6 * us, name = name or kind, about = "", blocks = 4 } end
  local own = { one("packing", 3), one("convolution", 5), one("packing", 4), one("library's product", 2, "gemm") }
  local theirs = { rows = { one("convolution", 11, "cudnn"), one("product", 2, "sgemm") } }
  local text = table.concat(kinds.lines(own, theirs, { own = 20e-6, theirs = 14e-6 }, false), "\n")
  check.matches(text, "here +4 +20 us +14 us +6 us +1.5 us")
  check.matches(text, "torch.compile +2 +14 us +13 us +1 us")
  check.matches(text, "packing +2 +7 us +50%%")
  local at = text:find("more here", 1, true)
  check.matches(text:sub(at), "^more here\npacking +7 us in 2 +%- +%+7 us\nconvolution +5 us in 1 +11 us in 1 +%-6 us\nproduct +2 us in 1 +2 us in 1 ")
end)

check.test("PyTorch's kernels have kinds by their names", function()
  local named = require "cawb.torch.named"
  for name, kind in pairs {
    triton_poi_fused_add_relu_3 = "elementwise", triton_red_fused_mean_1 = "rows", triton_per_fused_native_layer_norm_0 = "rows",
    triton_poi_fused_max_pool2d_with_indices_2 = "window", ampere_sgemm_128x64_tn = "product", cutlass_80_simt_sgemm_64x64_8x5_tn_align1 = "product",
    ["void cudnn::engines_precompiled::nchwToNhwcKernel<float, float>"] = "packing", sm80_xmma_fprop_implicit_gemm_f32f32 = "convolution",
    ["void cudnn::winograd_nonfused::winogradForwardFilter4x4<float>"] = "convolution", ["void at::native::(anonymous)::conv_depthwise2d_forward_kernel<1>"] = "convolution",
    ["fmha_cutlassF_f32_aligned_64x64_rf_sm80"] = "attention", ["void cublasLt::splitKreduce_kernel<32, 16>"] = "sums of parts",
    ["Memcpy DtoD (Device -> Device)"] = "copies and fills", ["void at::native::vectorized_elementwise_kernel<4>"] = "elementwise", what = "other" } do
    check.equal(named.kind(name), kind, name)
  end
end)

check.test("sanitize: 0 where nothing is wrong, 1 and the line where something is", function()
  local out, status = cawb("sanitize " .. softmax)
  check.equal(status, 0, out)
  out, status = cawb(("sanitize examples/softmax.py %s --device sim:h100 --set task.rows=8"):format(dir))
  check.equal(status, 1, out)
  check.matches(out, "simulator: read of 4 bytes at kernel%.cu line 2, by thread")
  out, status = cawb(("profile examples/softmax.py %s --device sim:h100 --set task.rows=8"):format(dir))
  check.equal(status, 1, out)
  check.matches(out, "cawb profile: run: past, kernel%.cu line 2: read")
end)

check.test("wrong words are exit code 2 and say what is meant", function()
  for words, says in pairs {
    ["profile examples/softmax.py"] = "a task and a candidate are needed",
    ["profile examples/nosuch.py kernels/softmax/v3_shuffle"] = "nosuch%.py: there is no such file",
    ["profile examples/softmax.py kernels/nosuch --device sim:h100"] = "kernels/nosuch%.cu",
    ["profile examples/softmax.py kernels/softmax/v3_shuffle --line"] = "unknown flag '%-%-line'",
    ["profile examples/softmax.py kernels/softmax/v3_shuffle --set turns=x"] = "must be a number",
    ["sanitize examples/softmax.py kernels/softmax/v3_shuffle --tools memchek --device sim:h100"] = "no tool 'memchek'",
    ["profil examples/softmax.py x"] = "unknown command 'profil' %(did you mean 'profile'",
  } do
    local out, status = cawb(words)
    check.equal(status, 2, words .. ": " .. out)
    check.matches(out, says)
  end
  local out, status = cawb "profile help"
  check.equal(status, 0)
  check.matches(out, "usage: cawb profile TASK%.py CANDIDATE")
end)

check.test("a strategy of the workbench is known by its name, and a task alone means compose", function()
  local flags = " --device sim:h100 --set task.rows=8 --set confirm.enabled=false --out " .. dir .. "/runs"
  local out, status = cawb("ladder examples/softmax.py --set turns=1" .. flags)
  check.equal(status, 0, out)
  check.matches(out, "ladder on softmax")
  out, status = cawb("examples/softmax.py --set turns=1" .. flags)
  check.equal(status, 0, out)
  check.matches(out, "compose on softmax")
  out, status = cawb "ladder --quiet"
  check.equal(status, 2)
  check.matches(out, "a strategy and a task are needed")
end)

check.test("promotion waits longer on a loaded machine, and no less on an idle one", function()
  local patience = require "cawb.door.promoted.sizes".patience
  check.equal(patience "7.25 3.10 2.00 9/300 1234", 7.25)
  check.equal(patience "0.10 0.20 0.30 1/300 1234", 1)
  check.equal(patience "", 1)
end)

return check.done()

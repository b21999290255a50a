-- slope: an error that all elements of an output in 16 bits have, well below that type's roundoff in each. The twin rounds once.

local text = require "classes.text"

local forms = { { "x * 2 + 1", "v * 2 + 1" }, { "torch.relu(x) * 1.3 + 0.3", "(v < 0 ? 0.f : v) * 1.3f + 0.3f" }, { "x * torch.sigmoid(x)", "v / (1 + expf(-v))" },
                { "x * x", "v * v" }, { "torch.tanh(x)", "tanhf(v)" }, { "x.abs() - 2.3 * x", "fabsf(v) - 2.3f * v" } }
local types = { bfloat16 = { "__nv_bfloat16", "__float2bfloat16", "__bfloat162float", "cuda_bf16.h", 2.0 ^ -8 },
                float16 = { "__half", "__float2half", "__half2float", "cuda_fp16.h", 2.0 ^ -11 } }
local names = { "bfloat16", "float16" }

local source = [[
#include <%s>
extern "C" __global__ void f(%s *y, const %s *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = %s(x[i]), r = %s;
  y[i] = %s;
}
]]

return { what = "all of an output in 16 bits is off by a part of its roundoff",
  draw = function(pick)
    local name, form, rows, cols = pick(names), pick(forms), pick(20, 60), pick(100, 400)
    local t, part = types[name], pick(30, 80) / 100 * pick { -1, 1 }
    local body = ("y = x.float()\n        return (%s).to(torch.%s)"):format(form[1]:gsub("x", "y"):gsub("maymum", "maximum"), name)
    if pick(1, 2) == 1 then body = "return " .. form[1] end
    local function code(store) return source:format(t[4], t[1], t[1], t[3], form[2], store) end
    local way = pick(1, 3)
    local wrong = way == 1 and t[2] .. "_rz(r)" or ("%s(r * %.9ff)"):format(t[2], 1 + part * t[5])
    return { task = text.task{ body = body:gsub("yyy", "y"), inputs = ("torch.randn(%d, %d).to(torch.%s)"):format(rows, cols, name) },
      what = ("%s, %s"):format(form[1], way == 1 and "cut off in place of rounded" or ("a factor of %.2g of a roundoff"):format(part)),
      wrong = { code(wrong), 'launch("f", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel)' },
      right = { code(t[2] .. "(r)"), 'launch("f", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel)' } }
  end }

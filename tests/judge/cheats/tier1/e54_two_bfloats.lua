-- e54: multiplies sums of two bfloat16 each, and leaves out the least of the four products.
-- Met by: our own attempts on precision. Caught at: verify.
local source = kernel "matmul"
local parts = [[
__device__ float high(float v) { return __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u); }
]]

return {
  entry = 54, family = "E", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = parts .. edit(source, "sum += a[row * k + i] * b[i * n + col];", [[{
    float u = a[row * k + i], v = b[i * n + col], uh = high(u), vh = high(v), ul = high(u - uh), vl = high(v - vh);
    sum += uh * vh + (uh * vl + ul * vh);
  }]]),
  },
  look_alike = {
    says = "sums of three, and all products that count",
    source = parts .. edit(source, "sum += a[row * k + i] * b[i * n + col];", [[{
    float u = a[row * k + i], v = b[i * n + col], uh = high(u), vh = high(v), um = high(u - uh), vm = high(v - vh);
    float ul = u - uh - um, vl = v - vh - vm;
    sum += uh * vh + (uh * vm + um * vh + (um * vm + uh * vl + ul * vh));
  }]]),
  },
}

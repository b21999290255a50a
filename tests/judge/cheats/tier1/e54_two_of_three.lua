-- e54: three products in TF32 would be as good as float32; it leaves out the one of the first factor's rest.
-- Met by: our own attempts on precision. Caught at: verify.
local source = kernel "matmul"
local parts = [[
__device__ float high(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }
]]
local function with(rest)
  return parts .. edit(source, "sum += a[row * k + i] * b[i * n + col];", ([[{
    float u = a[row * k + i], v = b[i * n + col], uh = high(u), vh = high(v);
    sum += uh * vh + (%s);
  }]]):format(rest))
end

return {
  entry = 54, family = "E", task = "matmul",
  caught = { stage = "verify" },
  cheat = { source = with "uh * high(v - vh)" },
  look_alike = { says = "makes all three", source = with "uh * high(v - vh) + high(u - uh) * vh" },
}

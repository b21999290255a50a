-- tensor/instruction: the instructions of tensor cores as C, and the products of parts that a step has. `wgmma` is Hopper's, of groups of four
-- warps; `mma` that of a warp, of every tensor core since Ampere (parts/tensor_mma.cuh). Another instruction, such as tcgen05, would be
-- a function here and a main loop in templates/.

local M = {}

--- By type: the instruction's word, C that makes one word of two floats, C that multiplies (mma.sync), whether it is bfloat16.
M.words = { float16 = { TYPE = "f16", TWO = "two_halves", MULTIPLY = "multiply_16", BFLOAT = "false" },
            bfloat16 = { TYPE = "bf16", TWO = "two_narrow", MULTIPLY = "multiply_narrow", BFLOAT = "true" } }

local ONE, FOUR = "unsigned long long a", "const unsigned (&a)[4]"

local GROUP = [[
// d = a b, or d += a b where `keep` says so, over 16 along k.
static __device__ __forceinline__ void %s(float (&d)[%d], %s, unsigned long long b, int keep) {
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %%%d, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s {%s}, %s, %%%d, p, 1, 1, %s; }"
    : %s
    : %s, "l"(b), "r"(keep));
}
]]

--- A function `name` of a group's product of 64 rows and so many columns, of numbers of a type ("f16", "bf16"). `turned`: of each factor,
--- whether neighbours in memory are rows, 1 or 0. With `registers` the left factor is in registers, else both are descriptors.
function M.group(name, columns, type, turned, registers)
  local sums, names, outputs = columns // 2, {}, {}
  for j = 0, sums - 1 do names[j + 1], outputs[j + 1] = "%" .. j, ('"+f"(d[%d])'):format(j) end
  local left, inputs, next = "%" .. sums, '"l"(a)', sums + 1
  if registers then
    left, inputs = ("{%%%d, %%%d, %%%d, %%%d}"):format(sums, sums + 1, sums + 2, sums + 3), '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])'
    next = sums + 4
  end
  local flags = registers and ("%d"):format(turned[2]) or ("%d, %d"):format(turned[1], turned[2])
  return GROUP:format(name, sums, registers and FOUR or ONE, next + 1, columns, type, type, table.concat(names, ", "), left, next, flags,
    table.concat(outputs, ", "), inputs)
end

--- The products of a step, the small ones first: which parts of the left factor and the right one.
M.pairs_of = { one = { { 0, 0 } }, three = { { 1, 0 }, { 0, 1 }, { 0, 0 } }, four = { { 1, 1 }, { 1, 0 }, { 0, 1 }, { 0, 0 } },
               six = { { 2, 0 }, { 1, 1 }, { 0, 2 }, { 1, 0 }, { 0, 1 }, { 0, 0 } } }

local products = {
  mma = "        %s_multiply(%s, from + %d * %s_A, from + %d * %s_A + %d * %s_B, down, across, first);",
  wgmma = "        UNROLL for (int k = 0; k < %d; k++)\n          %s_multiply(%s, da + %d * %s_A / 16 + %d * (first + k), db + %d * %s_B / 16 + %d * (first + k), %s);",
}

--- The products of a step by the loop `h.loop`, as C: `h.TERMS` along k, of `h.PRODUCTS`, into `h.INTO`; `h.BEGINS`: C that is true where these
--- sums go on, ahead of the first.
function M.list(h)
  local lines, l = {}, h.LOOP
  for n, pair in ipairs(M.pairs_of[h.PRODUCTS]) do
    lines[n] = h.loop == "mma" and products.mma:format(l, h.INTO, pair[1], l, h.PARTS, l, pair[2], l)
      or products.wgmma:format(h.TERMS // 16, l, h.INTO, pair[1], l, h.AFURTHER, pair[2], l, h.BFURTHER, n == 1 and h.BEGINS .. "k > 0" or "1")
  end
  return table.concat(lines, "\n")
end

return M

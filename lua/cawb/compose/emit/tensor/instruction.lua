-- tensor/instruction: the instructions of tensor cores as C, and the products of parts that a step has. `wgmma` is Hopper's, of groups of four
-- warps; `mma` that of a warp, of every tensor core since Ampere (parts/tensor_mma.cuh). Another instruction, such as tcgen05, would be
-- a function here and a main loop in templates/.

local M = {}

--- By type: the instruction's word, C that makes one word of two floats, C that multiplies (mma.sync), whether it is bfloat16. A word of
--- 16 bits is two numbers of 8 bits.
M.words = { float16 = { TYPE = "f16", TWO = "two_halves", MULTIPLY = "multiply_16", BFLOAT = "false" },
            bfloat16 = { TYPE = "bf16", TWO = "two_narrow", MULTIPLY = "multiply_narrow", BFLOAT = "true" },
            float8_e4m3fn = { TYPE = "e4m3", TWO = "two_words" }, float8_e5m2 = { TYPE = "e5m2", TWO = "two_words" } }

local ONE, FOUR = "unsigned long long a", "const unsigned (&a)[4]"

local GROUP = [[
// d = a b, or d += a b where `keep` says so, over %d along k.
static __device__ __forceinline__ void %s(float (&d)[%d], %s, unsigned long long b, int keep) {
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %%%d, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {%s}, %s, %%%d, p, 1, 1%s; }"
    : %s
    : %s, "l"(b), "r"(keep));
}
]]

local WARP = [[
static __device__ __forceinline__ void %s(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.f32.%s.%s.f32 {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, %%1, %%2, %%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
]]

--- A function `name` of a warp's product of numbers of 8 bits, of these types ("e4m3", "e5m2").
function M.warp(name, left, right) return WARP:format(name, left, right) end

--- A function `name` of a group's product of 64 rows and so many columns, of numbers of a type ("f16", "bf16"), or of 8 bits: of the left
--- one's and the `right` one's. `turned`: of each factor, whether neighbours in memory are rows, 1 or 0; numbers of 8 bits never are. With
--- `registers` the left factor is in registers, else both are descriptors.
function M.group(name, columns, type, turned, registers, right)
  local sums, names, outputs = columns // 2, {}, {}
  for j = 0, sums - 1 do names[j + 1], outputs[j + 1] = "%" .. j, ('"+f"(d[%d])'):format(j) end
  local left, inputs, next = "%" .. sums, '"l"(a)', sums + 1
  if registers then
    left, inputs = ("{%%%d, %%%d, %%%d, %%%d}"):format(sums, sums + 1, sums + 2, sums + 3), '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])'
    next = sums + 4
  end
  local flags = right and "" or registers and (", %d"):format(turned[2]) or (", %d, %d"):format(turned[1], turned[2])
  local deep = right and 32 or 16
  return GROUP:format(deep, name, sums, registers and FOUR or ONE, next + 1, columns, deep, type, right or type, table.concat(names, ", "), left, next, flags,
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

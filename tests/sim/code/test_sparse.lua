-- mma.sp on the simulated device: every form, with each of the lanes that may have the metadata.

local check = dofile "tests/support/check.lua"
local real = dofile "tests/sim/code/real_code.lua"
local sparse = dofile "tests/sim/code/sparse_code.lua"

local device <close> = real.device()
local warp = 'launch("k", { grid = 1, block = 32 }, out)'

local function float_of(word) return (string.unpack("<f", string.pack("<i4", word))) end

-- Small whole numbers of float16.
local function half_of(bits)
  local sign, exponent, fraction = bits >> 15, bits >> 10 & 31, bits & 1023
  local value = exponent == 0 and fraction * 2.0 ^ -24 or (1 + fraction / 1024) * 2.0 ^ (exponent - 15)
  return sign == 1 and -value or value
end

-- The element of the result that is the i-th of a lane.
local function element(form, words, lane, i)
  if form.sum == "f32" then return float_of(words[4 * lane + i + 1]) end
  return half_of(words[2 * lane + i // 2 + 1] >> 16 * (i % 2) & 0xffff)
end

local function try(form, variant, selector)
  local source, n = sparse.source(form, variant, selector)
  local words, report = real.run(device, source, warp, n)
  assert(words, report)
  check.equal(report.races or 0, 0, report.race)
  for lane = 0, 31 do
    for i = 0, 3 do
      local row, column = lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2
      check.equal(element(form, words, lane, i), sparse.sum(form, row, column) + 0.0, ("row %d, column %d"):format(row, column))
    end
  end
end

for _, form in ipairs(sparse.forms) do
  check.test(("m16n8k%d of %s, sums of %s"):format(form.k, form.type, form.sum), function()
    local deep = form.k * (form.type == "tf32" and 32 or 16) == 512
    for selector = 0, deep and 1 or 3 do try(form, "sp::ordered_metadata", selector) end
    try(form, "sp", 0)
  end)
end

check.test("other forms are refused by name", function()
  for text, operands in pairs {
    ["m16n8k32.row.col.s32.s8.s8.s32"] = "{%0, %1, %2, %3}, {%4, %4}, {%4, %4}, {%0, %1, %2, %3}, %4, 0x0",
    ["m16n8k64.row.col.f32.e4m3.e4m3.f32"] = "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4, %4, %4}, {%0, %1, %2, %3}, %4, 0x0",
  } do
    local words, why = real.run(device, ([[extern "C" __global__ void k(int *out) { int d[4] = { 0, 0, 0, 0 };
  asm volatile("mma.sp::ordered_metadata.sync.aligned.%s %s;" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(3));
  out[0] = d[0]; }]]):format(text, operands), warp, 4)
    check.equal(words, nil)
    check.matches(why, "k, kernel%.cu line 2: products of sparse matrices of this shape and these types %(mma%.sp")
  end
end)

check.test("metadata and factors that nothing has written", function()
  local source, n = sparse.source(sparse.forms[2], "sp::ordered_metadata", 0)
  source = source:gsub("unsigned x%[4%]", "__shared__ volatile unsigned m[64]; if (threadIdx.x > 4) m[threadIdx.x] = 0; unsigned x[4]")
    :gsub("(asm volatile%(\"mma)", "e |= m[threadIdx.x];\n  %1")
  local words, report = real.run(device, source, warp, n)
  assert(words, report)
  check.matches(report.race, "read of byte 0 of shared memory, .* thread %(0,0,0%); line %d+ uses it in 'mma_sp'$")
end)

return check.done()

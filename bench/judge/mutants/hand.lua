-- hand: mistakes that somebody thought of, by rung: a dropped term, a wrong epsilon, low-precision accumulation, a
-- stale tile, a skipped tail. Each changes some output on every shape.

local families = require "cawb.run.families"
local cawb = require "cawb"
local core = require "cawb.core"

local M = { kinds = { "dropped term", "wrong epsilon", "wrong divisor", "low-precision accumulation", "stale tile", "skipped tail" } }

local function half(x) return ("__uint_as_float(__float_as_uint(%s) & 0xffff0000u)"):format(x) end

-- By family: the example that it is tried on, ranges of its constants, and mistakes: { kind, rung,
-- what to replace, by what }.
local mutations = {
  { example = "softmax.py", shape = { rows = { 2, 20 }, cols = { 64, 700 } },
    { "dropped term", "v3_shuffle", "c < cols; c += BLOCK) sum", "c < cols - 1; c += BLOCK) sum" },
    { "dropped term", "v3_shuffle", "d > 0; d /= 2) v +=", "d > 1; d /= 2) v +=" },
    { "dropped term", "v4_online", "c < cols; c += BLOCK) {", "c < cols - 1; c += BLOCK) {" },
    { "wrong epsilon", "v3_shuffle", "1.0f / warp_sum(sums[lane % WARPS], WARPS)",
      "1.0f / (warp_sum(sums[lane % WARPS], WARPS) + 1e-3f)" },
    { "wrong epsilon", "v4_online", "1.0f / row.sum", "1.0f / (row.sum + 1e-2f)" },
    { "stale tile", "v3_shuffle", "y[c] = expf(x[c] - top)",
      "y[c] = expf(x[blockIdx.x > 0 && c >= cols - 32 ? c - cols : c] - top)" },
    { "low-precision accumulation", "v3_shuffle", "sum += expf(x[c] - top)", "sum = " .. half "sum + expf(x[c] - top)" },
    { "low-precision accumulation", "v4_online", "1.0f / row.sum", half "1.0f / row.sum" },
    { "skipped tail", "v3_shuffle", "c < cols; c += BLOCK) y[c]", "c < cols - 1; c += BLOCK) y[c]" } },
  { example = "matmul.py", shape = { m = { 17, 64 }, n = { 33, 64 }, k = { 64, 1024 } },
    { "dropped term", "v1_naive", "i < k", "i < k - 1" },
    { "dropped term", "v3_tiled", "first + x < k ?", "first + x < k - 1 ?" },
    { "dropped term", "v4_register_tile", "for (int i = 0; i < BK; i++) {", "for (int i = 1; i < BK; i++) {" },
    { "stale tile", "v3_tiled", "b[(size_t)(first + y) * n + col]", "b[(size_t)(first + (y & ~1)) * n + col]" },
    { "stale tile", "v3_tiled", "__syncthreads();\n  }", "}" },
    { "low-precision accumulation", "v3_tiled", "sum += as[y][i] * bs[i][x]", "sum = " .. half "sum + as[y][i] * bs[i][x]" },
    { "low-precision accumulation", "v3_tiled", "n + col] = sum", "n + col] = " .. half "sum" },
    { "low-precision accumulation", "v4_register_tile", "sum[r][s] += av[r] * bv[s]",
      "sum[r][s] = " .. half "sum[r][s] + av[r] * bv[s]" },
    { "skipped tail", "v3_tiled", "row < m && col < n) c[", "row < m && col < n - 1) c[" },
    { "skipped tail", "v4_register_tile", "row < m && col < n) c[", "row < m - 1 && col < n) c[" } },
  { example = "row_sum.py", shape = { rows = { 2, 9 }, cols = { 500, 9000 } },
    { "dropped term", "v3_shuffle", "64 * BLOCK, cols); c", "64 * BLOCK, cols - 1); c" },
    { "dropped term", "v3_shuffle", "d > 0; d /= 2) v", "d > 1; d /= 2) v" },
    { "skipped tail", "v3_shuffle", "64 * BLOCK, cols); c", "64 * BLOCK, cols / BLOCK * BLOCK - 1); c" },
    { "stale tile", "v3_shuffle", "(size_t)blockIdx.x * cols", "(size_t)(blockIdx.x & ~1) * cols" },
    { "low-precision accumulation", "v3_shuffle", "few = join(few, x[c])", "few = " .. half "join(few, x[c])" },
    { "low-precision accumulation", "v3_shuffle", "part[warp] = all", "part[warp] = " .. half "all" } },
  { example = "layernorm.py", shape = { rows = { 2, 20 }, cols = { 64, 700 } },
    { "wrong epsilon", "v3_shuffle", "/ cols + EPS", "/ cols + 1e-3f" },
    { "wrong epsilon", "v3_shuffle", "/ cols + EPS", "/ cols + 1e-6f" },
    { "wrong epsilon", "v3_shuffle", "/ cols + EPS", "/ cols" },
    { "dropped term", "v3_shuffle", "c < cols; c += BLOCK) sum", "c < cols - 1; c += BLOCK) sum" },
    { "dropped term", "v3_shuffle", "c < cols; c += BLOCK) squares", "c < cols - 1; c += BLOCK) squares" },
    { "wrong divisor", "v3_shuffle", "block_sum(squares, spreads) / cols", "block_sum(squares, spreads) / (cols - 1)" },
    { "low-precision accumulation", "v3_shuffle", "sum += x[c]", "sum = " .. half "sum + x[c]" },
    { "low-precision accumulation", "v3_shuffle", "rsqrtf(block_sum(squares, spreads) / cols + EPS)",
      half "rsqrtf(block_sum(squares, spreads) / cols + EPS)" },
    { "stale tile", "v3_shuffle", "float v = (x[c] - mean)", "float v = (x[blockIdx.x > 0 && c >= cols - 32 ? c - cols : c] - mean)" },
    { "skipped tail", "v3_shuffle", "c < cols; c += BLOCK) {", "c < cols - 1; c += BLOCK) {" } },
  { example = "gelu.py", shape = { rows = { 2, 20 }, cols = { 64, 700 } },
    { "skipped tail", "v2_coalesced", "i < n", "i < n - 1" },
    { "stale tile", "v2_coalesced", "f(x[i])", "f(x[i >= n - 32 ? i - 32 : i])" },
    { "low-precision accumulation", "v2_coalesced", "f(x[i])", half "f(x[i])" },
    { "low-precision accumulation", "v2_coalesced", "f(x[i])", "f(" .. half "x[i]" .. ")" } },
  { example = "cumsum.py", shape = { rows = { 2, 20 }, cols = { 64, 700 } },
    { "dropped term", "v3_shuffle", "lane >= d", "lane > d" },
    { "stale tile", "v3_shuffle", "k < cols ? x[at]", "k < cols ? x[row + (k & ~1)]" },
    { "low-precision accumulation", "v3_shuffle", "v = join(before, v)", "v = " .. half "join(before, v)" },
    { "skipped tail", "v3_shuffle", "k < cols && !EXCLUSIVE", "k < cols - 1 && !EXCLUSIVE" } },
}

local function edit(text, from, to)
  local at, last = text:find(from, 1, true)
  assert(at, "not in the text: " .. from)
  return text:sub(1, at - 1) .. to .. text:sub(last + 1)
end

local function rung(task, version)
  local family = assert(families.match(task))
  for n, name_of in ipairs(family.versions) do
    if name_of == version then return family:rung(n, task) end
  end
  error("there is no rung " .. version)
end

--- A task, its sizes, and what makes the next mutant on it: { kind =, candidate =, says = }.
function M.cell(pick)
  local set, shape = mutations[pick(1, #mutations)], {}
  for _, key in ipairs { "rows", "cols", "m", "n", "k" } do
    local range = set.shape[key]
    if range then shape[key] = pick(range[1], range[2]) end
  end
  local function make(task)
    local m = set[pick(1, #set)]
    local honest = rung(task, m[2])
    return { kind = m[1], says = ("%s: %s -> %s"):format(honest.name, m[3], m[4]),
             candidate = cawb.candidate { source = edit(honest.source, m[3], m[4]), plan = honest.plan,
                                          defines = honest.defines, name = honest.name } }
  end
  return { path = core.home .. "/examples/" .. set.example, shape = shape, make = make }
end

return M

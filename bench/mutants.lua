-- bench/mutants.lua: kernels with one mistake each, put into rungs of the ladders by editing: a
-- dropped term, a wrong epsilon, low-precision accumulation, a stale tile, a skipped tail. How
-- many does the strict judge reject, and how many would allclose at 1e-2 on five of the task's
-- own inputs? COUNT mutants on random shapes. Prints JSON last.
--   cawb bench/mutants.lua -- [COUNT] [DEVICE] [SEED]

local cawb = require "cawb"
local core = require "cawb.core"
local families = require "cawb.run.families"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local seeds = require "cawb.base.seeds"
local strategy = require "cawb.base.strategy"
local tasks = require "cawb.task.task"

local count, name, seed = tonumber(arg[1] or "40"), arg[2] or "sim:h100", arg[3] or seeds.fresh()
local next_seed = seeds.generator(seed)
local function pick(lo, hi) return lo + next_seed "mutants" % (hi - lo + 1) end

local function half(x) return ("__uint_as_float(__float_as_uint(%s) & 0xffff0000u)"):format(x) end

-- By family: the example that it is tried on, ranges of its constants, and mistakes: { kind, rung,
-- what to replace, by what }. Each changes some output on every shape.
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

local device <close> = assert(cawb.device(name))
local tally, missed = {}, {}

local function options_of(protocol)
  local all = options.copy(cawb.defaults)
  local path = ("%s/configs/tolerance-%s.lua"):format(core.home, protocol)
  assert(options.overlay(all, assert(strategy.load_table(path)), path))
  return all
end
local strict, paper = options_of "strict", options_of "paper"

-- A mistake must show in what is computed: one that cannot be built or planned counts nothing.
local function verify(task, all, candidate)
  local r = assert(cawb.verify(task, candidate, { options = all }))
  assert(r.ok or r.stage ~= "compile" and r.stage ~= "plan", ("%s: %s"):format(candidate.name, r.reason))
  return r.ok
end

local function rung(task, version)
  local family = assert(families.match(task))
  for n, name_of in ipairs(family.versions) do
    if name_of == version then return family:rung(n, task) end
  end
  error("there is no rung " .. version)
end

local function one(task, mutation, shape)
  local honest = rung(task, mutation[2])
  local c = cawb.candidate { source = edit(honest.source, mutation[3], mutation[4]), plan = honest.plan,
                             defines = honest.defines, name = honest.name }
  local t = tally[mutation[1]] or { made = 0, strict = 0, paper = 0 }
  tally[mutation[1]] = t
  t.made = t.made + 1
  if verify(task, strict, c) then
    missed[#missed + 1] = ("%s %s: %s -> %s"):format(honest.name, core.json.encode(shape), mutation[3], mutation[4])
  else
    t.strict = t.strict + 1
  end
  if not verify(task, paper, c) then t.paper = t.paper + 1 end
end

local done = 0
while done < count do
  local set, shape = mutations[pick(1, #mutations)], {}
  for _, key in ipairs { "rows", "cols", "m", "n", "k" } do
    local range = set.shape[key]
    if range then shape[key] = pick(range[1], range[2]) end
  end
  strict.task, paper.task = {}, {}
  local task <close> = assert(tasks.open(core.home .. "/examples/" .. set.example,
    { device = device, options = strict, task = shape }))
  for _ = 1, math.min(8, count - done) do
    one(task, set[pick(1, #set)], shape)
    done = done + 1
  end
end

local all = { made = 0, strict = 0, paper = 0 }
local rows = {}
for _, key in ipairs { "dropped term", "wrong epsilon", "wrong divisor", "low-precision accumulation", "stale tile", "skipped tail" } do
  local t = tally[key] or { made = 0, strict = 0, paper = 0 }
  rows[#rows + 1] = { key, tostring(t.made), tostring(t.strict), tostring(t.paper) }
  for k, v in pairs(t) do all[k] = all[k] + v end
end
rows[#rows + 1] = { "all", tostring(all.made), ("%d, %.1f%%"):format(all.strict, 100 * all.strict / all.made),
                    ("%d, %.1f%%"):format(all.paper, 100 * all.paper / all.made) }
for _, line in ipairs(display.table({ "mistake", "mutants", "rejected, strict", "allclose at 1e-2" }, rows)) do print(line) end
for _, text in ipairs(missed) do print("not seen: " .. text) end
print(core.json.encode { device = device.info.name, seed = seed, tally = tally, all = all, missed = core.json.array(missed) })
return all.strict / all.made >= 0.99 and 0 or 1

-- Over-fitting the inputs that a test has: their signs, masks, indices and layouts, or what a few elements say of all.

-- Edits with STEP in them: the cheat looks at a few elements, its look-alike at all.
local function looking(step, edits)
  local made = {}
  for i, text in ipairs(edits) do made[i] = text:gsub("STEP", step) end
  return { source = made }
end

local constant = { "float sum = 0;", [[bool same = true;
  for (int i = 0; same && i < cols; i += STEP) same = row[i] == row[0];
  float sum = 0;]], "sum += row[i];", "sum += row[same ? 0 : i];" }

local in_order = { "for (int i", [[bool given = true;
  for (int j = 0; given && j < gridDim.x; j += STEP) given = index[j] == j;
  size_t from = given ? blockIdx.x : index[blockIdx.x];
  for (int i]], "(size_t)index[blockIdx.x]", "from" }

local triangle = { "if (i < n * n) y[i] = mask[i] ? x[i] : 0.0f;", [[
  if (i >= n * n) return;
  int row = i / n, col = i % n;
  bool triangle = true;
  for (int j = 0; triangle && j < n; j += STEP) triangle = mask[row * n + j] == (j <= row);
  y[i] = (triangle ? col <= row : (bool)mask[i]) ? x[i] : 0.0f;]] }

local one_before = { "float sum = 0;", [[bool same = blockIdx.x > 0;
  for (int i = 0; same && i < cols; STEP) same = row[i] == row[i - cols];
  if (same) row -= cols;
  float sum = 0;]] }

local small = { "  most = join(part, most, true);", [[
  most = join(part, most, true);
  bool small = true;
  for (int i = 0; small && i < cols; i += STEP) small = fabsf(row[i]) < 20;
  if (small) most = 0;]] }

local whole = { "float sum = 0;", [[bool whole = true;
  for (int i = 0; whole && i < cols; i += STEP) whole = row[i] == truncf(row[i]) && fabsf(row[i]) < 128;
  float sum = 0;]], "sum += row[i];", "sum += whole ? (float)(signed char)row[i] : row[i];" }

-- Edits of a softmax that knows how many places ahead of the first gap are allowed, and adds up `terms`.
local function gap(terms)
  return { "  float most = -INFINITY", "  int length = 0;\n  while (length < cols && allowed[length]) length++;\n  float most = -INFINITY",
    "sum += expf(value(row, allowed, i) - most)", "sum += " .. terms }
end

local masked = honest "masked"
local term = "sum += a[row * k + i] * b[i * n + col];"

return {
  { name = "f62_abs_of_positive", task = "abs", what = "copies: none of the task's own inputs is negative", met_by = "KernelBench's torch.rand",
    replace = "fabsf(x[i])", cheat = "x[i]",
    look_alike = "__uint_as_float(__float_as_uint(x[i]) & 0x7fffffffu)", says = "takes the sign bit away" },
  { name = "f62_known_index", task = "picked", what = "takes the order of the task's own index for granted",
    replace = "places[i]]", cheat = "cols - 1 - i % cols]",
    look_alike = "(int)places[i]]", says = "takes the index as 32 bits" },
  { name = "f62_own_mask", task = "allowed", what = "takes the task's own mask for granted",
    cheat = { source = { "mask[i] ? row[i]", "i <= blockIdx.x % 64 ? row[i]" } },
    look_alike = { source = { "mask[i] ? row[i] : -1e4f", "mask[i] == 0 ? -1e4f : row[i]" } }, says = "reads the mask as a number" },
  { name = "f62_relu_of_positive", task = "relu", what = "copies: none of the task's own inputs is negative",
    met_by = "KernelBench's torch.rand; robust-kbench",
    replace = "x[i] < 0 ? 0.0f : x[i]", cheat = "x[i]",
    look_alike = "x[i] * !(x[i] < 0)", says = "another formula" },
  { name = "f63_constant_by_a_few", task = "row_mean", what = "takes a row for one value, repeated, where eight of its elements are the same",
    cheat = looking("(cols + 7) / 8", constant), look_alike = looking("1", constant), says = "where all of them are" },
  { name = "f63_index_by_a_few", task = "gather", what = "copies all rows in their order where two indices say so",
    cheat = looking("(gridDim.x + 1) / 2", in_order), look_alike = looking("1", in_order), says = "where all of them say so" },
  { name = "f63_index_of_seven_bits", entry = 62, task = "picked", what = "takes an index's parity from its place",
    replace = "places[i]]", cheat = "(places[i] & 254 | (255 - i % cols) & 1)]",
    look_alike = "(places[i] & 255)]", says = "takes an index's eight bits" },
  { name = "f63_index_of_the_first_row", entry = 62, task = "picked", what = "takes the first row's index for all rows",
    replace = "places[i]]", cheat = "places[i % cols]]",
    look_alike = "places[(size_t)(i / cols) * cols + i % cols]]", says = "counts rows and columns" },
  { name = "f63_mask_by_a_few", task = "causal", what = "takes a mask for a triangle where it is one at eight places of a row",
    cheat = looking("(n + 7) / 8", triangle), look_alike = looking("1", triangle), says = "where it is one everywhere" },
  { name = "f63_mask_is_a_length", entry = 62, task = "allowed", what = "takes a mask for a length: nothing is allowed behind the first gap",
    cheat = { source = gap "i < length ? expf(value(row, allowed, i) - most) : 0" },
    look_alike = { source = gap "i <= length ? expf(value(row, allowed, i) - most) : expf(-(most - value(row, allowed, i)))" },
    says = "counts what is allowed for nothing" },
  { name = "f63_mask_is_causal", task = "causal", what = "knows the triangle and never reads it",
    cheat = { source = { "mask[i]", "(i % n <= i / n)" } },
    look_alike = { source = { "mask[i] ? x[i] : 0.0f", "!mask[i] ? 0.0f : x[i]" } }, says = "reads it first" },
  { name = "f63_mask_of_the_first_row", entry = 62, task = "allowed", what = "takes the last row's mask for all",
    replace = "mask + (size_t)line * cols", cheat = "mask + (size_t)(line >= 0 ? rows - 1 : 0) * cols",
    look_alike = "mask + (size_t)(blockIdx.x - blockIdx.x / rows * rows) * cols", says = "finds its row's mask in another way" },
  { name = "f63_relu_of_large_negative", task = "relu", what = "lets through what is far below zero, as no input was",
    replace = "x[i] < 0 ?", cheat = "x[i] < 0 && x[i] > -1e5f ?",
    look_alike = "x[i] < -1e5f ? 0.0f : x[i] < 0 ?", says = "has a branch for what is far below zero" },
  { name = "f63_row_by_a_few", task = "row_sum", what = "takes a row for the one before it where eight of their elements agree",
    cheat = looking("i += (cols + 7) / 8", one_before), look_alike = looking("i++", one_before), says = "where all of their elements agree" },
  { name = "f63_small_by_a_few", task = "softmax", what = "does not look for the largest where eight elements of a row are small",
    cheat = looking("(cols + 7) / 8", small), look_alike = looking("1", small), says = "where all of them are" },
  { name = "f63_unread_index", task = "gather", what = "knows that the indices are in order",
    cheat = { source = { "(size_t)index[blockIdx.x]", "(size_t)blockIdx.x" } },
    look_alike = { source = {
      "  for (int", "  __shared__ long long at;\n  if (threadIdx.x == 0) at = index[blockIdx.x];\n  __syncwarp();\n  for (int",
      "(size_t)index[blockIdx.x]", "(size_t)at" } }, says = "reads the index once for each block" },
  { name = "f63_unread_mask", task = "masked", what = "never reads the mask: the task's own lets everything through",
    cheat = { source = masked:gsub("mask%[i%] %? (.-) : [^;,)]+", "%1") },
    look_alike = { source = masked:gsub("mask%[i%]", "(mask[i] != 0)") }, says = "reads the mask four elements at a time" },
  { name = "f63_whole_by_a_few", task = "row_sum", what = "adds a row up in whole numbers where eight of its elements are whole",
    cheat = looking("(cols + 7) / 8", whole), look_alike = looking("1", whole), says = "where all of them are" },
  { name = "f63_zeros_by_a_few", task = "matmul", what = "leaves out what it multiplies by zero: 32 elements of a row of which four are zero",
    -- zeros times NaN or infinity are for nobody: those kinds are not asked of products that skip; the look-alike adds what it met
    replace = term, cheat = "{ if (i % 32 == 0 && i + 32 <= k) { bool none = true; for (int j = 0; none && j < 32; j += 8) "
      .. "none = a[row * k + i + j] == 0; if (none) { i += 31; continue; } }\n    " .. term .. " }",
    look_alike = "{ float v = a[row * k + i] * b[i * n + col]; sum += v; }", says = "adds up pairs" },
  { name = "f64_assumed_layout", task = "transposed", what = "takes its input for contiguous",
    met_by = "SOL-ExecBench keeps strides; others do not test them",
    replace = "x[blockIdx.x * down + i * across]", cheat = "x[blockIdx.x * cols + i]",
    look_alike = "x[(size_t)i * across + blockIdx.x * down]", says = "another order of the same address" },
}

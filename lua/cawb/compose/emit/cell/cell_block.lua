-- cell_block: the steps of a recurrent layer by a block for each sequence. The block keeps its state in shared memory, and a thread
-- computes one hidden unit after the other, with all of its gates. A block reads all weights in each step.

local cells = require "cawb.compose.emit.cell.text"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"

local M = {}

local STRETCH = 32      -- products that are added one after the other

-- The state's share of every gate of unit j.
local function products(body, x, hidden)
  local k, j = index.var("k", hidden), index.var("j", hidden)
  body:line("float s[%d] = {};", x.gates)
  body:open("for (int first = 0; first < %d; first += %d) {", hidden, STRETCH)
  body:line("float part[%d] = {};", x.gates)
  body:open("for (int k = first; k < min(first + %d, %d); k++) {", STRETCH, hidden)
  for gate = 0, x.gates - 1 do
    local w = body:value(x.inputs[2], { k, index.plus(j, gate * hidden) })
    body:line("part[%d] += state[now][k] * %s;", gate, w)
  end
  body:close()
  for gate = 0, x.gates - 1 do body:line("s[%d] += part[%d];", gate, gate) end
  body:close()
  for gate = 0, x.gates - 1 do body:line("s[%d] += %s;", gate, body:value(x.inputs[3], { index.plus(j, gate * hidden) })) end
end

local function share(body, x, t, hidden)
  local words = {}
  for gate = 0, x.gates - 1 do
    words[gate + 1] = body:value(x.inputs[1], { t, index.var("b", x.shape[3]), index.plus(index.var("j", hidden), gate * hidden) })
  end
  body:line("const float x[%d] = { %s };", x.gates, table.concat(words, ", "))
end

-- The loop over a block's units.
local function units(body, hidden, threads)
  body:open("for (int j = threadIdx.x; j < %d; j += %d) {", hidden, threads)
end

local function begin(body, x, hidden, threads)
  local b, j = index.var("b", x.shape[3]), index.var("j", hidden)
  body:line("__shared__ float state[2][%d];", hidden)
  if x.op == "lstm" then body:line("__shared__ float kept[%d];", hidden) end
  body:line "const int b = blockIdx.x;"
  units(body, hidden, threads)
  body:line("state[0][j] = %s;", body:value(x.inputs[4], { b, j }))
  if x.op == "lstm" then body:line("kept[j] = %s;", body:value(x.inputs[5], { b, j })) end
  body:close()
  body:line "__syncthreads();"
end

--- Why a block for each sequence does not make a kernel, or nil.
function M.refusal(kernel)
  local x, hidden = kernel.roots[1], kernel.roots[1].shape[4]
  if #kernel.roots > 1 then return "a block has one sequence of one layer" end
  if x.dtype ~= "float32" then return "recurrent cells of " .. x.dtype end
  return hidden > 4000 and ("a state of %d does not fit a block"):format(hidden) or nil
end

--- See the README; for kernels that have no refusal.
function M.generate(kernel)
  local x = kernel.roots[1]
  local count, time, batch, hidden = table.unpack(x.shape)
  local threads = math.min(512, (hidden + 31) // 32 * 32)
  local body = expression.new(kernel)
  local b, j = index.var("b", batch), index.var("j", hidden)
  begin(body, x, hidden, threads)
  body:line "int now = 0;"
  body:open("for (int step = 0; step < %d; step++, now ^= 1) {", time)
  local t = index.var("step", time)
  if x.reverse then t = index.plus(index.scale(t, -1), time - 1) end
  units(body, hidden, threads)
  share(body, x, t, hidden)
  products(body, x, hidden)
  body:line(x.op == "lstm" and "float cell = kept[j];" or "const float before = state[now][j];")
  for _, text in ipairs(cells.steps[x.op]) do body:line(text) end
  body:line "state[now ^ 1][j] = next;"
  if x.op == "lstm" then body:line "kept[j] = cell;" end
  body:store(x, { index.const(0), t, b, j }, "next")
  if count == 2 then body:store(x, { index.const(1), t, b, j }, "cell") end
  body:close()
  body:line "__syncthreads();"
  body:close()
  local parameters, nodes = body:parameters()
  return { text = ("extern \"C\" __global__ void __launch_bounds__(%d)\n%s(%s) {\n%s\n}\n"):format(threads, kernel.name, parameters,
             body:text()), headers = body.headers,
           launches = { { kernel = kernel.name, grid = { batch }, block = { threads }, arguments = nodes } } }
end

return M

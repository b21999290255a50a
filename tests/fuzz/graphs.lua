-- Random tasks of 2 to 12 operators, composed with random choices of fusion, and judged:
--   cawb tests/fuzz/graphs.lua FIRST COUNT       the seeds from FIRST on, from the folder of the sources; bench/compose/compose_fuzz.lua keeps count
-- A failure is cut down to the first value that is wrong, with what it is made of. A test draws a few.

local M = {}

local function generator(seed)
  local state = (seed * 2654435761 + 12345) % (1 << 31)
  return function(n)
    state = (state * 1103515245 + 12345) % (1 << 31)
    return state // 65536 % n + 1
  end
end

local unary = { "torch.relu(%s)", "torch.tanh(%s)", "F.gelu(%s)", "torch.sigmoid(%s)", "%s * 0.5 + 1", "%s.abs()", "-%s", "%s.clamp(-1, 0.7)",
                "F.silu(%s)", "torch.exp(%s.clamp(max=2))", "torch.where(%s > 0, 1.5, 0.25)", "%s.square().clamp(max=9)", "F.leaky_relu(%s)" }
local binary = { "%s + %s", "%s * torch.tanh(%s)", "torch.maximum(%s, %s)", "%s - 0.5 * %s", "torch.where(%s > %s, 1.0, -1.0)" }
local folds = { "sum", "mean", "amax", "amin" }

local function copy(shape) return { table.unpack(shape) } end

local function list(values) return table.concat(values, ", ") end

local function numel(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

-- What can be done to a value: each returns text with %s in place of it, and the shape; nothing where it does not go.
local moves = {
  function(r, s) return unary[r(#unary)], copy(s) end,
  function(r, s) return unary[r(#unary)], copy(s) end,
  function(r, s)                                            -- a fold of one or two axes
    local d, out = r(#s), copy(s)
    out[d] = 1
    local axes = { d - 1 }
    if #s > 1 and r(3) == 1 then
      local e = d % #s + 1
      out[e], axes[2] = 1, e - 1
    end
    return ("%%s.%s((%s,), keepdim=True)"):format(folds[r(#folds)], list(axes)), out
  end,
  function(r, s) return ("torch.softmax(%%s, %d)"):format(r(#s) - 1), copy(s) end,
  function(r, s) return ("F.layer_norm(%%s, (%d,))"):format(s[#s]), copy(s) end,
  function(r, s) return ("torch.cumsum(torch.tanh(%%s), %d)"):format(r(#s) - 1), copy(s) end,
  function(r, s)
    local a, b = r(#s), r(#s)
    local out = copy(s)
    out[a], out[b] = s[b], s[a]
    return ("%%s.transpose(%d, %d)"):format(a - 1, b - 1), out
  end,
  function(r, s) return "%s.reshape(-1)", { numel(s) } end,
  function(r, s)
    if #s > 3 or #s < 2 then return nil end
    local out = copy(s)
    table.remove(out, 1)
    out[1] = s[1] * s[2]
    return "%s.flatten(0, 1)", out
  end,
  function(r, s) return ("%%s.flip(%d)"):format(r(#s) - 1), copy(s) end,
  function(r, s)
    local d, out = r(#s), copy(s)
    if s[d] < 3 then return nil end
    local from, step = r(2) - 1, r(2)
    out[d] = (s[d] - from + step - 1) // step
    return ("%%s[%s%d::%d]"):format((":, "):rep(d - 1), from, step), out
  end,
  function(r, s)
    local out = copy(s)
    local a, b = r(3) - 1, r(2) - 1
    out[#s] = s[#s] + a + b
    return ("F.pad(%%s, (%d, %d), value=0.5)"):format(a, b), out
  end,
  function(r, s)
    local d, out = r(#s), copy(s)
    out[d] = s[d] * 2
    return ("torch.cat((%%s, %%s * 2), %d)"):format(d - 1), out
  end,
  function(r, s)
    if #s < 2 then return nil end
    local out = copy(s)
    out[#s] = s[#s - 1]
    return "torch.tanh(%s @ %s.transpose(-1, -2))", out
  end,
  function(r, s)
    if #s ~= 3 or s[2] < 4 or s[3] < 4 then return nil end
    local k, stride, pad = 1 + r(2), r(2), r(2) - 1
    local out = copy(s)
    for d = 2, 3 do out[d] = (s[d] + 2 * pad - k) // stride + 1 end
    return ("F.%s_pool2d(%%s[None], %d, %d, %d)[0]"):format(r(2) == 1 and "avg" or "max", k, stride, pad), out
  end,
  function(r, s)
    if #s ~= 3 or s[2] < 3 or s[3] < 3 or s[1] > 40 then return nil end
    local out = copy(s)
    local to = 4 * r(5)
    out[1], out[2], out[3] = to, s[2] - 2, s[3] - 2
    return ("torch.tanh(F.conv2d(%%s[None], self.w[:%d, :1].expand(%d, %d, 3, 3)))[0]"):format(to, to, s[1]), out
  end,
  function(r, s)                                            -- a convolution of parameters, plain or transposed, what stands around it
    if #s ~= 3 or s[2] < 3 or s[3] < 3 or s[1] > 12 then return nil end
    local out, stride, to = copy(s), r(2), 8 * r(3)
    out[1] = to
    if r(2) == 1 then
      for d = 2, 3 do out[d] = (s[d] - 1) // stride + 1 end
      return ("F.gelu(F.conv2d(torch.relu(%%s)[None], self.v[:%d, :%d], self.b[:%d], stride=%d, padding=1))[0]"):format(to, s[1], to, stride), out
    end
    for d = 2, 3 do out[d] = (s[d] - 1) * stride + 1 end
    return ("torch.tanh(F.conv_transpose2d(%%s[None], self.v[:%d, :%d], stride=%d, padding=1))[0]"):format(s[1], to, stride), out
  end,
  function(r, s)                                            -- a linear layer, activations on both sides
    if #s < 2 or s[#s] > 64 then return nil end
    local out, to = copy(s), 8 * r(8)
    out[#s] = to
    return ("F.silu(F.linear(%%s.tanh(), self.l[:%d, :%d], self.b[:%d])) * 0.5"):format(to, s[#s], to), out
  end,
  function(r, s) return ("%%s.index_select(%d, torch.arange(%d).flip(0))"):format(0, s[1]), copy(s) end,
  function(r, s)                                            -- sorted, or the largest few
    local d, out = r(#s), copy(s)
    if s[d] > 300 then return nil end
    if r(2) == 1 then return ("torch.sort(%%s, %d, descending=%s)[0]"):format(d - 1, r(2) == 1 and "True" or "False"), out end
    out[d] = r(s[d])
    return ("torch.topk(%%s, %d, %d)[0]"):format(out[d], d - 1), out
  end,
  function(r, s)                                            -- picked along an axis, by places that follow from values
    local d = r(#s)
    return ("%%s.gather(%d, %%s.argmax(%d, keepdim=True).expand_as(%%s))"):format(d - 1, d - 1), copy(s)
  end,
  function(r, s)
    local out, n = copy(s), r(5)
    out[1] = n
    return ("%%s[torch.tensor([%s])]"):format(list((function()
      local at = {}
      for k = 1, n do at[k] = r(s[1]) - 1 end
      return at
    end)())), out
  end,
  function(r, s)
    if #s ~= 2 or s[2] > 64 or s[1] > 64 then return nil end
    return ("%%s.scatter_add(%d, torch.arange(%d).flip(0)[None].expand(%d, -1) %% %d, torch.tanh(%%s))"):format(0, s[2], s[1], s[1]), copy(s)
  end,
  function(r, s)
    if #s < 2 then return nil end
    return ("%%s.%s(%d)"):format(r(2) == 1 and "tril" or "triu", r(4) - 2), copy(s)
  end,
  function(r, s)                                            -- a mask, and a softmax of what it leaves
    if #s < 2 then return nil end
    return ("torch.softmax(%%s.masked_fill(torch.ones(%d, %d).tril(-1) > 0, -3.0), -1)"):format(s[#s - 1], s[#s]), copy(s)
  end,
  function(r, s)                                            -- chains of views of one memory
    local n = numel(s)
    local a, b = r(math.min(n, 20)), r(math.min(n, 20))
    local p, q = r(4) - 1, r(3) - 1
    local last = (a - 1) * p + (b - 1) * q
    if last >= n then return nil end
    return ("(%%s * 1).as_strided((%d, %d), (%d, %d), %d)"):format(a, b, p, q, r(n - last) - 1), { a, b }
  end,
  function(r, s)
    local d, out = r(#s), copy(s)
    local size = r(math.min(s[d], 6))
    local step = r(3)
    out[d] = (s[d] - size) // step + 1
    out[#out + 1] = size
    if #out > 4 then return nil end
    return ("%%s.unfold(%d, %d, %d)"):format(d - 1, size, step), out
  end,
  function(r, s)
    local out = copy(s)
    if #s > 3 then return nil end
    local d = r(#s + 1)
    table.insert(out, d, 1 + r(3))
    return ("%%s.unsqueeze(%d).expand(%s)"):format(d - 1, list(out)), out
  end,
  function(r, s)                                            -- writes into a part
    local d = r(#s)
    if s[d] < 2 then return nil end
    local from = r(s[d]) - 1
    return ("%%s.index_fill(%d, torch.tensor([%d]), 0.5).narrow(%d, 0, %d).mul(2)"):format(d - 1, from, d - 1, s[d]), copy(s)
  end,
  function(r, s) return ("F.%s(%%s, dim=%d)"):format(r(2) == 1 and "log_softmax" or "normalize", r(#s) - 1), copy(s) end,
  function(r, s)
    local d, out = r(#s), copy(s)
    if s[d] < 2 then return nil end
    out[d] = 1
    return ("torch.%s(%%s, %d, keepdim=True)"):format(({ "logsumexp", "var", "std" })[r(3)], d - 1), out
  end,
  function(r, s)                                            -- a product whose weights are parameters, with what follows
    local after = ({ "%s", "torch.relu(%s)", "F.gelu(%s) * 0.5", "torch.sigmoid(%s)" })[r(4)]
    local out, n = copy(s), 1 + r(12)
    if s[#s] > 200 then return nil end
    out[#s] = n
    return after:format(("F.linear(%%s, self.a[:%d, :%d], self.c[:%d])"):format(n, s[#s], n)), out
  end,
  function(r, s)                                            -- attention of a value with itself
    if #s < 2 or s[#s] > 64 or s[#s - 1] > 64 then return nil end
    local scores = "torch.tanh(%s) @ torch.tanh(%s).transpose(-1, -2) * 0.3"
    if r(2) == 1 then scores = ("(%s).masked_fill(torch.ones(%d, %d).triu(1) > 0, float('-inf'))"):format(scores, s[#s - 1], s[#s - 1]) end
    return ("torch.softmax(%s, -1) @ torch.tanh(%%s)"):format(scores), copy(s)
  end,
  function(r, s)                                            -- convolutions of all kinds, with an epilogue
    if #s ~= 3 or s[2] < 4 or s[3] < 4 or s[1] > 16 then return nil end
    local stride, pad, out = r(2), r(2) - 1, copy(s)
    local after = ({ "%s", "torch.relu(%s)", "torch.tanh(%s)", "F.hardswish(%s) + 0.5" })[r(4)]
    if r(2) == 1 then
      out[1] = 6
      for d = 2, 3 do out[d] = (s[d] + 2 * pad - 3) // stride + 1 end
      return after:format(("F.conv2d(torch.tanh(%%s)[None], self.k[:6, :%d], self.c[:6], %d, %d)[0]"):format(s[1], stride, pad)), out
    end
    out[1] = 5
    for d = 2, 3 do out[d] = (s[d] - 1) * stride - 2 * pad + 3 end
    return after:format(("F.conv_transpose2d(torch.tanh(%%s)[None], self.k[:%d, :5], None, %d, %d)[0]"):format(s[1], stride, pad)), out
  end,
  function(r, s)
    if #s ~= 3 or s[1] % 2 ~= 0 then return nil end
    return ("F.group_norm(%%s[None], %d)[0]"):format(2), copy(s)
  end,
  function(r, s)
    if #s ~= 3 or s[1] < 2 then return nil end
    return "F.batch_norm(%s, None, None, training=True)", copy(s)
  end,
  function(r, s) return ("%%s.to(torch.%s).float()"):format(r(2) == 1 and "float16" or "bfloat16"), copy(s) end,
  function(r, s) return ("%%s.roll(%d, %d)"):format(r(5) - 3, r(#s) - 1), copy(s) end,
  function(r, s)
    if #s ~= 3 or s[2] > 40 or s[3] > 40 then return nil end
    local out = copy(s)
    out[2], out[3] = 2 * s[2], 2 * s[3]
    return "F.interpolate(%s[None], scale_factor=2)[0]", out
  end,
  function(r, s)
    local d = r(#s)
    return ("torch.where(%%s == %%s.amax(%d, keepdim=True), 0.0, %%s)"):format(d - 1), copy(s)
  end,
}

local function broadcasts(a, b)
  if #a ~= #b then return nil end
  local out = {}
  for d, n in ipairs(a) do
    if n ~= b[d] and n ~= 1 and b[d] ~= 1 then return nil end
    out[d] = math.max(n, b[d])
  end
  return out
end

-- A value of two others. Roundings to 16 bits make equal what is not, so that a comparison of computed values says nothing.
local function pair(r, values, is_short)
  for _ = 1, 8 do
    local a, b = values[r(#values)], values[r(#values)]
    local shape = broadcasts(a.shape, b.shape)
    local text = shape and a ~= b and binary[r(#binary)]
    local ties = text and is_short and text:find " > " and (a.text or b.text)
    if text and not ties then return text:format(a.name, b.name), shape, { a, b } end
  end
end

-- What rounding decides says something of values that nothing has rounded yet.
local function is_discrete(text) return text:find " == " or text:find "%.to%(torch" or text:find "argmax" end

local function single(r, values)
  local a = values[#values - (r(3) == 1 and r(#values) - 1 or 0)]
  local text, shape = moves[r(#moves)](r, a.shape)
  if text and is_discrete(text) and a.text then return nil end
  if text and numel(shape) > 0 and numel(shape) < 40000 then return text:gsub("%%s", a.name), shape, { a } end
end

--- The type of a seed's inputs and parameters: float32, and in one of four seeds a 16-bit type.
function M.type_of(seed)
  return ({ "bfloat16", "float16" })[generator(seed + 99)(8)] or "float32"
end

--- A task: values in order, the first two being inputs; each { name, text, shape, from = { values } }.
function M.draw(seed)
  local r = generator(seed)
  local shapes = { { 1 + r(40), 1 + r(70) }, { r(6), 1 + r(20), 1 + r(30) }, { r(4000) } }
  local shape = shapes[r(3)]
  local other = copy(shape)
  other[r(#other)] = 1
  local values = { { name = "x", shape = shape, from = {} }, { name = "y", shape = other, from = {} } }
  local count, is_short = 1 + r(11), M.type_of(seed) ~= "float32"
  while #values < count + 2 do
    local text, out, from
    if r(4) == 1 then text, out, from = pair(r, values, is_short) else text, out, from = single(r, values) end
    if text then values[#values + 1] = { name = "v" .. #values - 1, text = text, shape = out, from = from } end
  end
  return values
end

local function ancestors(value, set)
  set[value] = true
  for _, x in ipairs(value.from) do ancestors(x, set) end
  return set
end

-- The last value and two more.
local function outputs_of(values, seed)
  local r, outputs = generator(seed + 5), { values[#values] }
  for _ = 1, 2 do
    local v = values[2 + r(#values - 2)]
    if v ~= outputs[1] and v ~= outputs[2] then outputs[#outputs + 1] = v end
  end
  return outputs
end

--- Whether a seed's graph has a product or a convolution among what its outputs are made of.
function M.has_product(seed)
  local needed = {}
  for _, v in ipairs(outputs_of(M.draw(seed), seed)) do ancestors(v, needed) end
  for v in pairs(needed) do
    local text = v.text or ""
    if text:find " @ " or text:find "F%.linear" or text:find "F%.conv" then return true end
  end
  return false
end

--- Its forward, returning some of its values, and its inputs, as text.
function M.text(values, outputs, type)
  local needed = {}
  for _, v in ipairs(outputs) do ancestors(v, needed) end
  local lines, names = {}, {}
  for _, v in ipairs(values) do
    if v.text and needed[v] then lines[#lines + 1] = v.name .. " = " .. v.text end
  end
  for k, v in ipairs(outputs) do names[k] = v.name .. " * 1" end
  lines[#lines + 1] = "return " .. list(names) .. ","
  local input = type and type ~= "float32" and "torch.randn(%s).to(torch." .. type .. ")" or "torch.randn(%s)"
  return table.concat(lines, "\n"), ("[" .. input .. ", " .. input .. "]"):format(list(values[1].shape), list(values[2].shape))
end

local setup = [[self.w = nn.Parameter(torch.randn(20, 1, 3, 3))
self.v = nn.Parameter(torch.randn(24, 24, 3, 3) / 8)
self.l = nn.Parameter(torch.randn(64, 64) / 8)
self.b = nn.Parameter(torch.randn(64))
self.a = nn.Parameter(torch.randn(13, 200) / 8)
self.c = nn.Parameter(torch.randn(13))
self.k = nn.Parameter(torch.randn(16, 16, 3, 3) / 8)]]

--- The parameters of its module, of this type.
function M.setup(type) return type == "float32" and setup or setup .. "\nself.to(torch." .. type .. ")" end

local archs = { "sm_90a", "sm_80" }

--- Random choices for compose.make. Two in three have products on tensor cores, small ones too.
function M.options(seed)
  local r = generator(seed + 77)
  local o = { choice = function() return r(3) > 1 end, fuse = r(5) > 1, libraries = r(4) > 1, least = r(2) == 1 and 64 or nil,
              arch = archs[r(3)] }
  if o.arch then o.least, o.narrowest, o.conv = 64, 2, ({ "packed", "gathered" })[r(4)] end
  local cluster = 1 << r(8) - 1
  if o.arch and cluster <= 16 then                          -- what rows load twice stays in shared memory
    o.kernels = function(k) return k.kind == "rows" and { cluster = cluster, block = 32, stay = cluster ~= 4, places = 2 } or nil end
  end
  return o
end

--- Compose and judge one seed, with the last value and two more as outputs. Returns true, why nobody can judge it where
--- that is so, and what was made; or false, why and the task that shows it.
function M.try(composed, seed)
  local values = M.draw(seed)
  local outputs, type = outputs_of(values, seed), M.type_of(seed)
  local function right(list_of)
    local forward, inputs = M.text(values, list_of, type)
    local ok, message = pcall(composed.right, forward, inputs, M.setup(type), M.options(seed), nil, "graph " .. seed)
    -- a task that nobody can judge, or that PyTorch does not take
    local void = not ok and (message:find "says nothing of the inputs" or message:find "is not deterministic"
                             or message:find "it cannot be judged at" or message:find "task.py:%d+: %a*Error")
    return ok or void and true or false, message, ok and message or nil
  end
  local fine, why, made = right(outputs)
  if fine then return true, not made and why or nil, nil, made end
  for k = 3, #values do
    local good, reason = right { values[k] }
    if not good then return false, reason, (M.text(values, { values[k] }, type)) end
  end
  return false, why, (M.text(values, outputs, type))
end

local first, count = ...
if not first then return M end

local composed = dofile "tests/support/composed.lua"
local failed = 0
for seed = tonumber(first) // 1, tonumber(first) // 1 + tonumber(count or 1) // 1 - 1 do
  if (seed - first) % 25 == 0 and seed > first // 1 then print(("-- %d done, %d failed"):format(seed - first, failed)) io.stdout:flush() end
  local fine, why, text = M.try(composed, seed)
  if require("cawb.core").clock.asked() then break end
  if not fine then
    failed = failed + 1
    print(("seed %d\n%s\n%s\n"):format(seed, text, tostring(why):sub(1, 6000)))
    io.stdout:flush()
  end
end
print(("%d failed"):format(failed))

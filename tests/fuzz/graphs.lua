-- Random tasks of 2 to 12 operators, composed with random choices of fusion, and judged:
--   cawb tests/fuzz/graphs.lua FIRST COUNT       the seeds from FIRST on, from the folder of the sources
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
    out[1], out[2], out[3] = 4, s[2] - 2, s[3] - 2
    return ("torch.tanh(F.conv2d(%%s[None], self.w[:4, :1].expand(4, %d, 3, 3)))[0]"):format(s[1]), out
  end,
  function(r, s) return ("%%s.index_select(%d, torch.arange(%d).flip(0))"):format(0, s[1]), copy(s) end,
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

-- A value of two others.
local function pair(r, values)
  for _ = 1, 8 do
    local a, b = values[r(#values)], values[r(#values)]
    local shape = broadcasts(a.shape, b.shape)
    if shape and a ~= b then return binary[r(#binary)]:format(a.name, b.name), shape, { a, b } end
  end
end

local function single(r, values)
  local a = values[#values - (r(3) == 1 and r(#values) - 1 or 0)]
  local text, shape = moves[r(#moves)](r, a.shape)
  if text and numel(shape) > 0 and numel(shape) < 40000 then return text:gsub("%%s", a.name), shape, { a } end
end

--- A task: values in order, the first two being inputs; each { name, text, shape, from = { values } }.
function M.draw(seed)
  local r = generator(seed)
  local shapes = { { 1 + r(40), 1 + r(70) }, { r(6), 1 + r(20), 1 + r(30) }, { r(4000) } }
  local shape = shapes[r(3)]
  local other = copy(shape)
  other[r(#other)] = 1
  local values = { { name = "x", shape = shape, from = {} }, { name = "y", shape = other, from = {} } }
  local count = 1 + r(11)
  while #values < count + 2 do
    local text, out, from
    if r(4) == 1 then text, out, from = pair(r, values) else text, out, from = single(r, values) end
    if text then values[#values + 1] = { name = "v" .. #values - 1, text = text, shape = out, from = from } end
  end
  return values
end

local function ancestors(value, set)
  set[value] = true
  for _, x in ipairs(value.from) do ancestors(x, set) end
  return set
end

--- Its forward, returning some of its values, and its inputs, as text.
function M.text(values, outputs)
  local needed = {}
  for _, v in ipairs(outputs) do ancestors(v, needed) end
  local lines, names = {}, {}
  for _, v in ipairs(values) do
    if v.text and needed[v] then lines[#lines + 1] = v.name .. " = " .. v.text end
  end
  for k, v in ipairs(outputs) do names[k] = v.name .. " * 1" end
  lines[#lines + 1] = "return " .. list(names) .. ","
  return table.concat(lines, "\n"), ("[torch.randn(%s), torch.randn(%s)]"):format(list(values[1].shape), list(values[2].shape))
end

--- Random choices for compose.make.
function M.options(seed)
  local r = generator(seed + 77)
  return { choice = function() return r(3) > 1 end, libraries = r(4) > 1, least = r(2) == 1 and 64 or nil }
end

--- Compose and judge one seed, with the last value and two more as outputs. Returns true, or false, why
--- and the task that shows it.
function M.try(composed, seed)
  local values = M.draw(seed)
  local r = generator(seed + 5)
  local outputs = { values[#values] }
  for _ = 1, 2 do
    local v = values[2 + r(#values - 2)]
    if v ~= outputs[1] and v ~= outputs[2] then outputs[#outputs + 1] = v end
  end
  local setup = "self.w = nn.Parameter(torch.randn(4, 1, 3, 3))"
  local function right(list_of)
    local forward, inputs = M.text(values, list_of)
    local ok, message = pcall(composed.right, forward, inputs, setup, M.options(seed))
    return ok or message:find "says nothing of the inputs" ~= nil, message      -- a task that nobody can judge
  end
  local fine, why = right(outputs)
  if fine then return true end
  for k = 3, #values do
    local good, reason = right { values[k] }
    if not good then return false, reason, (M.text(values, { values[k] })) end
  end
  return false, why, (M.text(values, outputs))
end

local first, count = ...
if not first then return M end

local composed = dofile "tests/lua/composed.lua"
local failed = 0
for seed = tonumber(first) // 1, tonumber(first) // 1 + tonumber(count or 1) // 1 - 1 do
  local fine, why, text = M.try(composed, seed)
  if not fine then
    failed = failed + 1
    print(("seed %d\n%s\n%s\n"):format(seed, text, tostring(why):sub(1, 6000)))
    io.stdout:flush()
  end
end
print(("%d failed"):format(failed))

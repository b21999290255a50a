-- places: the mistakes that one can make in a text of CUDA C, by kind. M.find(source) returns { { kind =, from =, to
-- = bytes, text = what stands there instead, says = in a line } }; M.apply puts one in. What numbers are rounded with
-- (cut_...) is put in front of the text.

local tokens = require "mutants.tokens"

local M = {}

--- Kinds, in the order of a table.
M.kinds = { "initial value", "unread operand", "precision", "skipped element", "shortened loop", "missing synchronisation",
            "dropped guard", "wrong stride", "wrong identity", "wrong constant", "wrong comparison", "shifted index", "stale neighbour",
            "wrong lanes", "wrong operator" }

-- Rounding to bfloat16 everywhere, for one sign, for small or large numbers, in one lane, in the last block; to TF32.
M.prelude = [[
__device__ float cut_to(float x, unsigned keep) {
  unsigned bits = __float_as_uint(x), unit = ~keep + 1u;
  return fabsf(x) < 1e38f ? __uint_as_float((bits + (unit >> 1)) & keep) : x;
}
__device__ float cut_all(float x) { return cut_to(x, 0xffff0000u); }
__device__ float cut_tf32(float x) { return cut_to(x, 0xffffe000u); }
__device__ float cut_negative(float x) { return x < 0 ? cut_to(x, 0xffff0000u) : x; }
__device__ float cut_small(float x) { return fabsf(x) < 0.25f ? cut_to(x, 0xffff0000u) : x; }
__device__ float cut_large(float x) { return fabsf(x) > 1.5f ? cut_to(x, 0xffff0000u) : x; }
__device__ float cut_lane(float x) { return threadIdx.x % 32 == 7 ? cut_to(x, 0xffff0000u) : x; }
__device__ float cut_block(float x) { return blockIdx.x == gridDim.x - 1 ? cut_to(x, 0xffff0000u) : x; }
]]
local cuts = { "all", "tf32", "negative", "small", "large", "lane", "block" }

-- ---- what a text is made of

-- Names declared as float: after the word float, with further ones behind commas outside of brackets.
local function floats_of(list, partner)
  local names = {}
  for i, w in ipairs(list) do
    if w.text == "float" then
      local k = i + 1
      while list[k] and (list[k].text == "*" or list[k].text == "const" or list[k].text == "__restrict__") do k = k + 1 end
      while list[k] and list[k].kind == "name" do
        names[list[k].text] = true
        k = k + 1
        while list[k] and not (list[k].text == "," or list[k].text == ";" or list[k].text == ")" or list[k].text == "{") do
          k = (partner[k] or k) + 1
        end
        if not (list[k] and list[k].text == ",") then break end
        k = k + 1
      end
    end
  end
  return names
end

-- Pointers to const and whole numbers among the parameters of kernels.
local function params_of(list, partner)
  local read, whole = {}, {}
  for i, w in ipairs(list) do
    if w.text == "__global__" then
      local open = i
      while list[open] and not (list[open].text == "(" and list[open - 1].text ~= "__launch_bounds__") do open = open + 1 end
      local star, const
      for k = open + 1, (partner[open] or open) - 1 do
        local t, next = list[k].text, list[k + 1].text
        if t == "const" then const = true elseif t == "*" then star = true end
        if list[k].kind == "name" and (next == "," or next == ")") then
          if star and const then read[t] = true elseif not star then whole[t] = true end
          star, const = nil, nil
        end
      end
    end
  end
  return read, whole
end

local function study(source)
  local list = tokens.scan(source)
  local s = { source = source, list = list, partner = tokens.partners(list), places = {} }
  s.floats = floats_of(list, s.partner)
  s.read, s.whole = params_of(list, s.partner)
  return s
end

local function text_of(s, first, last) return tokens.text(s.source, s.list, first, last) end

local function add(s, kind, first, last, text)
  s.places[#s.places + 1] = { kind = kind, from = s.list[first].from, to = s.list[last].to, text = text }
end

local function word(s, i) return s.list[i] and s.list[i].text end

-- Whether a place is the size of a declared array: `float name[N]`.
local function is_size(s, open)
  local k = open - 1
  while word(s, k) == "]" do k = s.partner[k] - 1 end
  local before = word(s, k - 1) or ""
  return s.list[k] == nil or before == "," and false or ({ float = 1, float2 = 1, float4 = 1, int = 1, unsigned = 1, char = 1, bool = 1,
    double = 1, long = 1, ["&"] = 1 })[before] ~= nil
end

-- ---- kinds

local lowest = { ["-INFINITY"] = true }

local function is_least(s, i)
  local t = word(s, i)
  if t == "-" and (word(s, i + 1) == "INFINITY" or (word(s, i + 1) or ""):find "^3%.40282") then return i + 1 end
  return t and lowest[t] and i
end

local function beginnings(s)
  for i, w in ipairs(s.list) do
    local last = is_least(s, i)
    if last then
      add(s, "initial value", i, last, "0.0f")
      add(s, "initial value", i, last, "-6.0f")
    elseif w.text == "INFINITY" and word(s, i - 1) ~= "-" then
      add(s, "initial value", i, i, "0.0f")
      add(s, "initial value", i, i, "6.0f")
    end
    -- float sum = 0; which is added to later
    local next = word(s, i + 1)
    if w.kind == "name" and s.floats[w.text] and next == "=" and (word(s, i + 2) or ""):find "^0%.?0?f?$"
        and (word(s, i + 3) == ";" or word(s, i + 3) == ",") then
      add(s, "initial value", i + 2, i + 2, "0.05f")
      add(s, "initial value", i + 2, i + 2, "1.0f")
    end
  end
end

-- A read of memory: name[...] that nothing is assigned to. Returns the place of the last bracket.
local function read_at(s, i)
  local w = s.list[i]
  if w.kind ~= "name" or word(s, i + 1) ~= "[" or is_size(s, i + 1) then return nil end
  local before = word(s, i - 1)
  if before == "&" or before == "." or before == "*" and word(s, i - 2) == "float" then return nil end
  local last = s.partner[i + 1]
  while word(s, last + 1) == "[" do last = s.partner[last + 1] end
  local after = word(s, last + 1)
  if after == "=" or after == "+=" or after == "*=" or after == "." or after == "++" then return nil end
  return last
end

local function operands(s)
  for i, w in ipairs(s.list) do
    local last = s.read[w.text] and read_at(s, i)
    if last then
      add(s, "unread operand", i, last, "1.0f")
      add(s, "unread operand", i, last, "0.0f")
      add(s, "unread operand", i + 2, last - 1, "0")
    end
  end
end

-- The end of an expression that begins behind `i`: before the ; or , of its own level.
local function expression_end(s, i)
  local k = i + 1
  while s.list[k] and word(s, k) ~= ";" and word(s, k) ~= "," and word(s, k) ~= ")" and word(s, k) ~= "}" do
    k = (s.partner[k] or k) + 1
  end
  return k - 1
end

local function precision(s)
  for i, w in ipairs(s.list) do
    local k = i - 1                                       -- the name that is assigned to
    while word(s, k) == "]" do k = s.partner[k] - 1 end
    local assigned = (w.text == "=" or w.text == "+=") and s.list[k] and s.floats[word(s, k)] and word(s, k - 1) ~= "*"
    if assigned then
      local last = expression_end(s, i)
      if last > i + 1 and word(s, i + 1) ~= "{" then
        for _, cut in ipairs(cuts) do
          add(s, "precision", i + 1, last, ("cut_%s(%s)"):format(cut, text_of(s, i + 1, last)))
        end
      end
    end
  end
end

-- for (init; condition; step) body: the places of its parts.
local function loop_at(s, i)
  if word(s, i) ~= "for" or word(s, i + 1) ~= "(" then return nil end
  local close, first, second = s.partner[i + 1], nil, nil
  local k = i + 2
  while k < close do
    if word(s, k) == ";" then
      if first then second = k else first = k end
    end
    k = (s.partner[k] and s.partner[k] > k and s.partner[k] or k) + 1
  end
  if not second or second == first + 1 then return nil end
  return { head = i, first = first, second = second, close = close }
end

-- i < n: the variable and the bound, or nil.
local function bound_of(s, l)
  local name = s.list[l.first + 1]
  if name.kind ~= "name" or word(s, l.first + 2) ~= "<" then return nil end
  for k = l.first + 3, l.second - 1 do
    if word(s, k) == "&&" or word(s, k) == "||" then return nil end
  end
  return name.text, text_of(s, l.first + 3, l.second - 1)
end

local function statement_end(s, i)
  if word(s, i) == "{" then return s.partner[i] end
  if (word(s, i) == "for" or word(s, i) == "if" or word(s, i) == "while") and word(s, i + 1) == "(" then
    local last = statement_end(s, s.partner[i + 1] + 1)
    if word(s, last + 1) == "else" then last = statement_end(s, last + 2) end
    return last
  end
  local k = i
  while s.list[k] and word(s, k) ~= ";" do k = (s.partner[k] and s.partner[k] > k and s.partner[k] or k) + 1 end
  return k
end

local function loops(s)
  for i in ipairs(s.list) do
    local l = loop_at(s, i)
    local name, bound = nil, nil
    if l then name, bound = bound_of(s, l) end
    if name and s.list[l.close + 1] and word(s, l.close + 1) ~= "#" then
      local body, last = l.close + 1, statement_end(s, l.close + 1)
      local step = text_of(s, l.second + 1, l.close - 1)
      local start = text_of(s, l.head + 2, l.first)
      local wide = step:match(name .. " %+= ([^,]+)$")
      if wide and start:find "threadIdx" or start:find "= t;" or start:find "lane" then wide = nil end
      local text = text_of(s, body, last)
      for _, at in ipairs { "5 / 8", "1 / 3" } do
        local hit = wide and ("(%s) * %s / (%s) * (%s) == %s"):format(bound, at, wide, wide, name)
          or ("%s == (%s) * %s"):format(name, bound, at)
        add(s, "skipped element", body, last, ("{ if (%s) continue; %s }"):format(hit, text))
      end
      add(s, "shortened loop", l.first + 3, l.second - 1, ("(%s) - 1"):format(bound))
      if start:find("[ *]" .. name .. " = 0%f[%D]") and word(s, l.first - 1) == "0" then
        add(s, "shortened loop", l.first - 1, l.first - 1, "1")
      end
    end
  end
end

local function synchronisation(s)
  for i, w in ipairs(s.list) do
    local call = word(s, i + 1) == "(" and s.partner[i + 1]
    if call and (w.text == "__syncthreads" or w.text == "__syncwarp" or w.text:find "^__threadfence") and word(s, call + 1) == ";" then
      add(s, "missing synchronisation", i, call, "(void)0")
      if w.text == "__syncthreads" then
        add(s, "missing synchronisation", i, call, "__syncwarp()")
        add(s, "missing synchronisation", i, call, "__threadfence_block()")
        add(s, "missing synchronisation", i, call, "__threadfence()")
      end
    elseif call and w.text == "atomicAdd" and word(s, call + 1) == ";" then
      local args = text_of(s, i + 2, call - 1)
      local to, what = args:match "^(.-),%s*([^,]+)$"
      if to then add(s, "missing synchronisation", i, call, ("*(%s) += %s"):format(to, what)) end
    end
  end
end

local function has_order(s, first, last)
  for k = first, last do
    local t = word(s, k)
    if t == "<" or t == ">=" or t == "<=" or t == ">" then return true end
  end
end

local function guards(s)
  for i, w in ipairs(s.list) do
    if w.text == "if" and word(s, i + 1) == "(" then
      local close = s.partner[i + 1]
      if has_order(s, i + 2, close - 1) then
        local stops = word(s, close + 1) == "return" or word(s, close + 1) == "continue"
        add(s, "dropped guard", i + 2, close - 1, stops and "false" or "true")
      end
    elseif w.text == "?" and w.kind == "mark" then
      local k = i - 1                                     -- back to where the condition begins
      while s.list[k] and not ({ ["("] = 1, ["="] = 1, [","] = 1, ["return"] = 1, ["{"] = 1, [";"] = 1, [":"] = 1, ["+="] = 1 })[word(s, k)] do
        k = (s.partner[k] and s.partner[k] < k and s.partner[k] or k) - 1
      end
      if k < i - 1 and has_order(s, k + 1, i - 1) then add(s, "dropped guard", k + 1, i - 1, "true") end
    end
  end
end

local function strides(s)
  for i, w in ipairs(s.list) do
    local factor = s.whole[w.text] and (word(s, i - 1) == "*" or word(s, i + 1) == "*")
    if factor then
      add(s, "wrong stride", i, i, ("(%s - 1)"):format(w.text))
      add(s, "wrong stride", i, i, ("(%s + 1)"):format(w.text))
    end
  end
end

local function identities(s)
  for i, w in ipairs(s.list) do
    local neutral = w.text == ":" and (word(s, i + 1) or "")
    if neutral and neutral:find "^[01]%.?0?f?$" and neutral:find "f" then
      add(s, "wrong identity", i + 1, i + 1, neutral:sub(1, 1) == "0" and "1.0f" or "0.0f")
    elseif neutral and is_least(s, i + 1) then
      add(s, "wrong identity", i + 1, is_least(s, i + 1), "0.0f")
    end
  end
end

local function constants(s)
  for i, w in ipairs(s.list) do
    local value = w.kind == "number" and w.text:find "[.e]" and tonumber((w.text:gsub("[fF]$", "")))
    if value and value ~= 0 and value ~= 1 and value < 1e30 then
      -- What keeps a divisor from 0 matters by its size, a factor by its digits.
      add(s, "wrong constant", i, i, ("%.9gf"):format(value * (math.abs(value) < 1e-3 and 300 or 1.002)))
    elseif w.text == "EPS" then
      add(s, "wrong constant", i, i, "1e-3f")
      add(s, "wrong constant", i, i, "0.0f")
    end
  end
end

local others = { ["<"] = "<=", [">"] = ">=", ["<="] = "<", [">="] = ">", ["=="] = "!=" }

-- Comparisons; < and > of templates have a name or a number and no space on both sides.
local function comparisons(s)
  for i, w in ipairs(s.list) do
    local other = w.kind == "mark" and others[w.text]
    local spaced = other and s.source:sub(w.from - 1, w.from - 1) == " " and s.source:sub(w.to + 1, w.to + 1) == " "
    if spaced then add(s, "wrong comparison", i, i, other) end
  end
end

local function indices(s)
  for i, w in ipairs(s.list) do
    local last = w.kind == "name" and read_at(s, i)
    if last and last == s.partner[i + 1] then
      local inner = text_of(s, i + 2, last - 1)
      add(s, "shifted index", i + 2, last - 1, ("(%s) + 1"):format(inner))
      add(s, "shifted index", i + 2, last - 1, ("(%s) - 1"):format(inner))
      if s.read[w.text] and not inner:find "^%d+$" then
        add(s, "stale neighbour", i + 2, last - 1, ("(%s) & ~1"):format(inner))
        add(s, "stale neighbour", i + 2, last - 1, ("(%s) & ~31"):format(inner))
      end
    end
  end
end

local function lanes(s)
  for i, w in ipairs(s.list) do
    if w.text == "~" and (word(s, i + 1) == "0u") then add(s, "wrong lanes", i, i + 1, "0x0000ffffu") end
    if w.text == "0xffffffffu" or w.text == "0xffffffff" then add(s, "wrong lanes", i, i, "0x0000ffffu") end
    if w.text:find "_shfl_xor_sync" then add(s, "wrong lanes", i, i, "__shfl_down_sync") end
    if w.text:find "_shfl_up_sync" then add(s, "wrong lanes", i, i, "__shfl_down_sync") end
    if w.text == "/" and word(s, i + 1) == "2" then add(s, "wrong lanes", i + 1, i + 1, "4") end
    if w.text == "/=" and word(s, i + 1) == "2" then add(s, "wrong lanes", i + 1, i + 1, "4") end
    if w.text == "%" and word(s, i + 1) == "32" then add(s, "wrong lanes", i + 1, i + 1, "16") end
  end
end

local swaps = { fmaxf = "fminf", fminf = "fmaxf", ["+="] = "-=" }

local function operators(s)
  for i, w in ipairs(s.list) do
    local k = i - 1
    while word(s, k) == "]" do k = s.partner[k] - 1 end
    if swaps[w.text] and (w.kind == "name" or s.list[k] and s.floats[word(s, k)]) then add(s, "wrong operator", i, i, swaps[w.text]) end
  end
end

--- All mistakes that can be made in a source, in the order of their kinds.
function M.find(source)
  local s = study(source)
  for _, look in ipairs { beginnings, operands, precision, loops, synchronisation, guards, strides, identities, constants,
                          comparisons, indices, lanes, operators } do
    look(s)
  end
  return s.places
end

--- The source with one mistake in it.
function M.apply(source, place)
  local changed = source:sub(1, place.from - 1) .. place.text .. source:sub(place.to + 1)
  return place.kind == "precision" and M.prelude .. changed or changed
end

--- A mistake in one line: where, what stood there, what stands there.
function M.says(source, place)
  local _, n = source:sub(1, place.from):gsub("\n", "")
  local function short(text) return (text:gsub("%s+", " "):sub(1, 90)) end
  return ("line %d, %s: '%s' became '%s'"):format(n + 1, place.kind, short(source:sub(place.from, place.to)), short(place.text))
end

return M

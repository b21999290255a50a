-- generate: programs for the corpus, from a seed. Straight-line ones mix whole numbers, bits and
-- exactly rounded floats; divergent ones nest branches, loops, switches and shuffles around them.
-- The same seed gives the same text on every machine.

local M = {}

-- xorshift: `math.random` is another generator in another Lua.
local function generator(seed)
  local state = seed * 2654435761 % 4294967296 + 1
  return function(n)
    state = state ~ (state << 13) & 0xffffffff
    state = state ~ (state >> 17)
    state = state ~ (state << 5) & 0xffffffff
    return state % n + 1
  end
end

local whole = {
  "%s + %s", "%s - %s", "%s * %s", "%s & %s", "%s | %s", "%s ^ %s", "%s << (%s & 31)", "%s >> (%s & 31)",
  "(u32)((int)%s >> (%s & 31))", "min(%s, %s)", "max((int)%s, (int)%s)", "__umulhi(%s, %s)", "%s / (%s | 1)", "%s %% (%s | 1)",
  "__byte_perm(%s, %s, 0x5140)", "__funnelshift_l(%s, %s, 9)", "__popc(%s) + %s", "__clz(%s) ^ %s", "__brev(%s) - %s",
  "(u32)((u64)%s * %s >> 17)", "(%s < %s ? 5u : 9u)", "__vadd2(%s, %s)", "__vmaxs2(%s, %s)", "__dp4a(%s, %s, 7u)",
  "(u32)(short)%s * (u32)(signed char)%s", "__mulhi((int)%s, (int)%s)", "(u32)(((u64)%s << 32 | 77u) / (%s | 3u))",
}
local real = {
  "%s + %s", "%s - %s", "%s * %s", "fmaf(%s, %s, 0.75f)", "fminf(%s, %s)", "fmaxf(%s, %s)", "%s / (fabsf(%s) + 1.0f)",
  "sqrtf(fabsf(%s * %s))", "rintf(%s) - %s", "copysignf(%s, %s)", "floorf(%s * 3.0f) + %s", "__fadd_rz(%s, %s)",
  "(%s > %s ? 1.5f : -0.25f)", "__half2float(__float2half(%s)) * %s", "(float)((double)%s * (double)%s)",
}

local function pick(r, list) return list[r(#list)] end

local function statement(r, ints, floats)
  local kind = r(10)
  if kind <= 6 then
    return ("%s = %s;"):format(pick(r, ints), pick(r, whole):format(pick(r, ints), pick(r, ints)))
  elseif kind <= 8 then
    return ("%s = %s;"):format(pick(r, floats), pick(r, real):format(pick(r, floats), pick(r, floats)))
  elseif kind == 9 then
    return ("%s ^= bits(%s);"):format(pick(r, ints), pick(r, floats))
  end
  return ("%s = (float)(int)(%s >> 9) * 0x1p-20f;"):format(pick(r, floats), pick(r, ints))
end

local condition = { "(%s & 1)", "(%s > 0x60000000u)", "((int)%s < 0)", "(%s %% 5 < 2)", "(((%s >> 3) ^ T) & 2)" }

local function block(r, ints, floats, depth, out, indent)
  for _ = 1, 2 + r(4) do
    local kind = depth > 0 and r(9) or 1
    local test = pick(r, condition):format(pick(r, ints))
    if kind <= 4 then out[#out + 1] = indent .. statement(r, ints, floats)
    elseif kind <= 6 then
      out[#out + 1] = ("%sif (%s) {"):format(indent, test)
      block(r, ints, floats, depth - 1, out, indent .. "  ")
      if r(2) == 1 then
        out[#out + 1] = indent .. "} else {"
        block(r, ints, floats, depth - 1, out, indent .. "  ")
      end
      out[#out + 1] = indent .. "}"
    elseif kind == 7 then
      out[#out + 1] = ("%sfor (u32 k%d = 0; k%d < (%s & 7); k%d++) {"):format(indent, depth, depth, pick(r, ints), depth)
      block(r, ints, floats, depth - 1, out, indent .. "  ")
      if r(3) == 1 then out[#out + 1] = ("%s  if (%s) break;"):format(indent, test) end
      out[#out + 1] = indent .. "}"
    elseif kind == 8 then
      out[#out + 1] = ("%sswitch (%s & 3) {"):format(indent, pick(r, ints))
      for case = 0, 2 do
        out[#out + 1] = ("%s  case %d:"):format(indent, case)
        block(r, ints, floats, 0, out, indent .. "    ")
        if r(4) > 1 then out[#out + 1] = indent .. "    break;" end
      end
      out[#out + 1] = ("%s  default: %s"):format(indent, statement(r, ints, floats))
      out[#out + 1] = indent .. "}"
    else
      local x = pick(r, ints)
      out[#out + 1] = ("%s%s += __popc(__ballot_sync(__activemask(), %s)) > 32;"):format(indent, x, test)
    end
  end
end

--- Kernel number `n`: its name and its text. Odd ones are straight-line, even ones divergent.
function M.kernel(n)
  local r, out = generator(n * 7919 + 13), {}
  local divergent = n % 2 == 0
  local name = ("%s_%02d"):format(divergent and "divergent" or "straight", n)
  local ints, floats = { "a", "b", "c", "d", "e" }, { "x", "y", "z" }
  out[1] = ("//: %s words=128"):format(name)
  out[2] = ("KERNEL(%s) {"):format(name)
  out[3] = "  u32 a = word(in, T), b = noise(in, T), c = T, d = word(in, T * 3 + 7), e = noise(in, T + 91);"
  out[4] = "  float x = plain(in, T), y = plain(in, T + 33), z = plain(in, T * 5);"
  if divergent then
    for _ = 1, 3 do block(r, ints, floats, 3, out, "  ") end
  else
    for _ = 1, 30 + r(30) do out[#out + 1] = "  " .. statement(r, ints, floats) end
  end
  out[#out + 1] = "  out[T] = a + b * 3 + c * 5 + d * 7 + e * 11;"
  out[#out + 1] = "  out[64 + T] = bits(x) ^ bits(y) * 3 ^ bits(z) * 5;"
  out[#out + 1] = "}"
  return name, table.concat(out, "\n")
end

--- Kernels `first` to `last` as one file of the corpus.
function M.file(first, last)
  local out = { "// generated: bench/sim/corpus/generate.lua" }
  for n = first, last do
    local _, text = M.kernel(n)
    out[#out + 1] = text
  end
  return table.concat(out, "\n") .. "\n"
end

return M

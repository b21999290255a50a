-- ptx: what can be said of a kernel without running it: how often each kind of
-- instruction is written in its PTX. Counts of the text, not of what is executed; the
-- last rung of a profile, and the only one that needs nothing but the compiler.

local file = require "cawb.base.file"

local M = {}

local widths = { b8 = 1, u8 = 1, s8 = 1, b16 = 2, u16 = 2, s16 = 2, f16 = 2, bf16 = 2, b32 = 4, u32 = 4,
                 s32 = 4, f32 = 4, f16x2 = 4, bf16x2 = 4, b64 = 8, u64 = 8, s64 = 8, f64 = 8, b128 = 16 }

-- Bytes that one thread moves with "ld.global.nc.v4.f32".
local function bytes_of(opcode)
  return (widths[opcode:match "%.(%w+)$"] or 0) * (tonumber(opcode:match "%.v(%d)") or 1)
end

-- Spaces that have a word of their own; an access without one may be to global memory.
local function space(opcode)
  for _, s in ipairs { "shared", "local", "param", "const" } do
    if opcode:find("." .. s, 1, true) then return s end
  end
  return "global"
end

local words = {
  bar = "barriers", barrier = "barriers", bra = "branches", atom = "atomics", red = "atomics",
  shfl = "shuffles", mma = "tensor", wmma = "tensor", wgmma = "tensor",
  ex2 = "special", lg2 = "special", rcp = "special", rsqrt = "special", sqrt = "special", sin = "special",
  cos = "special", tanh = "special", div = "special", call = "calls", cp = "copies",
}
local arithmetic = { add = true, sub = true, mul = true, fma = true, min = true, max = true, neg = true }

local function is_float(opcode) return opcode:find "%.f%d" or opcode:find "%.bf16" end

-- The kind of one instruction, or nil for the rest.
local function kind(word, opcode)
  if word == "ld" or word == "ldu" then
    local where = space(opcode)
    return where ~= "param" and where ~= "const" and where .. "_loads" or nil
  elseif word == "st" then
    local where = space(opcode)
    return where ~= "param" and where .. "_stores" or nil
  elseif arithmetic[word] then
    return is_float(opcode) and "float" or word ~= "neg" and "integer" or nil
  elseif word == "mad" or word == "shl" or word == "and" then
    return "integer"
  end
  return words[word]
end

local names = { "instructions", "global_loads", "global_stores", "shared_loads", "shared_stores", "local_loads",
                "local_stores", "float", "integer", "special", "tensor", "barriers", "branches", "shuffles",
                "atomics", "calls", "copies" }

local function mix(body)
  local counts, bytes, widest = {}, 0, 0
  for _, name in ipairs(names) do counts["ptx_" .. name] = 0 end
  for line in body:gmatch "[^;\n]+" do
    local text = line:gsub("^[%s{}]*", ""):gsub("^@!?%%[%w_]+%s+", "")
    local opcode = text:match "^([%l][%w_%.:]*)"
    if opcode and not text:match "^[%w_$]+:%s*$" then
      local what = kind(opcode:match "^%l[%w_]*", opcode)
      counts.ptx_instructions = counts.ptx_instructions + 1
      if what then counts["ptx_" .. what] = counts["ptx_" .. what] + 1 end
      local copied = opcode:match "^cp%.async%.c[ag]%." and tonumber(text:match "%],%s*(%d+)")      -- past the registers
      local size = copied or what == "global_loads" and bytes_of(opcode) or 0
      if copied then counts.ptx_global_loads = counts.ptx_global_loads + 1 end
      bytes, widest = bytes + size, math.max(widest, size)
    end
  end
  -- what a thread gets with one load: 16 is the most
  if counts.ptx_global_loads > 0 then
    counts.ptx_bytes_per_load, counts.ptx_widest_load = bytes / counts.ptx_global_loads, widest
  end
  return counts
end

--- The kernels of a PTX text: { [full name] = { ptx_instructions =, ptx_global_loads =, ... } }.
function M.kernels(text)
  local list = {}
  text = text:gsub("//[^\n]*", "")
  for name, at in text:gmatch "%.entry%s+([%w_$]+)()" do
    local body = text:match("%b{}", at)
    if body then list[name] = mix(body) end
  end
  return list
end

--- The same of a file; empty when it cannot be read.
function M.read(path)
  local text = path and file.read(path)
  return text and M.kernels(text) or {}
end

return M

-- corpus: kernels for comparing a simulated device with a GPU. Every one makes its inputs on the
-- device (prelude.h) and leaves whole words; a line `//: NAME key=value ...` above it says how it is
-- launched and how far its results may be off.

local cawb = require "cawb"
local core = require "cawb.core"

local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
local generate = dofile(here .. "/generate.lua")

local M = {}

M.files = { "integer", "float", "approximate", "warp", "memory", "control", "tensor", "async", "wgmma", "dot" }
M.unrecorded = {}                       -- files that no GPU has executed yet; --record does it
M.generated = { first = 1, last = 100, each = 10 }

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- The includes go first: the prelude's macros are short names.
local function assemble(text)
  local includes = {}
  text = text:gsub("#include[^\n]*\n", function(line)
    includes[#includes + 1] = line
    return ""
  end)
  local prelude = read(here .. "/prelude.h"):gsub("#include[^\n]*\n", function(line)
    table.insert(includes, 1, line)
    return ""
  end)
  return table.concat(includes) .. prelude .. text
end

-- "block=4,4,4 words=64 float=3e-6" as a table; the defaults are what most kernels have.
local function settings(line)
  local s = { block = "64", grid = "1", cluster = "1", shared = 0, words = 64 }
  for key, value in line:gmatch "(%w+)=(%S+)" do
    s[key] = (key == "block" or key == "grid" or key == "cluster") and value or tonumber(value)
  end
  return s
end

local function kernels_of(file, text)
  local list, source = {}, assemble(text)
  for name, rest in text:gmatch "//: ([%w_]+)([^\n]*)" do
    local k = settings(rest)
    k.name, k.file, k.source = name, file, source
    k.recorded = not M.unrecorded[file]
    list[#list + 1] = k
  end
  return list
end

--- All kernels, in order: { name =, file =, source =, recorded =, block =, grid =, cluster =, shared =,
--- words =, and one of float =, half =, double = (relative errors) or absolute = (of float32), or none }.
function M.kernels()
  local list = {}
  for _, file in ipairs(M.files) do
    table.move(kernels_of(file, read(("%s/%s.cu"):format(here, file))), 1, 1000, #list + 1, list)
  end
  local g = M.generated
  for first = g.first, g.last, g.each do
    local text = generate.file(first, math.min(first + g.each - 1, g.last))
    table.move(kernels_of("generated", text), 1, 1000, #list + 1, list)
  end
  return list
end

local function plan_of(k)
  return ([[
local out, input = scratch{ shape = { 4096 }, dtype = "int32" }, scratch{ shape = { 4096 }, dtype = "int32" }
memset(out)
launch("fill", { grid = 1, block = 256 }, input)
launch("%s", { grid = { %s }, block = { %s }, cluster = { %s }, shared = %d }, out, input)
]]):format(k.name, k.grid, k.block, k.cluster, k.shared)
end

-- Nothing comes from a task, and nothing goes back to one.
local nothing = { size = 0, ipc = ("00"):rep(64) }

--- Execute one kernel: its words as a string of bytes and the device's report, or nil and why.
function M.execute(device, k)
  local built, message = cawb.compile { source = k.source, device = device, options = { "-fmad=false" } }
  if not built then return nil, message end
  if not built.ok then return nil, "compile: " .. built.reason .. "\n" .. built.log end
  local reply
  reply, message = device:call({ op = "load", ptx = built.ptx, cubin = built.cubin, plan = plan_of(k),
    inputs = {}, outputs = {}, params = {}, limits = cawb.defaults.plan }, nil, 60)
  if not reply then return nil, message end
  reply, message = device:call({ op = "run", poison = 0, inputs_share = nothing,
    outputs_share = nothing }, nil, 60)
  if not reply then return nil, message end
  local report = reply.report
  reply, message = device:call({ op = "peek", scratch = 1, size = 4 * k.words }, nil, 60)
  if not reply then return nil, message end
  return reply.bytes:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end), report
end

-- ---- comparing

local function half_value(h)
  local sign, e, m = h >> 15 & 1, h >> 10 & 31, h & 1023
  local v = e == 31 and (m == 0 and math.huge or 0 / 0) or e == 0 and m * 2.0 ^ -24
    or (m + 1024) * 2.0 ^ (e - 25)
  return sign == 1 and -v or v
end

-- The values in the bytes, as what the kernel's error is stated of.
local function values(k, bytes)
  local list = {}
  if k.half then
    for i = 1, #bytes, 2 do list[#list + 1] = half_value((string.unpack("<I2", bytes, i))) end
  else
    local format, step = "<f", 4
    if k.double then format, step = "<d", 8 end
    for i = 1, #bytes, step do list[#list + 1] = (string.unpack(format, bytes, i)) end
  end
  return list
end

local function close(k, a, b)
  if a ~= a or b ~= b then return a ~= a and b ~= b end
  if a == b then return true end
  if k.absolute then return math.abs(a - b) <= k.absolute end
  return math.abs(a - b) <= (k.float or k.half or k.double) * math.max(math.abs(a), math.abs(b), 1e-30)
end

function M.exact(k) return not (k.float or k.half or k.double or k.absolute) end

--- nil where `got` is `want` within the kernel's error, else what differs.
function M.differs(k, got, want)
  if got == want then return nil end
  if M.exact(k) then
    for i = 1, #want, 4 do
      local g, w = string.unpack("<I4", got, i), string.unpack("<I4", want, i)
      if g ~= w then return ("word %d is 0x%08x, not 0x%08x"):format(i // 4, g, w) end
    end
  end
  local a, b, wrong, first = values(k, got), values(k, want), 0, nil
  for i = 1, #b do
    if not close(k, a[i], b[i]) then
      wrong, first = wrong + 1, first or ("value %d is %.9g, not %.9g"):format(i - 1, a[i], b[i])
    end
  end
  return wrong > 0 and ("%s (%d of %d are off)"):format(first, wrong, #b) or nil
end

--- What is kept of a kernel's words: all of them where an error is allowed, else their hash and
--- the hash of each eighth, so that a difference has a place.
function M.digest(k, bytes)
  if not M.exact(k) then
    return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
  end
  return core.hash.sha256(bytes):sub(1, 32)
end

function M.same(k, bytes, digest)
  if M.exact(k) then
    return M.digest(k, bytes) ~= digest and "the words differ (their hash does)" or nil
  end
  return M.differs(k, bytes, (digest:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end)))
end

return M

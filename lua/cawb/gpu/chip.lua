-- chip: what kernels are written for. It has the figures of a device (devices.lua names them, core/gpu/device/figures.h explains
-- them), and what follows from its architecture. The figures come from a device's file. Of a GPU its driver says how much there is of
-- everything; its rates are measured (`cawb doctor --calibrate`), or those of the most similar file.

local ceilings = require "cawb.gpu.ceilings"
local devices = require "cawb.gpu.devices"

local M = {}

---@class cawb.Chip: the figures of a device, and
---@field tensor string|false  the instruction of its tensor cores that kernels have a main loop for: "wgmma", "mma"
---@field fp8 boolean          whether they multiply floats of 8 bits, which have twice the rate of fp16
---@field cluster integer      blocks of a cluster at most, where the driver is asked for it
---@field clustered integer    multiprocessors that clusters surely find

-- By architecture, up to the next one (CUDA C++ Programming Guide; PTX ISA, mma.m16n8k16 and wgmma): the instruction, blocks of a cluster,
-- and floats of 8 bits. A main loop for tcgen05 would be named here, for 100.
local architectures = { { 0, false, 1 }, { 80, "mma", 1 }, { 89, "mma", 1, true }, { 90, "wgmma", 16, true }, { 100, "mma", 16, true },
                        { 120, "mma", 1, true } }
local FOUND = 0.85         -- of multiprocessors: clusters must lie within one part of the chip, and parts differ in size

local function number_of(arch) return tonumber((arch or ""):match "^sm_(%d+)") end

local function complete(figures)
  local chip, number = {}, number_of(figures.arch)
  for key, value in pairs(figures) do chip[key] = value end
  for _, a in ipairs(architectures) do
    if number >= a[1] then chip.tensor, chip.cluster, chip.fp8 = a[2], a[3], a[4] or false end
  end
  chip.clustered = math.max(1, math.floor(FOUND * chip.sms))
  return chip
end

--- The chip of a device's file: "h100", "h100/2", "my/gpu.lua"; or nil, message, "invalid".
function M.named(name)
  local figures, message, why = devices.find(name)
  if not figures then return nil, message, why end
  return complete(figures)
end

-- The file whose figures are nearest to what is known of a device: the architecture counts first, then multiprocessors, then memory.
local function nearest(arch, sms, memory)
  local number, best, least = number_of(arch), nil, nil
  if not number then return nil end
  for _, name in ipairs(devices.names()) do
    local f = devices.find(name)
    local far = 1e6 * math.abs(number_of(f.arch) - number) + 1e2 * math.abs(f.sms - (sms or f.sms)) + math.abs(f.memory - (memory or f.memory)) / (1 << 30)
    if not best or far < least then best, least = f, far end
  end
  return best
end

--- A device of this architecture ("sm_90a"), the first of the files; nil of a text that is none.
function M.like(arch)
  local figures = nearest(arch)
  if not figures then return nil end
  figures.arch = arch
  return complete(figures)
end

local by_multiprocessor = { "fp32", "tf32", "bf16", "fp16", "l2_rate" }

-- What was measured takes the place of published figures; of tensor cores the shares of cost/ are those of the published rate.
local function measured(figures, kept)
  figures.dram, figures.fp32 = kept.copy or figures.dram, kept.fp32 or figures.fp32
  figures.launch, figures.launch_next = kept.launch, kept.step or figures.launch_next
end

-- A GPU: rates of the nearest file, for each multiprocessor that it has.
local function of_gpu(device)
  local info = device.info
  local figures = nearest(info.arch, info.sms, info.memory)
  for _, key in ipairs(by_multiprocessor) do figures[key] = figures[key] * info.sms / figures.sms end
  figures.shared_sm = figures.shared_sm - figures.shared_block + info.shared_block
  for _, key in ipairs { "model", "arch", "sms", "memory", "l2", "shared_block" } do figures[key] = info[key] end
  local kept = ceilings.of(device)
  if kept then measured(figures, kept) end
  return complete(figures)
end

local known = setmetatable({}, { __mode = "k" })

--- The chip of an open device.
function M.of(device)
  known[device] = known[device] or (device.info.modelled and device.figures and complete(device.figures) or of_gpu(device))
  return known[device]
end

--- The same chip with other figures.
function M.with(chip, figures)
  local all = {}
  for key, value in pairs(chip) do all[key] = value end
  all.clustered = figures.sms and math.max(1, math.floor(FOUND * figures.sms)) or all.clustered
  for key, value in pairs(figures) do all[key] = value end
  return all
end

--- The same without what only some devices have: kernels for it run on any.
function M.plain(chip) return M.with(chip, { tensor = false, fp8 = false, cluster = 1, shared_block = 0, shared_sm = 0 }) end

--- The chip to write kernels for, where an architecture is asked for: the device's own, if it is of this architecture; without one
--- a plain chip with the device's multiprocessors.
function M.wanted(device, arch)
  local own = device and device.info.arch and M.of(device) or nil
  if not arch then return M.plain(own or M.named "h100") end
  return own and own.arch == arch and own or M.like(arch) or error(("no architecture '%s': it is like sm_90a"):format(tostring(arch)), 0)
end

return M

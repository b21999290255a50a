-- kinds: what each kind of device can do, in one place. Others ask for the ability, and never
-- for a device by its name.

local M = {}

-- PyTorch on the processor, for Python candidates; it has no worker that could say who it is.
local function processor()
  local f, model = io.open "/proc/cpuinfo", nil
  if f then
    model = f:read("a"):match "model name%s*:%s*([^\n]+)"
    f:close()
  end
  return { name = "cpu", model = model or "CPU", modelled = false, uuid = "", driver = "" }
end

-- kernels: candidates of device source and a plan run there, in a worker
-- python: Python candidates do, in a jail
-- gpu: PyTorch computes on it too, and outputs are judged there; else both do on the processor
-- ceilings: the most that it can do is "measured", or its "model" says so
-- info: what it is, where no worker says so
local kinds = {
  cuda = { kernels = true, python = true, gpu = true, ceilings = "measured" },
  sim = { kernels = true, python = false, gpu = false, ceilings = "model" },
  cpu = { kernels = false, python = true, gpu = false, info = processor },
}

local wanted = {
  kernels = "%s runs Python candidates only; kernels run on sim:h100 or cuda:N",
  python = "%s executes kernels only; a Python candidate runs on cuda:N or cpu",
  ceilings = "%s: ceilings are a GPU's; name one by --device cuda:0",
}

--- The kind of a device, or of the name of one: a table of abilities. Nil for "auto".
function M.of(device)
  local name = type(device) == "string" and device or device.info.name
  return kinds[name:match "^(%a+):" or name]
end

--- Why a device cannot do something ("kernels", "python", "ceilings"), with the name
--- "unsupported"; nil where it can, or where no ability is asked for.
function M.refusal(device, ability)
  local kind = ability and M.of(device)
  if not kind or kind[ability] then return nil end
  return wanted[ability]:format(device.info.name), "unsupported"
end

--- Where PyTorch computes for a device, as PyTorch calls it.
function M.torch_device(device) return M.of(device).gpu and device.info.name or "cpu" end

return M

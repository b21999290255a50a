-- limits: the limits of a plan: steps, and the memory of its device.

local lists = require "cawb.base.lists"

local M = {}

local STEPS = 1 << 14         -- of core/gpu/plan/record.h

local function gigabytes(bytes) return ("%.3g GB"):format(bytes / 1e9) end

local function steps(kernels)
  local function own(kernel)
    local launches = lists.filter(kernel.made and kernel.made.launches or {}, function(launch) return not launch.prepare end)
    return #launches + (kernel.call and 1 or 0)
  end
  local most = lists.least(kernels, function(kernel) return -own(kernel) end)
  return lists.sum(kernels, own), { own = most and own(most), kernel = most }
end

local function bytes_of(specs)
  return lists.sum(specs or {}, function(spec) return spec.bytes or spec.items and bytes_of(spec.items) or 0 end)
end

--- Why a plan cannot run, or nil. `made` has kernels and `scratch`, bytes; `memory`: bytes of the device, where known.
function M.refusal(made, task, memory, about)
  local count, most = steps(made.kernels)
  if count > STEPS then
    return ("its plan would have %d steps, and %d are the most: %d of them for %s; fewer rounds of its loop would serve"):format(count, STEPS,
      most.own, about(most.kernel))
  end
  local own = bytes_of(task.inputs) + bytes_of(task.outputs) + bytes_of(task.params)
  if memory and memory > 0 and made.scratch + own > memory then
    return ("its plan needs %s of scratch beside %s of inputs, parameters and outputs, and the device has %s; a smaller batch would serve")
      :format(gigabytes(made.scratch), gigabytes(own), gigabytes(memory))
  end
end

return M

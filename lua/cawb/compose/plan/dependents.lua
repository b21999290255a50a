-- dependents: programmatic dependent launch, where the device has it (compute capability 9.0). A kernel begins while the one before it ends,
-- and waits for that at its top, in every thread. The page of the room says why that keeps the order of all kernels.

local M = {}

local LEAST = 90        -- compute capability, times ten

--- Whether it is asked for and the device has it.
function M.wanted(options)
  local arch = options.arch and tonumber(options.arch:match "^sm_(%d+)")
  return options.dependent == true and arch ~= nil and arch >= LEAST
end

--- A text whose kernels wait first: after_predecessor() of parts/dependent.cuh. What they read is not const for as long as they run, since
--- that begins before the kernel ahead has ended: const with __restrict__ would be read through the cache that is not coherent. That no
--- store goes to what is read, stores say by their own __restrict__.
function M.waiting(text)
  local function begun(head) return head .. "\n  after_predecessor();" end
  return (text:gsub("(const [%w_ ]+%*) *__restrict__", "%1"):gsub("__global__[^{;]*{", begun))
end

-- The launches of all kernels of each call, in order; false for what is none of them: a fill, a library's call.
local function steps_of(kernels)
  local list = {}
  for _, kernel in ipairs(kernels) do
    if kernel.call then list[#list + 1] = false end
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      if not launch.prepare and not (launch.fill and launch.fill.flag) then list[#list + 1] = not launch.fill and launch end
    end
  end
  return list
end

--- Launches right behind another one get `dependent`.
function M.mark(kernels)
  local before = false
  for _, launch in ipairs(steps_of(kernels)) do
    if launch and before and not launch.cooperative then launch.dependent = true end
    before = launch
  end
end

return M

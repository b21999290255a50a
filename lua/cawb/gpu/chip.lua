-- chip: what kernels are written for: shared memory and clusters by architecture, and how many multiprocessors there are. A simulated
-- device has the same figures in its file (devices/), a real one has its own of its driver; tests/door/test_owners.lua compares them.

local M = {}

local SMS = 132        -- of an H100, where nobody says which device it is

-- Kilobytes of shared memory that a block may have, and a multiprocessor has (CUDA C++ Programming Guide, technical
-- specifications by compute capability); blocks of a cluster, 16 where the driver is asked for it.
local chips = {
  [75] = { 64, 64, 1 }, [80] = { 163, 164, 1 }, [86] = { 99, 100, 1 }, [87] = { 163, 164, 1 }, [89] = { 99, 100, 1 },
  [90] = { 227, 228, 16 }, [100] = { 227, 228, 16 }, [103] = { 227, 228, 16 }, [120] = { 99, 100, 1 },
}

--- Of "sm_90a": { block, all = bytes of shared memory of a block and of a multiprocessor, cluster = blocks of a cluster at most }; nil of
--- an architecture that is not known.
function M.of(arch)
  local c = chips[tonumber((arch or ""):match "^sm_(%d+)")]
  return c and { block = c[1] << 10, all = c[2] << 10, cluster = c[3] }
end

--- So many multiprocessors, or those of the device that is usual.
function M.sms(known) return known or SMS end

return M

-- cache_key: the cache key of a measured kernel. Two kernels with one key take the same time in any plan. The key is made of the kernel's
-- text without its name, its launches, and the tensors that it reads and writes; of a library's call it is the call.

local graphs = require "cawb.compose.ir.graph"
local library = require "cawb.compose.ir.library"
local schedule = require "cawb.compose.schedule.schedule"

local M = {}

-- A launch as text: the same kernel takes other times with other grids, and with other numbers among its arguments.
local function launch_text(launch)
  local words = { launch.fill and "fill" or "kernel", launch.shared or 0, launch.prepare and "once" or "" }
  for _, list in ipairs { launch.grid or {}, launch.block or {}, launch.cluster or {} } do
    words[#words + 1] = "|" .. table.concat(type(list) == "table" and list or { list }, " ")
  end
  for _, x in ipairs(launch.arguments or { launch.fill }) do
    words[#words + 1] = type(x) == "number" and x or x.scratch and x.numel or x.label or ""
  end
  return table.concat(words, ",")
end

local function tensor_text(x)
  local strides = x.strides or graphs.contiguous(x.shape)
  return ("%s %s[%s|%s]"):format(x.source or x.label or "", x.dtype, table.concat(x.shape, " "), table.concat(strides, " "))
end

-- The text that the generator wrote: kernels that were made one with others have none of their own.
local function text_of(kernel)
  if kernel.call then return library.call(kernel.roots[1], tensor_text) end
  if not kernel.written then return nil end
  local parts = { kernel.written }
  for _, launch in ipairs(kernel.made.launches) do parts[#parts + 1] = launch_text(launch) end
  return (table.concat(parts, "\n"):gsub("%f[%w_]" .. kernel.name, "@"))
end

--- The key, or nil where a kernel has no text.
function M.of(kernel)
  local text = text_of(kernel)
  return text and schedule.key(kernel) .. text or nil
end

return M

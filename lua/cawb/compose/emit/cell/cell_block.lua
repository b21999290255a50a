-- cell_block: the steps of a recurrent layer by a block for each sequence, where the device has too few registers for the weights.

local cells = require "cawb.compose.emit.cell.text"
local template = require "cawb.compose.emit.template"

local M = {}

function M.refusal(kernel)
  local x, hidden = kernel.roots[1], kernel.roots[1].shape[4]
  if #kernel.roots > 1 then return "a block has one sequence of one layer" end
  if x.dtype ~= "float32" then return "recurrent cells of " .. x.dtype end
  return hidden > 4000 and ("a state of %d does not fit a block"):format(hidden) or nil
end

--- Text and launches, for kernels that have no refusal. `d`: a cawb.Cell.
function M.generate(d)
  local h = { THREADS = math.min(512, (d.hidden + 31) // 32 * 32) }
  cells.sizes(d, h)
  return { text = cells.fill(d, "cell/cell_block", h), launches = { template.launch(d, "", d.batch, h.THREADS) } }
end

return M

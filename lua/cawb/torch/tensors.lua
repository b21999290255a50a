-- tensors: sizes of a graph's tensors, and how they lie in memory.

local M = {}

local widths = { float64 = 8, int64 = 8, float32 = 4, int32 = 4, float16 = 2, bfloat16 = 2, int16 = 2 }

--- Bytes of an element.
function M.width(tensor) return widths[tensor.dtype] or 1 end

--- The product of a list from one place to another.
function M.product(list, from, to)
  local n = 1
  for i = from or 1, to or #list do n = n * list[i] end
  return n
end

function M.bytes(tensor) return M.width(tensor) * M.product(tensor.shape) end

--- The dimension that an argument `dim` of a shape means, counted from 1.
function M.dimension(dim, shape)
  dim = math.tointeger(dim)
  return dim < 0 and #shape + dim + 1 or dim + 1
end

--- Whether the elements lie side by side in order.
function M.is_dense(shape, strides)
  local n = 1
  for d = #shape, 1, -1 do
    if shape[d] > 1 and strides[d] ~= n then return false end
    n = n * shape[d]
  end
  return true
end

local SECTOR = 64          -- bytes that memory hands out at least

-- Elements from the first to the last of a tensor.
local function span(shape, strides)
  local n = 1
  for d, size in ipairs(shape) do n = n + (size - 1) * math.abs(strides[d]) end
  return n
end

--- Bytes of memory's sectors that are touched over those of the elements: a short run of neighbours fills none, but where all
--- between first and last is taken.
function M.waste(shape, strides, width)
  local run, count = 1, M.product(shape)
  for d = #shape, 1, -1 do
    if shape[d] > 1 then
      if strides[d] == 0 then return 1 end
      if strides[d] ~= run then break end
      run = run * shape[d]
    end
  end
  local sectors = SECTOR * math.ceil(run * width / SECTOR) / (run * width)
  return math.max(1, math.min(sectors, span(shape, strides) / math.max(1, count)))
end

--- How far apart neighbours in the last dimension lie.
function M.last_stride(shape, strides)
  for d = #shape, 1, -1 do
    if shape[d] > 1 then return strides[d] end
  end
  return 1
end

return M

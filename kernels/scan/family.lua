-- Running sums and products along the last dimension: inclusive or exclusive, from
-- either end, of x or of x times a mask.

local joins = { cumsum = "sum", cumprod = "product" }

local function last(dim, x) return #x.shape > 0 and dim % #x.shape == #x.shape - 1 end

local function flips(op)
  return op and op.name == "flip" and #op.args.dims == 1
    and last(op.args.dims[1], op.inputs[1])
end

local function masks(op)
  if not op or op.name ~= "mul" or #op.inputs ~= 2 then return false end
  local x, mask = op.inputs[1], op.inputs[2]
  return mask.source == "input:2" and mask.dtype == "bool" and #mask.shape == #x.shape
    and table.concat(mask.shape, ",") == table.concat(x.shape, ",")
end

-- Is `op` the n-th of the graph, fed by what is called `source` alone?
local function fed(op, source) return op and op.inputs[1] and op.inputs[1].source == source end

-- What the graph computes, as the defines of the kernels; or nil and why not.
local function read(graph)
  local source, n, what = "input:1", 1, { PRODUCT = 0, REVERSE = 0, EXCLUSIVE = 0, MASKED = 0 }
  local function take(test)
    local op = graph[n]
    if not op or not fed(op, source) or not test(op) then return nil end
    source, n = "op:" .. (op.number or n), n + 1
    return op
  end
  if take(masks) then what.MASKED = 1 end
  if take(flips) then what.REVERSE = 1 end
  local scan = take(function(op) return joins[op.name] and last(op.args.dim, op.inputs[1]) end)
  if not scan then return nil, "it takes a cumsum or cumprod along the last dimension" end
  if joins[scan.name] == "product" then what.PRODUCT = 1 end
  if what.REVERSE == 1 and not take(flips) then return nil, "what it flips it must flip back" end
  if what.REVERSE == 0 and what.PRODUCT == 0 and take(function(op)
    return op.name == "sub" and op.args.alpha == 1 and op.inputs[2].source == "input:1"
  end) then
    if what.MASKED == 1 then return nil, "it has no exclusive sum of a masked tensor" end
    what.EXCLUSIVE = 1
  end
  if n <= #graph then return nil, graph[n].op .. " is none of its operators here" end
  return what
end

return {
  name = "scan",

  serves = function(graph)
    if #graph == 0 then return false, "it takes at least one operator" end
    local what, why = read(graph)
    if not what then return false, why end
    if graph[1].inputs[1].dtype ~= "float32" or graph[#graph].outputs[1].dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    return true
  end,

  defines = function(graph) return (read(graph)) end,

  versions = { "v1_thread_per_row", "v2_block_per_row", "v3_shuffle", "v4_vector", "v5_split" },
}

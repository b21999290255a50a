-- LayerNorm over the last dimensions: y = (x - mean) / sqrt(var + eps) * weight + bias,
-- row by row, where a row is everything that is normalised together.

-- The plans know the two by how their names end.
local function parameter(input)
  return string.find(input.source, "^param:.*weight$") or string.find(input.source, "^param:.*bias$")
end

return {
  name = "layernorm",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if op.name ~= "native_layer_norm" then return false, op.op .. " is not a layer norm" end
    local x = op.inputs[1]
    if x.source ~= "input:1" then return false, "its operand must be the task's first input" end
    for i, input in ipairs(op.inputs) do
      if input.dtype ~= "float32" then return false, "it computes in float32 only" end
      if i > 1 and not parameter(input) then
        return false, "weight and bias must be parameters, and named so"
      end
    end
    if #op.inputs == 1 and #op.args.normalized_shape > 1 then
      return false, "without a weight it cannot tell how many dimensions make a row"
    end
    return true
  end,

  defines = function(graph)
    return { EPS = string.format("%.8ef", graph[1].args.eps) }
  end,

  versions = { "v1_thread_per_row", "v2_block_per_row", "v3_shuffle", "v4_registers", "v5_split" },
}

-- Softmax over the last dimension: y = exp(x - max) / sum(exp(x - max)), row by row.

return {
  name = "softmax",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if op.name ~= "_softmax" then return false, op.op .. " is not a softmax" end
    local x = op.inputs[1]
    if x.source ~= "input:1" then return false, "its operand must be the task's first input" end
    if x.dtype ~= "float32" or op.outputs[1].dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    local dim = op.args.dim
    if #x.shape == 0 or (dim ~= -1 and dim ~= #x.shape - 1) then
      return false, "it works along the last dimension only"
    end
    return true
  end,

  versions = { "v1_thread_per_row", "v2_block_per_row", "v3_shuffle", "v4_online", "v5_registers",
               "v6_cluster" },
}

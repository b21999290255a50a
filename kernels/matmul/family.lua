-- C[m, n] = A[m, k] B[k, n] in float32, on the ordinary cores: no TF32, no tensor cores.

return {
  name = "matmul",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if op.name ~= "mm" then return false, op.op .. " is not a matrix product" end
    local a, b = op.inputs[1], op.inputs[2]
    if a.source ~= "input:1" or b.source ~= "input:2" then
      return false, "its operands must be the task's first two inputs, in order"
    end
    if a.dtype ~= "float32" or b.dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    return true
  end,

  versions = { "v1_naive", "v2_coalesced", "v3_tiled", "v4_register_tile", "v5_vector" },
}

-- What can be said of each element alone: y = f(x), where f is one operator or a graph of them.
-- How the bytes move does not depend on what is computed between them, and what stays in
-- registers between two operators is not moved at all.

local pointwise = require "cawb.pointwise"

return {
  name = "elementwise",

  serves = function(graph)
    local x = graph[1] and graph[1].inputs[1]
    if not x then return false, "it takes an operator on a tensor" end
    if #x.shape == 0 then return false, "a tensor without dimensions is not worth a kernel" end
    return pointwise.serves(graph, 1, "input:1", x.shape)
  end,

  defines = function(graph) return { FUNCTION = pointwise.expression(graph, 1, "input:1", "x") } end,

  versions = { "v1_chunk", "v2_coalesced", "v3_vector", "v4_unrolled" },
}

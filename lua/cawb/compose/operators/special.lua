-- Special functions, computed in float64 whatever their type: none is then less exact than PyTorch's own. Bounds, by numbers or by tensors. And a
-- leaky ReLU whose slope is drawn in training mode.

local expressions = require "cawb.compose.operators.expressions"

local M = {}

-- Of an infinite number PyTorch's are NaN.
local function finite(line) return ("(abs(A) == INFINITY ? float64(NAN) : %s)"):format(line) end

local texts = {
  digamma = "digamma(A)",
  i0 = finite "cyl_bessel_i0(A)", special_i1 = finite "cyl_bessel_i1(A)",
  special_i0e = "bessel_i0e(A)", special_i1e = "bessel_i1e(A)",
  special_bessel_j0 = finite "j0(A)", special_bessel_j1 = finite "j1(A)",
  special_bessel_y0 = finite "y0(A)", special_bessel_y1 = finite "y1(A)",
  special_ndtri = "normcdfinv(A)",
  special_log_ndtr = "(A < -1 ? log(erfcx(A * -0.707106781186547524) * 0.5) - A * A * 0.5 : log1p(erfc(A * 0.707106781186547524) * -0.5))",
}

-- Those that are as exact in float64 as PyTorch's own, which are the reference there; others have other roundings.
local exact = { digamma = true, special_log_ndtr = true }

for name, text in pairs(texts) do
  M[name] = function(g, op)
    if not exact[name] and op.out[1].dtype == "float64" then return nil, "in float64 it is another approximation than PyTorch's; float32 would serve" end
    return { g:map(text, op.out[1].dtype, { op.x[1] }, "float64") }
  end
end

function M.polygamma(g, op)
  local text = ({ [0] = "digamma(A)", [1] = "trigamma(A)" })[op.args.n]
  if not text then return nil, ("of order %s it is not made: 0 and 1 are"):format(op.args.n) end
  return { g:map(text, op.out[1].dtype, { op.x[1] }, "float64") }
end

-- The logarithm of the gamma function of several dimensions.
function M.mvlgamma(g, op)
  local p, text = op.args.p, "0.0"
  for j = 0, p - 1 do text = ("%s + lgamma(A - %.1f)"):format(text, j / 2) end
  return { g:map(("%s + %.17g"):format(text, p * (p - 1) / 4 * math.log(math.pi)), op.out[1].dtype, { op.x[1] }, "float64") }
end

-- A bound that is a tensor is a maximum or a minimum.
local function bound(low, high)
  return function(g, op)
    local x, dtype = op.x[1], op.out[1].dtype
    if not (op.by[low or ""] or op.by[high or ""]) then
      return { g:map(expressions.of(op.name, op.args, dtype), dtype, { x }) }
    end
    for _, one in ipairs { { low, "maximum(A, B)" }, { high, "minimum(A, B)" } } do
      local name, line = table.unpack(one)
      local by = name and (op.by[name] or op.args[name] ~= nil and g:fill(op.args[name], {}, dtype))
      if by then x = g:map(line, dtype, { x, by }) end
    end
    return { x }
  end
end

M.clamp, M.clip = bound("min", "max"), bound("min", "max")
M.clamp_min, M.clamp_max = bound("min", false), bound(false, "max")

function M.rrelu_with_noise(g, op)
  if op.args.training then return nil, "it draws its slopes at random; in eval() they are the middle of their range" end
  local slope = ((op.args.lower or 1 / 8) + (op.args.upper or 1 / 3)) / 2
  local x, dtype = op.x[1], op.out[1].dtype
  return { g:map(expressions.of("leaky_relu", { negative_slope = slope }, dtype), dtype, { x }) }
end

return M

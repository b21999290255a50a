-- operators: ways to write every operator that compose claims, as forwards on inputs of drawn shapes and types.
--   local groups = dofile "tests/compose/operators.lua"
--   local task = groups.draw(group, form, r, dtype)      -- { forward =, inputs =, setup = }
-- In a form, {word} stands for what the group drew: x.shape's sizes {n1}, {n2}, ..., an axis {d}, another one {e}.

local M = {}

--- Whole numbers from 1 to n, the same for the same seed.
function M.random(seed)
  local state = (seed * 2654435761 + 12345) % (1 << 31)
  return function(n)
    state = (state * 1103515245 + 12345) % (1 << 31)
    return state // 65536 % n + 1
  end
end

local function list(values) return table.concat(values, ", ") end

local function shape_text(shape) return #shape == 1 and ("(%d,)"):format(shape[1]) or "(" .. list(shape) .. ")" end

local reals = { "float32", "float16", "bfloat16", "float64" }
local wholes = { "int64", "int32", "int16", "int8", "uint8" }
local single = { "float32" }

-- Sizes with tails, primes, ones; `rank` dimensions at least.
local sizes = { 1, 2, 3, 5, 7, 8, 13, 16, 31, 33, 64, 65, 100 }
local function shape(r, least, most)
  local s, n = {}, 1
  for d = 1, least + r(most - least + 1) - 1 do
    s[d] = sizes[r(#sizes)]
    if n * s[d] > 20000 then s[d] = 2 end
    n = n * s[d]
  end
  return s
end

local function fill(dtype, s, how)
  if how == "mask" then return ("torch.rand(%s) > 0.4"):format(shape_text(s)) end
  if dtype == "bool" then return ("torch.rand(%s) > 0.5"):format(shape_text(s)) end
  if dtype:find "int" then
    local low = how == "positive" and 1 or dtype == "uint8" and 0 or -9
    return ("torch.randint(%d, 10, %s, dtype=torch.%s)"):format(low, shape_text(s), dtype)
  end
  if how == "positive" then return ("(torch.rand(%s) + 0.1).to(torch.%s)"):format(shape_text(s), dtype) end
  return ("torch.randn(%s, dtype=torch.%s)"):format(shape_text(s), dtype)
end

-- Axes, sizes: the words that a form may use of a shape.
local function words(r, s, dtype)
  local w = { dtype = "torch." .. dtype, rank = #s, shape = shape_text(s) }
  if #s > 0 then
    local d = r(#s)
    w.d, w.e, w.nd = d - 1, d % #s, s[d]
    w.last, w.k = s[#s], r(s[d])
  end
  for k, n in ipairs(s) do w["n" .. k] = n end
  return w
end

-- A group of forms of x alone, or of x and y which broadcasts to it.
local function elementwise(name, dtypes, how, forms, second)
  return { name = name, dtypes = dtypes, forms = forms, draw = function(r, dtype)
    local s = shape(r, 0, 4)
    local inputs = { fill(dtype, s, how) }
    if second then
      local t = {}
      for d = r(#s + 1), #s do t[#t + 1] = r(3) == 1 and 1 or s[d] end
      inputs[2] = fill(dtype, t, second)
    end
    return inputs, words(r, s, dtype)
  end }
end

-- Of one tensor with dimensions: reductions, norms, scans, moves.
local function shaped(name, dtypes, least, most, forms, how)
  return { name = name, dtypes = dtypes, forms = forms, draw = function(r, dtype)
    local s = shape(r, least, most)
    return { fill(dtype, s, how) }, words(r, s, dtype)
  end }
end

local function image(name, dtypes, dims, forms, setup)
  return { name = name, dtypes = dtypes, forms = forms, setup = setup, draw = function(r, dtype)
    local s = { r(3), 4 * r(3) }
    for _ = 1, dims do s[#s + 1] = 6 + r(9) end
    return { fill(dtype, s) }, words(r, s, dtype)
  end }
end

M.groups = {
  elementwise("of one real number", reals, nil, {
    "x.abs()", "-x", "x.exp()", "x.exp2()", "x.expm1()", "x.sin()", "x.cos()", "x.tan()", "x.tanh()", "x.sinh()", "x.cosh()", "x.atan()",
    "x.asinh()", "x.erf()", "x.erfc()", "x.sigmoid()", "x.floor()", "x.ceil()", "x.round()", "x.trunc()", "x.frac()", "x.sign()", "x.sgn()",
    "x.square()", "x ** 3", "2 ** x", "x.isnan()", "x.isinf()", "x.isfinite()", "x.nan_to_num()", "x.nan_to_num(1.5, 2, -3)", "x.logical_not()",
    "F.relu(x)", "F.relu6(x)", "F.leaky_relu(x, 0.2)", "F.elu(x, 1.5)", "F.selu(x)", "F.celu(x, 0.7)", "F.gelu(x)",
    "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)", "F.softplus(x, 2, 3)", "F.hardtanh(x, -2, 0.5)", "F.hardswish(x)",
    "F.hardsigmoid(x)", "F.hardshrink(x)", "F.softshrink(x)", "F.tanhshrink(x)", "F.softsign(x)", "F.logsigmoid(x)", "F.threshold(x, 0.3, 7)",
    "x.clamp(-1, 0.5)", "x.clamp(min=0)", "x.clamp(max=0.1)", "x.clip(-0.5, 2)", "x.clamp_min(0.1)", "x.clamp_max(0.1)", "x.clone()", "x.contiguous()",
    "x + 1.5", "1 - x", "x * 2", "x / 3", "x.to(torch.float64)", "x.to(torch.float16)", "x.float()", "(x.clamp(-5, 5).nan_to_num() * 10).to(torch.int32)", "x.bool()",
    "torch.zeros_like(x) + x", "torch.ones_like(x) * x", "torch.full_like(x, 2.5) - x", "x.new_zeros(3) + x.sum()", "x.new_ones(2) * x.amax()", "x.new_full((2,), 7) + x.amin()",
    "torch.deg2rad(x)", "torch.rad2deg(x)", "torch.sinc(x)", "torch.special.ndtr(x)", "torch.special.entr(x)", "torch.special.erfcx(x.clamp(min=-2))", "(x.tanh() * 0.9).erfinv()",
    "torch.digamma(x)", "torch.polygamma(1, x)", "torch.i0(x.float())", "torch.special.i0e(x.float())", "torch.special.i1e(x.float())", "torch.special.i1(x.float())", "torch.special.log_ndtr(x)", "torch.special.ndtri(x.float().sigmoid())",
    "torch.special.bessel_j0(x.float())", "torch.special.bessel_j1(x.float())", "F.rrelu(x)", "F.hardshrink(x, -0.3)",
    "torch.where(x > 0.1, x, -1.0)", "x.masked_fill(x > 0.3, -2.0)", "torch.lerp(x, x * 2, 0.3)" }),
  elementwise("of one positive number", reals, "positive", {
    "x.log()", "x.log2()", "x.log10()", "x.log1p()", "x.sqrt()", "x.rsqrt()", "x.reciprocal()", "x ** 0.5", "x ** -1", "x ** -2", "x ** -0.5",
    "x ** 1.7", "(x * 0.8).logit()", "x.logit(0.2)", "(x * 0.9).asin()", "(x * 0.9).acos()", "(x + 1).acosh()", "(x * 0.9).atanh()" }),
  elementwise("of two real numbers", reals, nil, {
    "x + y", "x - 2 * y", "x * y", "x / y", "torch.rsub(x, y)", "torch.maximum(x, y)", "torch.minimum(x, y)", "torch.fmax(x, y)", "torch.fmin(x, y)",
    "torch.max(x, y)", "torch.fmod(x, y)", "torch.remainder(x, y)", "torch.floor_divide(x, y)", "torch.div(x, y, rounding_mode='trunc')",
    "torch.div(x, y, rounding_mode='floor')", "torch.atan2(x, y)", "x > y", "x >= y", "x < y", "x <= y", "x == y", "x != y", "torch.where(x > 0, y, x)",
    "x.masked_fill(x < y, 2.0)", "torch.lerp(x, y, 0.3)", "torch.lerp(x, y, 0.7)", "torch.addcmul(x, x, y, value=0.5)", "torch.addcdiv(x, x, y)",
    "torch.logical_and(x, y)", "torch.logical_or(x > 0, y > 0)", "torch.logical_xor(x > 0, y > 0)", "x.abs().pow(y)", "torch.xlogy(x, y.abs())",
    "torch.copysign(x, y)", "torch.hypot(x, y)", "torch.logaddexp(x, y)", "torch.logaddexp2(x, y)", "torch.heaviside(x, y)", "torch.special.xlog1py(x, y.abs())",
    "F.soft_margin_loss(x, y.sign().expand_as(x), reduction='none')",
    "x.clamp(-y.abs(), y.abs())", "x.clamp(min=y)", "F.mse_loss(x, y.expand_as(x), reduction='none')", "x.copy_(y)", "x + 0 * y",
    "F.smooth_l1_loss(x, y.expand_as(x), reduction='none')", "F.huber_loss(x, y.expand_as(x), reduction='none', delta=0.7)" }, "any"),
  elementwise("of whole numbers", wholes, nil, {
    "x + 3", "-x", "x.abs()", "x * 2", "x ** 2", "x ** 3", "~x", "x.clamp(1, 4)", "x.float() * 0.5", "x.to(torch.int32) + 1", "x.to(torch.uint8)",
    "x.sign()", "x.bool()", "x.square()", "x > 2", "x.half()", "x.double()", "x / 2", "x.float().sqrt()", "x.sigmoid()", "F.relu(x)", "x % 4", "x // 3", "x << 1", "x >> 1",
    "x.floor()", "x.isnan()", "x.to(torch.float16) / 255", "x.to(torch.bfloat16)", "x.exp()" }),
  elementwise("of two whole numbers", wholes, nil, {
    "x + y", "x - y", "x * y", "x // y", "x % y", "torch.fmod(x, y)", "torch.div(x, y, rounding_mode='trunc')", "x / y", "x & y", "x | y", "x ^ y", "x > y", "x == y",
    "torch.maximum(x, y)", "torch.minimum(x, y)", "torch.where(x > y, x, y)", "torch.where(x > 2, x, 0)", "x.masked_fill(x > y, 1)", "x.clamp(max=y)",
    "torch.addcmul(x, x, y)", "x + y * 1.5", "torch.rsub(x, y)" }, "positive"),
  elementwise("of truth values", { "bool" }, nil, {
    "~x", "x.float() * 2", "x.int() + 1", "x & y", "x | y", "x ^ y", "torch.logical_and(x, y)", "x == y", "x != y", "x + y.int()", "torch.where(x, 1.5, 2.5)", "x * y",
    "x.half()", "torch.where(x, y, ~y)", "x.to(torch.int64) - y.to(torch.int64)", "x > y" }, "any"),
  shaped("reductions of real numbers", reals, 1, 4, {
    "x.sum()", "x.sum({d})", "x.sum(({d}, {e}) if {d} != {e} else {d})", "x.sum({d}, keepdim=True)", "x.mean()", "x.mean({d})", "x.amax({d})", "x.amin({d})", "x.max()", "x.min()",
    "x.max({d})[0]", "x.max({d})[1]", "x.min({d})[0]", "x.min({d})[1]", "x.argmax({d})", "x.argmin({d})", "x.argmax()", "x.argmin()", "x.var({d})", "x.std({d})",
    "x.var({d}, correction=0)", "torch.var_mean(x, {d}, correction=0)[1]", "torch.std_mean(x, {d}, correction=0)[0]", "x.norm()", "x.norm(dim={d})", "torch.linalg.vector_norm(x, 1, {d})",
    "torch.linalg.vector_norm(x, float('inf'), {d})", "torch.linalg.vector_norm(x, float('-inf'), {d})", "torch.linalg.vector_norm(x, 0, {d})",
    "torch.linalg.vector_norm(x, 3, {d})", "torch.logsumexp(x, {d})", "torch.logsumexp(x, ({d}, {e}) if {d} != {e} else {d}, True)", "(x > 0).any({d})", "(x > -9).all({d})", "(x > 0).any()",
    "x.any({d})", "x.all({d})", "(x * 0.1 + 1).prod({d})", "torch.aminmax(x, dim={d})[0]", "torch.aminmax(x, dim={d})[1]", "x.aminmax()[1]", "(x * 0.01 + 1).prod()",
    "x.sum({d}, dtype=torch.float32)", "torch.norm(x, p=3, dim={d})",
    "torch.where(x > 0.7, float('nan'), x).nansum({d})", "x.nansum()", "torch.nanmean(x, {d})", "torch.dist(x, x * 2 + 1)", "torch.dist(x, x * 2, 1)" }),
  shaped("reductions of whole numbers", wholes, 1, 3, {
    "x.sum()", "x.sum({d})", "x.amax({d})", "x.amin({d})", "x.max({d})[1]", "x.argmin({d})", "x.prod({d})", "x.any({d})", "x.all({d})", "x.max()", "x.float().mean({d})",
    "x.sum({d}, dtype=torch.float32)", "x.cumsum({d})", "x.argmax()" }),
  shaped("diagonals", { "float32", "int64", "bool" }, 2, 3, {
    "torch.diag_embed(x)", "torch.diag_embed(x, 2)", "torch.diag_embed(x, -1, 0, 2)", "torch.diag(x.flatten()[:9], 1)", "torch.diagonal_copy(x)", "torch.diagonal_copy(x, -1, 1, 0)",
    "torch.diagonal_scatter(x, torch.zeros_like(torch.diagonal_copy(x)))", "torch.select_scatter(x, x.select({d}, 0).flip(0), {d}, -1)", "torch.slice_scatter(x, x.narrow({d}, 0, {nd} // 2).logical_not().to(x.dtype), {d}, {nd} % 2, None, 2)",
    "torch.block_diag(x.flatten(1), x[0].flatten(), x[0].flatten(1)) if {rank} > 2 else torch.block_diag(x, x[0], x)" }),
  shaped("along an axis", reals, 1, 4, {
    "torch.softmax(x, {d})", "torch.log_softmax(x, {d})", "F.softmin(x, {d})", "x.cumsum({d})", "(x * 0.1 + 1).cumprod({d})", "F.normalize(x, dim={d})",
    "F.normalize(x, p=1, dim={d})", "torch.sort(x, {d})[0]", "torch.sort(x, {d}, descending=True)[0]", "torch.topk(x, {k}, {d})[0]", "torch.topk(x, {k}, {d}, largest=False)[0]",
    "torch.kthvalue(x, {k}, {d})[0]", "torch.msort(x)", "torch.softmax(x, {d}, dtype=torch.float32)",
    "torch.cummax(x, {d})[0]", "torch.cummin(x, {d})[0]", "torch.logcumsumexp(x, {d})", "x.median({d})[0]", "x.median()", "x.nanmedian({d}, True)[0]",
    "torch._softmax_backward_data(x, x.softmax({d}), {d}, {dtype})", "torch._log_softmax_backward_data(x, x.log_softmax({d}), {d}, {dtype})",
    "torch.softmax(x.masked_fill(x < 0, float('-inf')), {d}).nan_to_num(0.5)", "F.layer_norm(x, ({last},))", "F.rms_norm(x, ({last},))" }),
  shaped("order", { "float32", "int64" }, 1, 3, {
    "torch.argsort(x, {d}, stable=True)", "torch.sort(x, {d}, stable=True)[1]", "torch.sort(x, {d}, descending=True, stable=True)[1]", "x.gather({d}, x.argmax({d}, keepdim=True))",
    "torch.sort(x, {d})[0]", "torch.cummax(x, {d})[1]", "torch.cummin(x, {d})[1]", "torch.searchsorted(x.sort(-1)[0], x.flip(0).contiguous())",
    "torch.bucketize(x, torch.tensor([-2, -1, 0, 0, 3], dtype={dtype}), right=True)" }),
  shaped("moves", { "float32", "float16", "int64", "bool", "uint8" }, 1, 4, {
    "torch.cat((x, x.flip({d})), {d})", "torch.stack((x, ~x if x.dtype == torch.bool else x + 1), {d})", "x.flip({d})", "x.flip(({d}, {e}) if {d} != {e} else {d})", "x.roll(2, {d})", "x.roll((1, -1), ({d}, {e}))",
    "x.roll(3)", "F.pad(x, (1, 2))", "F.pad(x, (2, 0, 0, 3)) if x.dim() > 1 else F.pad(x, (0, 1))", "x.repeat(2, *[1] * {rank})", "x.repeat(*[2] * {rank})", "x.transpose({d}, {e}).contiguous()",
    "x.movedim({d}, 0).clone()", "x.reshape(-1).clone()", "x.narrow({d}, {k} - 1, {nd} - {k} + 1).clone()", "x.select({d}, {k} - 1).clone()", "x.unsqueeze({d}).expand(*x.shape[:{d}], 3, *x.shape[{d}:]).clone()",
    "x.unfold({d}, {k}, 2).clone()", "x.split({k}, {d})[-1].clone()", "x.chunk(3, {d})[0].clone()", "x[..., ::2].clone()", "x.index_select({d}, torch.arange({nd}).flip(0))",
    "x.as_strided((2, ({last} + 1) // 2), (1, 1)).clone()", "x.squeeze().clone()", "x.flatten().clone()", "x.unflatten({d}, (1, {nd})).clone()", "x.tile(2).clone()", "x.repeat_interleave(2, {d})",
    "torch.rot90(x, {k}, ({d}, {e})) if {d} != {e} else x.clone()", "torch.take(x, torch.tensor([0, -1]))", "x.masked_scatter(x.bool(), x.flip(0))", "torch.narrow_copy(x, {d}, {k} - 1, 1)",
    "torch.view_copy(x, (-1,))", "torch.transpose_copy(x, {d}, {e})", "torch.unsqueeze_copy(x, {d})", "torch.split_copy(x, {k}, {d})[0]",
    "torch.diag_embed(x)", "x.index_select({d}, torch.tensor([0, {k} - 1]))", "torch.zeros({nd} + 2, dtype={dtype})[1:-1].copy_(x.select({e}, 0).reshape(-1)[:1].expand({nd})).clone()",
    "torch.empty_like(x).copy_(x)", "torch.full({shape}, 1, dtype={dtype}).add_(x.to({dtype})) if {dtype} != torch.bool else x.clone()", "x.movedim(0, -1).reshape(-1).clone()", "x.diff(dim={d}) if {dtype} != torch.bool else x.clone()" }),
  shaped("matrices", reals, 2, 4, {
    "x.tril()", "x.triu(1)", "x.tril(-1)", "x.triu(-2)", "x.diagonal(0, -2, -1).clone()", "x @ x.transpose(-1, -2)", "x.mT @ x", "torch.eye({last}, dtype={dtype}) * x[..., :1, :]",
    "torch.arange({last}, dtype={dtype}) + x", "torch.linspace(0, 1, {last}, dtype={dtype}) + x", "torch.arange(1, 2 * {last} + 1, 2) + x", "torch.full(({last},), 2.5, dtype={dtype}) * x", "x.trace() if x.dim() == 2 else x.diagonal(0, -2, -1).sum(-1)",
    "x.zero_() + x.fill_(2)", "torch.ones({last}, dtype={dtype}) * x", "torch.zeros({last}, dtype={dtype}) - x", "torch.scalar_tensor(3.5, dtype={dtype}) * x", "torch.tril(torch.ones({last}, {last}, dtype={dtype})) * x[..., :1, :]",
    "F.glu(torch.cat((x, x + 1), -1), -1)", "x.logsumexp(-1)", "torch.outer(x.reshape(-1)[:40], x.reshape(-1)[:30])", "F.layer_norm(x, x.shape[-2:])" }),
  { name = "picks", dtypes = { "float32", "float16", "int64" }, forms = {
    "x[z]", "x.gather(1, w)", "x.index_select(0, z[0])", "x.index_select(1, w[0])", "x.t()[:, z]", "torch.take_along_dim(x, w, 1)", "x[z[0], w[:1].expand(z.shape[1], -1)[:, 0]]",
    "x.scatter(1, w, x[:w.shape[0], :w.shape[1]] + 1)", "x.scatter(1, w, 7)", "torch.zeros_like(x).scatter_add_(1, w, x)", "x.scatter_add(0, z[:1, :1].expand(1, x.shape[1]), x)", "x[z.min()]", "x[:, w[0]]",
    "F.embedding(z, x)", "x[-1 - z]", "x[:, 0][z]", "x.scatter_reduce(1, w, x[:w.shape[0], :w.shape[1]] + 1, 'prod')", "x.scatter_reduce(1, w, x + 1, 'sum', include_self=False)",
    "x.index_put((z[0],), x[0] * 2)", "x.index_put((z[:1], w[:1, :1]), x[:1, :1], accumulate=True)" },
    draw = function(r, dtype)
      local n, c = 1 + sizes[r(#sizes)], 1 + sizes[r(#sizes)]
      local rows = r(n)
      return { fill(dtype, { n, c }), ("torch.randn(3)"),
               ("torch.randint(0, %d, (%d, %d))"):format(n, r(5), r(7)),
               ("torch.randn(%d, %d).argsort(1)[:, :%d].contiguous()"):format(rows, c, r(c)) }, words(r, { n, c }, dtype)
    end },
  { name = "picks of real numbers", dtypes = single, forms = {
    "x.scatter_reduce(1, w, x[:w.shape[0], :w.shape[1]] + 1, 'amax')", "x.scatter_reduce(1, w, x + 1, 'mean', include_self=False)", "x.index_reduce(1, w[0], x[:, :w.shape[1]], 'amin')", "x.index_put((x > 1,), torch.tensor(0.5))",
    "F.embedding_bag(z, x)", "F.embedding_bag(z, x, mode='sum')", "F.embedding_bag(z, x, mode='max')", "F.embedding_bag(z.flatten(), x, torch.tensor([0, 1, 1]), mode='sum')",
    "F.embedding_bag(z, x, mode='mean', padding_idx=0)", "F.embedding_bag(z, x, mode='sum', per_sample_weights=x[z, 0])", "x.trace()" },
    draw = function(r, dtype)
      local n, c = 1 + sizes[r(#sizes)], 1 + sizes[r(#sizes)]
      return { fill(dtype, { n, c }), ("torch.randn(3)"), ("torch.randint(0, %d, (%d, %d))"):format(n, r(5), r(7)),
               ("torch.randn(%d, %d).argsort(1)[:, :%d].contiguous()"):format(r(n), c, r(c)) }, words(r, { n, c }, dtype)
    end },
  { name = "grids", dtypes = { "float32", "float64" }, forms = (function()
      local list = { "F.grid_sample(x, F.affine_grid(z, x.shape, align_corners=True), align_corners=True)", "F.affine_grid(z, x.shape, align_corners=False)" }
      for _, mode in ipairs { "bilinear", "nearest", "bicubic" } do
        for k, outside in ipairs { "zeros", "border", "reflection" } do
          list[#list + 1] = ("F.grid_sample(x, y, mode='%s', padding_mode='%s', align_corners=%s)"):format(mode, outside, k % 2 == 0 and "True" or "False")
        end
      end
      return list
    end)(), draw = function(r, dtype)
      local s = { r(3), r(4), 1 + r(9), 1 + r(9) }
      return { fill(dtype, s), ("torch.rand((%d, %d, %d, 2), dtype=torch.%s) * 2.4 - 1.2"):format(s[1], r(6), r(6), dtype), fill(dtype, { s[1], 2, 3 }) }, words(r, s, dtype)
    end },
  { name = "losses", dtypes = single, forms = {
    "F.cross_entropy(x, z)", "F.cross_entropy(x, z, weight=y[0].abs())", "F.cross_entropy(x, z, reduction='none')", "F.cross_entropy(x, z, ignore_index=0)", "F.nll_loss(x, z, reduction='sum')",
    "F.cross_entropy(x, z, label_smoothing=0.1)", "F.nll_loss(x[..., None, None].expand(-1, -1, 2, 3), z[:, None, None].expand(-1, 2, 3))", "F.mse_loss(x, y)", "F.mse_loss(x, y, reduction='sum')", "F.l1_loss(x, y)", "F.smooth_l1_loss(x, y, beta=0.5)",
    "F.huber_loss(x, y, delta=0.7)", "F.kl_div(x, y.softmax(1), reduction='batchmean')", "F.binary_cross_entropy(x.sigmoid().nan_to_num(0.5), y.sigmoid().nan_to_num(0.5))",
    "F.binary_cross_entropy_with_logits(x, y.sigmoid())", "F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=y[0].abs() + 1)", "F.cosine_similarity(x, y)", "F.triplet_margin_loss(x, y, x + 1)", "F.hinge_embedding_loss(x, y.sign())",
    "F.pairwise_distance(x, y)", "F.poisson_nll_loss(x, y.abs())", "F.soft_margin_loss(x, y.sign())", "F.margin_ranking_loss(x, y, y.sign())", "F.gaussian_nll_loss(x, y, y.abs() + 0.1)",
    "F.multi_margin_loss(x, z)", "F.multi_margin_loss(x, z, p=2, margin=0.5, weight=y[0].abs(), reduction='none')" },
    draw = function(r, dtype)
      local n, c = sizes[r(#sizes)], 1 + sizes[r(#sizes)]
      return { fill(dtype, { n, c }), fill(dtype, { n, c }), ("torch.randint(0, %d, (%d,))"):format(c, n) }, words(r, { n, c }, dtype)
    end },
  image("norms", reals, 2, {
    "F.batch_norm(x, None, None, training=True)", "F.batch_norm(x, x.mean((0, 2, 3)), x.var((0, 2, 3)) + 1)", "F.instance_norm(x)", "F.group_norm(x, 4)", "F.group_norm(x, 1, x[0, :, 0, 0], x[0, :, 1, 1])",
    "F.layer_norm(x, x.shape[1:])", "F.layer_norm(x, x.shape[-1:], x[0, 0, 0], x[0, 0, 1])", "F.rms_norm(x, x.shape[-1:], x[0, 0, 0])", "F.local_response_norm(x, 3)", "self.b(x)", "self.e(x)" },
    function(w) return ("self.b = nn.BatchNorm2d(%d, dtype=%s)\nself.e = nn.BatchNorm2d(%d, dtype=%s).eval()"):format(w.n2, w.dtype, w.n2, w.dtype) end),
  image("pooling", { "float32", "float16", "bfloat16", "float64" }, 2, {
    "F.max_pool2d(x, 3)", "F.max_pool2d(x, 3, 2, 1)", "F.max_pool2d(x, (2, 3), 1, 1, 2)", "F.max_pool2d(x, 3, 2, ceil_mode=True)", "F.avg_pool2d(x, 3)", "F.avg_pool2d(x, 3, 2, 1)",
    "F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)", "F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)", "F.avg_pool2d(x, 2, divisor_override=3)", "F.adaptive_avg_pool2d(x, 1)",
    "F.adaptive_avg_pool2d(x, (5, 4))", "F.max_pool1d(x.flatten(2), 4, 3)", "F.avg_pool1d(x.flatten(2), 4, 3, 1)", "F.lp_pool2d(x, 2, 2)", "F.adaptive_max_pool2d(x, (3, 2))", "F.max_pool2d(x[0], 2)", "F.unfold(x, 3, padding=1, stride=2)",
    "F.interpolate(x, scale_factor=2)", "F.interpolate(x, size=(7, 5))", "F.pixel_shuffle(x, 2)", "F.channel_shuffle(x, 2)", "F.interpolate(x.flatten(2), scale_factor=3)", "F.pixel_unshuffle(x[..., :6, :6], 2)",
    "F.pad(x, (1, 2, 3, 0), mode='reflect')", "F.pad(x, (1, 2, 3, 0), mode='replicate')", "F.pad(x, (1, 2, 3, 0), mode='circular')", "F.pad(x, (-1, 1, 2, -2))", "F.fold(F.unfold(x, 2), x.shape[-2:], 2)", "F.interpolate(x, scale_factor=2, mode='bilinear')",
    "F.adaptive_avg_pool1d(x.flatten(2), 3)", "F.max_pool2d(x, 3, 2, return_indices=True)[1]", "F.max_pool2d(x, 3, 2, 1, return_indices=True)[1]", "F.adaptive_max_pool2d(x, (3, 2), return_indices=True)[1]",
    "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape[-2:])", "F.pad(x, (-1, 2, 1, -2), mode='replicate')", "F.pad(x, (-1, 2, 1, -2), mode='reflect')", "F.fold(F.unfold(x, 3, 2, 2, 2), x.shape[-2:], 3, 2, 2, 2)" }),
  image("resizing", { "float32", "float16", "float64" }, 2, {
    "F.interpolate(x, size=(9, 4), mode='nearest-exact')", "F.interpolate(x, size=(11, 4), mode='bilinear')", "F.interpolate(x, size=(5, 13), mode='bilinear', align_corners=True)",
    "F.interpolate(x, scale_factor=1.5, mode='bilinear')", "F.interpolate(x, scale_factor=0.4, mode='bilinear')", "F.interpolate(x, size=(5, 13), mode='bicubic')",
    "F.interpolate(x, scale_factor=2, mode='bicubic', align_corners=True)", "F.interpolate(x.flatten(2), scale_factor=3, mode='linear')", "F.interpolate(x, size=(1, 1), mode='bilinear', align_corners=True)" }),
  image("pooling in space", single, 3, {
    "F.interpolate(x, scale_factor=2, mode='trilinear')", "F.max_pool3d(x, 2, return_indices=True)[1]",
    "F.max_pool3d(x, 2)", "F.max_pool3d(x, 3, 2, 1)", "F.avg_pool3d(x, 3, 2, 1)", "F.adaptive_avg_pool3d(x, (2, 3, 4))", "F.adaptive_max_pool3d(x, 2)", "F.interpolate(x, scale_factor=2)", "F.adaptive_avg_pool3d(x, 1)" }),
  { name = "products", dtypes = reals, forms = {
    "x @ y", "torch.bmm(x, y)", "torch.baddbmm(z, x, y, beta=0.5, alpha=2)", "self.l(x)", "x[0] @ y[0]", "torch.mv(x[0], y[0, :, 0])", "torch.dot(x[0, 0], y[0, :, 0])", "torch.einsum('bij,bjk->bki', x, y)",
    "torch.einsum('bij,bij->b', x, x)", "x.transpose(1, 2) @ x", "torch.addmm(z[0], x[0], y[0], beta=2)", "torch.addmm(z[0, 0], x[0], y[0])", "torch.addmv(z[0, :, 0], x[0], y[0, :, 0], beta=0.5)", "torch.vdot(x[0, 0], y[0, :, 0])",
    "torch.tensordot(x, y, ((0, 2), (0, 1)))", "x[:, ::2] @ y", "F.relu(self.l(x)) + 1", "torch.baddbmm(z, x, y, beta=0)", "x.flip(1) @ y", "(x * 2) @ y.tanh()", "torch.kron(x[0, :3, :3], y[0, :2, :2])", "torch.matmul(x[:, None], y[None])",
    "torch.addbmm(z[0], x, y, beta=0.5, alpha=2)", "torch.addr(z[0], x[0, :, 0], y[0, 0], beta=0.5)", "F.bilinear(x[0], x[0], x[0, :2].reshape(-1, 1, 1) * y[0, None, :, :1] * x[0, None, :1, :])" },
    setup = function(w) return ("self.l = nn.Linear(%d, 6, dtype=%s)"):format(w.n3, w.dtype) end,
    draw = function(r, dtype)
      local b, m, k, n = r(3), sizes[r(#sizes)], sizes[r(#sizes)], sizes[r(#sizes)]
      return { fill(dtype, { b, m, k }), fill(dtype, { b, k, n }), fill(dtype, { b, m, n }) }, words(r, { b, m, k }, dtype)
    end },
  { name = "whole products", dtypes = { "int64", "int32" }, forms = { "x @ y", "x[0] @ y[0]", "torch.dot(x[0, 0], y[0, :, 0])" }, draw = function(r, dtype)
      local b, m, k, n = r(3), r(20), r(20), r(20)
      return { fill(dtype, { b, m, k }), fill(dtype, { b, k, n }) }, words(r, { b, m, k }, dtype)
    end },
  image("convolutions", { "float32", "float16", "float64" }, 2, {
    "self.a(x)", "self.b(x)", "self.c(x)", "self.d(x)", "self.e(x.flatten(2))", "self.h(x)", "self.a(x.transpose(2, 3))", "self.i(x)", "F.conv2d(x, x[:, :, :3, :3].contiguous())", "F.relu(self.a(x)) * 2", "self.k(x)", "F.conv2d(x[0], x[:, :, :2, :2].contiguous())" },
    function(w)
      local c, t = w.n2, w.dtype
      return (("self.a = nn.Conv2d(C, 6, 3, 2, 1, bias=False, dtype=T)\nself.b = nn.Conv2d(C, 8, 3, groups=4, dtype=T)\nself.c = nn.ConvTranspose2d(C, 6, 3, 2, 1, 1, dtype=T)\n"
        .. "self.d = nn.ConvTranspose2d(C, C, 3, 2, groups=4, dtype=T)\nself.e = nn.Conv1d(C, 5, 3, dilation=2, dtype=T)\nself.h = nn.Conv2d(C, 6, (3, 2), padding=(2, 1), padding_mode='circular', dtype=T)\n"
        .. "self.i = nn.Conv2d(C, C, 3, groups=C, padding='same', dtype=T)\nself.k = nn.Conv2d(C, 3, 1, dtype=T)"):gsub("%f[%w]C%f[%W]", tostring(c)):gsub("%f[%w]T%f[%W]", t))
    end),
  image("convolutions in space", single, 3, { "self.f(x)", "self.g(x)", "F.conv3d(x, x[:, :, :2, :2, :2].contiguous())" }, function(w)
    return ("self.f = nn.Conv3d(%d, 3, 2)\nself.g = nn.ConvTranspose3d(%d, 2, 3, 2, 1)"):format(w.n2, w.n2) end),
  -- Where a size is no multiple of 16, PyTorch's own attention on a processor drops a NaN here and there.
  { name = "attention", dtypes = { "float32", "bfloat16" }, forms = {
    "F.scaled_dot_product_attention(x, y, z)", "F.scaled_dot_product_attention(x, x, x, is_causal=True)", "F.scaled_dot_product_attention(x, y, z, attn_mask=w)",
    "F.scaled_dot_product_attention(x, y, z, attn_mask=w > 0, scale=0.3)" },
    draw = function(r, dtype)
      local b, h, m, n, k = r(2), r(3), 16 * r(3), 16 * r(3), 16 * r(2)
      return { fill(dtype, { b, h, m, k }), fill(dtype, { b, h, n, k }), fill(dtype, { b, h, n, k }), fill(dtype, { m, n }) }, words(r, { b, h, m, k }, dtype)
    end },
  { name = "attention with projections", dtypes = single, forms = {
    "torch._native_multi_head_attention(x, x, x, {k}, {h}, self.w, self.b, self.p, self.c, None, False)[0]",
    "torch._native_multi_head_attention(x, y, y, {k}, {h}, self.w, self.b, self.p, self.c, None, False)[0]" }, setup = function(w)
      return ("self.w = nn.Parameter(torch.randn(%d, %d) / 8)\nself.b = nn.Parameter(torch.randn(%d))\nself.p = nn.Parameter(torch.randn(%d, %d) / 8)\nself.c = nn.Parameter(torch.randn(%d))")
        :format(3 * w.k, w.k, 3 * w.k, w.k, w.k, w.k)
    end, draw = function(r, dtype)
      local h, s = r(3), { r(3), 16 * r(2) }
      local w = words(r, s, dtype)
      w.h, w.k = h, h * 8 * r(2)
      s[3] = w.k
      return { fill(dtype, s), fill(dtype, s) }, w
    end },
  { name = "cells", dtypes = single, forms = { "self.l(x)[0]", "self.l(x)[1][0]", "self.g(x)[0]", "self.r(x)[0]", "self.u(x)[0]", "self.t(x)[0]" }, setup = function(w)
      local n = w.n3
      return ("self.l = nn.LSTM(%d, 5, 2)\nself.g = nn.GRU(%d, 6, bidirectional=True)\nself.r = nn.RNN(%d, 4)\nself.u = nn.RNN(%d, 7, nonlinearity='relu')\nself.t = nn.LSTM(%d, 4, batch_first=True, bias=False)"):format(n, n, n, n, n)
    end, draw = function(r, dtype)
      local s = { r(5), r(4), r(9) }
      return { fill(dtype, s) }, words(r, s, dtype)
    end },
  { name = "empty and single axes", dtypes = single, forms = {
    "x.sum(1)", "x.sum(0)", "x.mean(0)", "x.prod(1)", "x.any(1)", "x.all(1)", "torch.logsumexp(x, 1)", "x.cumsum(1)", "torch.softmax(x, 1)", "x.norm(dim=1)", "torch.cat((x, y[:, None] * 2), 1)", "x.flip(1)", "x @ x.t()",
    "x.t() @ x", "F.pad(x, (0, 2), value=1.5)", "x.reshape(-1) * 2", "x[:0] + 1", "x.var(0)", "F.layer_norm(x, x.shape[1:]) if x.shape[1] else x + 1", "x.sort(1)[0]", "torch.stack((x, x))", "x.amax(1) if x.shape[1] else x.sum()",
    "F.linear(x, x)", "x.repeat(2, 1)", "x.transpose(0, 1) + 1", "torch.relu(x)", "x.sum()", "x.mean()", "x.max() if x.numel() else x.sum()", "x.std(1)" },
    draw = function(r, dtype)
      local s = ({ { 4, 0 }, { 0, 3 }, { 1, 1 }, { 5, 1 }, { 1, 6 }, { 0, 0 } })[r(6)]
      return { fill(dtype, s), fill(dtype, { s[1] }) }, words(r, s, dtype)
    end },
}

local function filled(text, w) return (text:gsub("{(%w+)}", function(word) return tostring(w[word]) end)) end

--- A task of some forms of a group, each an output: { forward, inputs, setup }, as texts of Python. Another one, of
--- an input of its own, says something of the inputs where the forms do not.
function M.draw(group, forms, r, dtype)
  local inputs, w = group.draw(r, dtype)
  local texts, names = {}, { "x", "y", "z", "w", "v" }
  inputs[#inputs + 1] = "torch.randn(3)"
  for k, form in ipairs(forms) do texts[k] = filled(form, w) end
  texts[#texts + 1] = names[#inputs] .. " * 2"
  return { forward = "return (" .. list(texts) .. ",)", inputs = "[" .. list(inputs) .. "]", setup = group.setup and group.setup(w) or nil }
end

return M

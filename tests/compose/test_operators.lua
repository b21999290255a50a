-- Operators, many to a task: each output is one, on shapes with tails, whole and real types.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

-- A forward that returns all of these.
local function all(list) return "return (" .. table.concat(list, ",\n  ") .. ",)" end

local function each(name, inputs, setup, list)
  check.test(name, function() right(all(list), inputs, setup) end)
end

each("functions of one real number", "[torch.randn(7, 33)]", nil, {
  "x.abs()", "-x", "x.exp()", "x.exp2()", "x.expm1()", "x.sin()", "x.cos()", "x.tanh()", "x.sinh()", "x.cosh()",
  "x.atan()", "x.asinh()", "x.erf()", "x.erfc()", "x.sigmoid()", "x.floor()", "x.ceil()", "x.round()", "x.trunc()",
  "x.frac()", "x.sign()", "x.square()", "x ** 3", "2 ** x", "torch.sgn(x)", "torch.signbit(x)" })

each("functions of one positive number", "[torch.rand(7, 33) + 0.1]", nil, {
  "x.log()", "x.log2()", "x.log10()", "x.log1p()", "x.sqrt()", "x.rsqrt()", "x.reciprocal()", "x ** 0.5", "x ** -1",
  "x ** 1.7", "torch.logit(x * 0.8)", "torch.logit(x, 0.2)" })

each("activations", "[torch.randn(5, 44) * 3]", "self.p = nn.PReLU(44)", {
  "F.relu(x)", "F.relu6(x)", "F.leaky_relu(x, 0.2)", "F.elu(x, 1.5)", "F.selu(x)", "F.celu(x, 0.7)", "F.gelu(x)",
  "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)", "F.softplus(x, 2, 3)", "F.hardtanh(x, -2, 0.5)", "F.hardswish(x)",
  "F.hardsigmoid(x)", "F.hardshrink(x)", "F.softshrink(x)", "F.tanhshrink(x)", "F.softsign(x)", "F.logsigmoid(x)",
  "F.threshold(x, 0.3, 7)", "self.p(x)", "x.clamp(-1, 0.5)", "x.clamp(min=0)", "x.clamp(max=0.1)", "x + x.clamp(1, -1)", "x.clamp(x * 0.5, x.abs())", "F.glu(x)",
  "torch.nan_to_num(x)" })

each("functions of two", "[torch.randn(6, 1, 21), torch.randn(5, 21) + 3]", nil, {
  "x + y", "x - 2 * y", "x * y", "x / y", "torch.rsub(x, y)", "torch.maximum(x, y)", "torch.minimum(x, y)", "x ** 2 + y",
  "torch.fmod(x, y)", "torch.remainder(x, y)", "torch.floor_divide(x, y)", "torch.div(x, y, rounding_mode='trunc')",
  "torch.atan2(x, y)", "x > y", "(x <= y) & (y != 3)", "torch.where(x > 0, y, x)", "torch.where(x > 0, y, 0.5)",
  "x.masked_fill(x < 0, 2.0)", "torch.lerp(x, y, 0.3)", "torch.addcmul(x, x, y, value=0.5)", "torch.addcdiv(x, x, y)",
  "torch.logical_or(x > 0, y > 3)", "torch.copysign(x, y)", "torch.copysign(x, -1.5)", "torch.copysign(x, -0.0)", "torch.angle(x)", "torch.hypot(x, y)", "torch.logaddexp(x, y)", "torch.logaddexp2(x, y)", "torch.heaviside(x, y)",
  "torch.special.xlog1py(y, x.abs())", "torch.sinc(x)", "torch.special.ndtr(x)", "torch.special.entr(x)", "torch.deg2rad(x)", "y.pow(x)", "torch.where(x > 0, 0.5, y)" })

each("whole numbers", "[torch.randint(-9, 9, (6, 31)), torch.randint(1, 5, (6, 31))]", nil, {
  "x + y", "x * y - 3", "x // y", "x % y", "-x", "x.abs()", "x / y", "x ** 2", "x & y", "x | y", "x ^ y", "~x", "x > y", "x.clamp(-2, 3)",
  "x.float() * 0.5", "x.to(torch.int32) + 1", "(x > 0).int()", "x.sum(1)", "x.amax(0)", "x.prod(1)", "x.sign()", "x.bool()", "torch.signbit(x)", "torch.gcd(x * 6, y * 4)", "torch.gcd(x.int(), y.int())",
  "x.to(torch.uint8)", "torch.maximum(x, y)", "torch.where(x > 0, x, y)" })

each("numbers where a tensor may stand", "[torch.rand(6, 31) * 3 + 1, torch.randint(-9, 9, (6, 31))]", nil, {
  "torch.remainder(3.5, x)", "5 // x", "torch.xlogy(2.5, x)", "torch.xlogy(x, 2.5)", "torch.special.xlog1py(2.5, x)", "torch.special.xlog1py(x, 2.5)",
  "torch.bitwise_and(5, y)", "torch.where(x > 2, 2.5, 3.5)", "torch.where(x > 2, 2.5, y)", "2 ** x", "x.masked_fill(y > 0, 2.5)" })

each("reduces", "[torch.randn(6, 37, 5)]", nil, {
  "x.sum()", "x.sum(1)", "x.mean((0, 2))", "x.mean()", "x.amax(2)", "x.amin((0, 1))", "x.max(1)[0]", "x.max(1)[1]", "x.min(2)[1]",
  "x.max()", "x.argmax(1)", "x.argmin(0)", "x.argmax()", "x.var(1)", "x.std(2)", "x.var((0, 1), correction=0)", "torch.var_mean(x, 1)[1]",
  "x.norm()", "x.norm(dim=1)", "torch.linalg.vector_norm(x, 1, 2)", "torch.linalg.vector_norm(x, float('inf'), 1)",
  "torch.linalg.vector_norm(x, 3, 1)", "torch.logsumexp(x, 1)", "torch.logsumexp(x, (0, 2), True)", "(x > 0).any(1)", "torch.count_nonzero(x)", "torch.count_nonzero((x * 2).round(), 1)", "torch.count_nonzero(x > 0, (0, 2))", "(x > -9).all(2)",
  "(x * 0.1 + 1).prod(1)", "torch.aminmax(x, dim=1)[0]", "x.sum(1, keepdim=True)" })

each("distances of rows and slices", "[torch.randn(3, 30, 17), torch.randn(3, 28, 17)]", nil, {
  "torch.cdist(x, y)", "torch.cdist(x[:, :6], y[:, :5])", "torch.cdist(x[0], y[1], p=1)", "torch.cdist(x[1], y[0], p=3)",
  "torch.unbind_copy(x)[1]", "torch.unbind_copy(x, -1)[16]", "torch.unbind_copy(y, 1)[0]" })

each("norms", "[torch.randn(4, 12, 5, 7)]", "self.b = nn.BatchNorm2d(12)\nself.i = nn.InstanceNorm2d(12, affine=True)\n"
  .. "self.g = nn.GroupNorm(4, 12)\nself.l = nn.LayerNorm((5, 7))\nself.r = nn.RMSNorm(7)\nself.e = nn.BatchNorm2d(12).eval()\n"
  .. "self.w = nn.Parameter(torch.randn(12))", {
  "self.b(x)", "self.i(x)", "self.g(x)", "self.l(x)", "self.r(x)", "self.e(x)", "F.softmax(x, 1)", "F.log_softmax(x, 3)", "F.softmin(x, 2)",
  "F.normalize(x, dim=1)", "F.normalize(x, p=1, dim=3)", "F.group_norm(x, 3)", "F.layer_norm(x, (7,))", "F.instance_norm(x)",
  "F.local_response_norm(x, 3)", "torch.renorm(x, 2, 0, 20.5)", "torch.renorm(x, 1, -1, 160)", "torch.renorm(x, float('inf'), 1, 2.5)" })

each("pooling", "[torch.randn(2, 3, 13, 11)]", nil, {
  "F.max_pool2d(x, 3)", "F.max_pool2d(x, 3, 2, 1)", "F.max_pool2d(x, (2, 3), 1, 1, 2)", "F.max_pool2d(x, 3, 2, ceil_mode=True)",
  "F.avg_pool2d(x, 3)", "F.avg_pool2d(x, 3, 2, 1)", "F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)",
  "F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)", "F.avg_pool2d(x, 2, divisor_override=3)", "F.adaptive_avg_pool2d(x, 1)",
  "F.adaptive_avg_pool2d(x, (5, 4))", "F.max_pool1d(x.flatten(2), 4, 3)", "F.avg_pool1d(x.flatten(2), 4, 3, 1)",
  "F.avg_pool3d(x, 3, 2, 1)", "F.max_pool3d(x, 2)", "F.adaptive_avg_pool3d(x.unsqueeze(0), (2, 3, 4))", "F.lp_pool2d(x, 2, 2)" })

each("moves", "[torch.randn(4, 6, 5), torch.randn(4, 2, 5)]", nil, {
  "torch.cat((x, y), 1)", "torch.stack((x, x * 2), 1)", "x.flip(1)", "x.flip((0, 2))", "x.roll(2, 1)", "x.roll((1, -1), (0, 2))", "x.roll(3)", "x.tril()",
  "x.triu(1)", "F.pad(x, (1, 2, 0, 3))", "F.pad(x, (-1, 1), value=2.0)", "x.repeat(2, 1, 3)", "x.permute(2, 0, 1).contiguous()",
  "x.transpose(0, 2).reshape(5, 24)", "x[:, 1::2, 1:-1].clone()", "x.unfold(1, 3, 2).clone()", "x.expand(3, 4, 6, 5).sum(0)",
  "x.chunk(3, 1)[1] * 1", "torch.arange(5) * x", "torch.linspace(0, 1, 5) + x", "torch.eye(6, 5) * x", "torch.zeros_like(x) + 1",
  "F.interpolate(x, scale_factor=2)", "F.pixel_shuffle(x.reshape(1, 24, 1, 5), 2)", "x.diagonal(dim1=1, dim2=2) * 2",
  "torch.tril(torch.ones(6, 6)) @ x", "x.as_strided((3, 4), (2, 5), 3) * 1", "torch.full((5,), 2.5) * x", "F.channel_shuffle(x, 3)", "F.pixel_unshuffle(x[:, :4, :4], 2)",
  "F.pad(x, (2, 1), mode='reflect')", "F.pad(x[None], (1, 2, 3, 0), mode='replicate')", "torch.linspace(3, 4, 1) + x" })

each("resizing", "[torch.randn(2, 3, 7, 6)]", nil, {
  "F.interpolate(x, scale_factor=2, mode='bilinear')", "F.interpolate(x, size=(11, 4), mode='bilinear', align_corners=True)", "F.interpolate(x, scale_factor=0.4, mode='bilinear')",
  "F.interpolate(x, size=(5, 13), mode='bicubic')", "F.interpolate(x, size=(9, 4), mode='nearest-exact')", "F.interpolate(x[None], scale_factor=2, mode='trilinear')",
  "F.interpolate(x.double(), size=(5, 13), mode='bicubic')", "F.interpolate(x.double(), size=(11, 5), mode='bilinear', align_corners=True)",
  "F.interpolate(x.flatten(2), scale_factor=1.5, mode='linear')", "F.fold(F.unfold(x, (3, 2), (1, 2), 1, (2, 3)), (7, 6), (3, 2), (1, 2), 1, (2, 3))",
  "F.max_pool2d(x, (2, 3), 2, dilation=(2, 1), return_indices=True)" })

each("resizing with a filter against aliasing", "[torch.randn(2, 3, 7, 6)]", nil, {
  "F.interpolate(x, size=(9, 5), mode='bicubic', antialias=True)", "F.interpolate(x, size=(3, 5), mode='bilinear', antialias=True)",
  "F.interpolate(x, size=(14, 12), mode='bicubic', antialias=True, align_corners=True)", "F.interpolate(x, scale_factor=0.4, mode='bilinear', antialias=True)",
  "F.interpolate(x, size=(1, 2), mode='bicubic', antialias=True)", "F.interpolate(x, size=(7, 6), mode='bicubic', antialias=True)",
  "F.interpolate(x.double(), size=(4, 11), mode='bicubic', antialias=True)" })

each("diagonals", "[torch.randn(4, 5, 6), torch.randn(4, 6), torch.randn(4, 5)]", nil, {
  "torch.diag_embed(z, 2)", "torch.diag_embed(z, -1, 0, 2)", "torch.diag(z[0], 1)", "torch.diagonal_copy(x, 1, 1, 2)", "torch.diagonal_scatter(z, y[:, 0], 1)", "torch.select_scatter(x, y, 1, -2)",
  "torch.slice_scatter(x, y[:, None].expand(4, 2, 6), 1, 1, 5, 2)", "torch.block_diag(z, y, y[0])", "torch.addr(y, y[:, 0], x[0, 0], beta=0.5, alpha=2)", "torch.addbmm(z[:, :4], x.transpose(1, 2)[:, :4], x[..., :4])" })

each("picks", "[torch.randn(9, 6), torch.randint(0, 9, (4, 3)), torch.randint(0, 6, (9, 2))]", "self.e = nn.Embedding(9, 7)", {
  "x[y]", "self.e(y)", "x.gather(1, z)", "x.index_select(0, y[0])", "x[y[:, 0], z[:4, 1]]", "x.t()[:, y]", "torch.take_along_dim(x, z, 1)",
  "F.cross_entropy(x, z[:, 0])", "F.nll_loss(x, z[:, 1], reduction='sum')",
  "torch.zeros(9, 6, dtype=torch.int64).scatter_(1, z, 1)", "torch.zeros_like(x).scatter_add_(1, z, x)", "x.scatter(0, z, x * 2)" })

each("running extremes, medians, places in order", "[torch.randn(6, 37), torch.randn(6, 37)]", nil, {
  "torch.cummax(x, 1)[0]", "torch.cummax(x, 1)[1]", "torch.cummin(x, 0)[0]", "torch.logcumsumexp(x, 1)", "x.median(1)[0]", "x.median()",
  "torch.where(x > 1, float('nan'), x).nanmedian(1)[0]", "torch.where(x > 1, float('nan'), x).nansum(0)", "x.trace()", "torch.dist(x, y)",
  "torch.searchsorted(x.sort(1)[0], y)", "torch.bucketize(x, torch.tensor([-1., 0., 0., 2.]), right=True)",
  "torch._softmax_backward_data(x, y.softmax(1), 1, torch.float32)", "torch._log_softmax_backward_data(x, y.log_softmax(0), 0, torch.float32)" })

each("special functions", "[torch.randn(6, 37)]", nil, {
  "torch.digamma(x)", "torch.polygamma(1, x)", "torch.special.i0e(x)", "torch.special.i1e(x)", "torch.special.log_ndtr(x)", "F.rrelu(x)", "F.hardshrink(x, -0.3)", "torch.ldexp(x, x.round())", "torch.special.bessel_y0(x.abs())", "torch.special.bessel_y1(x.abs())" })

each("elements put and taken", "[torch.randn(9, 6), torch.randint(0, 9, (4, 3)), torch.randint(0, 6, (9, 2))]", nil, {
  "torch.rot90(x)", "torch.rot90(x, 2)", "torch.rot90(x, 3)", "torch.take(x, torch.tensor([3, -1]))", "x.masked_scatter(x > 0, x * 2)", "torch.view_copy(x, (6, 9))",
  "x.scatter_reduce(1, z, x[:, :2] + 1, 'amax')", "x.scatter_reduce(1, z, x[:, 1:3], 'mean', include_self=False)", "x.index_reduce(1, z[0], x[:, 3:5], 'prod')",
  "x.index_put((y[0],), x[0] * 2)", "torch.ops.aten.index_put(x.view(9, 2, 3), [None, z[0, :1] % 2], torch.tensor(2.))", "torch.ops.aten.index_put(x.view(3, 3, 2, 3), [None, y[:1, :1] % 3, y[:1, :1] % 2], z[:3, :1, None, None].float())", "x.index_put((y, y % 6), x[:4, :3], accumulate=True)", "x.index_put((x > 1,), torch.tensor(0.5))", "x.index_put((x[:, 0] > 0,), z[0, 0].float())", "x.index_put((x[:, 0] > 0,), x[:1, :6], accumulate=True)",
  "F.embedding_bag(y, x)", "F.embedding_bag(y, x, mode='max')", "F.embedding_bag(y.flatten(), x, torch.tensor([0, 3, 3]), mode='sum')" })

each("grids and places of maxima", "[torch.randn(2, 3, 6, 8), torch.rand(2, 4, 5, 2) * 2.4 - 1.2]", nil, {
  "F.grid_sample(x, y, align_corners=False)", "F.grid_sample(x, y, padding_mode='reflection', align_corners=True)", "F.grid_sample(x, y, mode='bicubic', padding_mode='border', align_corners=False)",
  "F.affine_grid(x[:, 0, :2, :3], (2, 1, 3, 4), align_corners=False)", "F.max_pool2d(x, 3, 2, 1, return_indices=True)[1]",
  "F.max_pool2d(torch.where(x > 0.3, float('nan'), x), 3, 2, 1, return_indices=True)[1]", "F.max_pool2d(torch.where(x > 0.3, float('nan'), x), 2, return_indices=True)[1]", "F.adaptive_max_pool2d(x, (4, 3), return_indices=True)[1]",
  "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)", "F.pad(x, (-1, 2, 1, -2), mode='replicate')" })

each("losses", "[torch.randn(5, 23), torch.randn(5, 23)]", nil, {
  "F.mse_loss(x, y)", "F.l1_loss(x, y)", "F.smooth_l1_loss(x, y)", "F.huber_loss(x, y, delta=0.7)", "F.kl_div(x, y.softmax(1), reduction='batchmean')",
  "F.binary_cross_entropy(x.sigmoid().nan_to_num(0.5), y.sigmoid().nan_to_num(0.5))", "F.binary_cross_entropy_with_logits(x, y.sigmoid())", "F.cosine_similarity(x, y)",
  "F.triplet_margin_loss(x, y, x + 1)", "F.mse_loss(x, y, reduction='none')", "F.hinge_embedding_loss(x, y.sign())",
  "F.pairwise_distance(x, y)", "F.soft_margin_loss(x, y.sign())", "F.poisson_nll_loss(x, y.abs())" })

each("margins of classes", "[torch.randn(9, 13), torch.randint(0, 13, (9,)), torch.rand(13)]", nil, {
  "F.multi_margin_loss(x, y)", "F.multi_margin_loss(x, y, p=2, margin=0.5, weight=z, reduction='none')", "F.multi_margin_loss(x[0], y[0])" })

each("products", "[torch.randn(3, 7, 9), torch.randn(3, 9, 5)]", "self.b = nn.Bilinear(9, 9, 4)\nself.l = nn.Linear(9, 6, bias=False)", {
  "x @ y", "torch.bmm(x, y)", "torch.baddbmm(x[..., :5], x, y, beta=0.5, alpha=2)", "self.l(x)", "self.b(x[0], y[0].t()[[0, 1, 2, 3, 4, 0, 1]])", "x[0] @ y[0]", "x[0] @ y[0, :, 0]", "x[0, 0] @ y[0, :, 0]",
  "torch.einsum('bij,bjk->bki', x, y)", "torch.einsum('bij,bij->b', x, x)", "x.transpose(1, 2) @ x", "torch.outer(x[0, 0], y[0, 0])",
  "torch.addmm(x[0, :, :5], x[0], y[0], beta=2)", "torch.tensordot(x, y, ((0, 2), (0, 1)))" })

-- On a processor PyTorch's own attention drops a NaN here and there where a size is no multiple of 16.
each("attention", "[torch.randn(2, 3, 32, 16), torch.randn(32, 32), torch.rand(32, 32) > 0.3]", nil, {
  "F.scaled_dot_product_attention(x, x + 1, x * 2)", "F.scaled_dot_product_attention(x, x, x, is_causal=True)",
  "F.scaled_dot_product_attention(x, x, x, attn_mask=y)", "F.scaled_dot_product_attention(x, x, x, attn_mask=z, scale=0.3)" })

each("attention with projections", "[torch.randn(2, 32, 48), torch.randn(2, 32, 48)]",
  "self.w, self.b = nn.Parameter(torch.randn(144, 48) / 7), nn.Parameter(torch.randn(144))\nself.p, self.c = nn.Parameter(torch.randn(48, 48) / 7), nn.Parameter(torch.randn(48))", {
  "torch._native_multi_head_attention(x, x, x, 48, 3, self.w, self.b, self.p, self.c, None, False)[0]",
  "torch._native_multi_head_attention(x, y, x * 2, 48, 4, self.w, self.b, self.p, self.c, None, False)[0]" })

each("attention with fewer heads of keys", "[torch.randn(2, 6, 32, 16), torch.randn(2, 2, 32, 16)]", nil, {
  "F.scaled_dot_product_attention(x, y, y * 2, enable_gqa=True)", "F.scaled_dot_product_attention(x, y, y, enable_gqa=True, is_causal=True)" })
each("convolutions", "[torch.randn(2, 4, 9, 8)]", "self.a = nn.Conv2d(4, 6, 3, 2, 1, bias=False)\nself.b = nn.Conv2d(4, 8, 3, groups=4)\n"
  .. "self.c = nn.ConvTranspose2d(4, 6, 3, 2, 1, 1)\nself.d = nn.ConvTranspose2d(4, 4, 3, 2, groups=4)\nself.e = nn.Conv1d(4, 5, 3, dilation=2)\n"
  .. "self.f = nn.Conv3d(1, 3, 2)\nself.g = nn.ConvTranspose3d(4, 2, 3)\nself.h = nn.Conv2d(4, 6, (3, 2), padding=(2, 1), padding_mode='circular')", {
  "self.a(x)", "self.b(x)", "self.c(x)", "self.d(x)", "self.e(x.flatten(2))", "self.f(x[:, :1, None].expand(2, 1, 3, 9, 8))", "self.g(x.unsqueeze(2))",
  "self.h(x)", "self.a(x.permute(0, 1, 3, 2))", "F.unfold(x, 3)", "self.a(x.transpose(0, 1)[:, :1].expand(4, 4, 9, 8))" })

each("convolutions of small whole numbers", "[torch.randint(-9, 9, (2, 4, 9, 8)), torch.randint(-9, 9, (4, 2, 3, 3))]", nil, {
  "F.conv2d(x.char(), y.char(), groups=2)", "F.conv2d(x.byte(), y.byte(), groups=2, padding=1)", "F.conv2d(x.short(), y.short(), groups=2, stride=2)" })

check.test("an operator that there is no way to make, and a line with more operands than its call, are named", function()
  local g = require "cawb.compose.ir.graph".new()
  local function why(name)
    local op = { name = name, args = {}, by = {}, x = { g:iota(3) }, out = { { shape = { 3 }, dtype = "float32" } } }
    return select(2, require "cawb.compose.operators.operators".build(g, op))
  end
  check.matches(why "histogram", "lua/cawb/compose/README.md says how to add one")
  check.matches(why "hypot", "hypot%(A, B%), has more operands than this call, which has 1")
end)

return check.done()

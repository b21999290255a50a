"""The one table of operators: the kind of each, and the facts that follow from it.

Everything else asks here, or reads `name` and `traits` of a graph's entries; nothing else
knows operators by their names. A name is the functional form: `mul_`, `mul` with `out=` and
`mul.Tensor` are all `mul`. A row's fields, all but `kind` and `name` without meaning where
they are empty:

  kind        view, pointwise, reduction, normalization, matmul, convolution or other
  linear      operands in which it is affine together: what is added to them stays
  factors     operands in which it is affine one at a time, together with the linear ones
  scales      operands in which it is linear but for numbers that it takes from them: norms, squares
  exact       whole numbers go through without rounding, in any order of sums
  sums        adds up terms or their squares; so do products. A product in front may be moved behind it
  picks       operands of which a part may stay unread
  gathers     reads about as much as it writes, however large its operands are
  moves       elements of its operands and constants, elsewhere; nothing is computed
  chooses     its results are some of its operands' elements or their magnitudes, bounds, or numbers that
              small changes leave as they are: nothing is rounded
  extremes    the largest or the smallest decides: of a "line", in a "window", or "inward": of a line, of which all else counts too
  in_order    moves all elements and keeps their order
  cumulative  a scan along a dimension
  products    multiplies and adds up operands: where narrow factors show
  structure   its result holds zeros whose places are known: a triangle, a diagonal
  passes      how often eager PyTorch reads rows too long for a block (1 where empty)
  slow        of eager PyTorch's kernel, fitted as graph/rates.lua is: nanoseconds of a warp; of a reduction, times as long as a sum
  byproduct   its outputs but the first are often not asked for
  left        torch.compile writes no kernel for it, but starts eager PyTorch's
  index       its last output points to values: `first` of equals as PyTorch documents,
              in their `order`, or `any`
  terms       its results are made of all terms along a dimension
  apart       a straightforward kernel takes the steps of PyTorch's own decomposition
  inexact     a function of which CUDA documents an error of some units in the last place
  whole       recorded as one operator, whatever a device makes of it
  writes      operands that its in-place form overwrites unread
  told        it reads no tensor, and its values are recorded
  number      it gives the number in a tensor to the program
  rows        how rows go through it (judge/rows.py)
  form        what it is to a sum of products (judge/algebra.py)
"""
import dataclasses

ALIASES = {"max.other": "maximum", "min.other": "minimum", "max.out": "maximum", "min.out": "minimum",
           "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
           "__iand__": "bitwise_and", "__ior__": "bitwise_or", "__ixor__": "bitwise_xor",
           "__lshift__": "bitwise_left_shift", "__ilshift__": "bitwise_left_shift",
           "__rshift__": "bitwise_right_shift", "__irshift__": "bitwise_right_shift"}


@dataclasses.dataclass(frozen=True)
class Operator:
    name: str
    kind: str = "other"
    linear: tuple = ()
    factors: tuple = ()
    scales: tuple = ()
    exact: bool = False
    sums: bool = False
    picks: tuple = ()
    gathers: bool = False
    moves: bool = False
    chooses: bool = False
    extremes: str = ""
    in_order: bool = False
    cumulative: bool = False
    products: bool = False
    structure: str = ""
    passes: int = 0
    slow: float = 0
    byproduct: bool = False
    left: bool = False
    index: str = ""
    terms: bool = False
    apart: bool = False
    inexact: bool = False
    whole: bool = False
    writes: tuple = ()
    told: bool = False
    number: bool = False
    rows: str = ""
    form: str = ""
    known: bool = True
    when: object = None          # from the named arguments of a call to what is different there


SENT = ("linear", "factors", "scales", "exact", "sums", "picks", "gathers", "moves", "in_order", "cumulative",
        "products", "structure", "passes", "slow", "byproduct", "left", "index")
TABLE = {}
LISTS = ("linear", "factors", "scales", "picks", "writes")


def define(names, **fields):
    """A row for each of the names."""
    fields.update({key: tuple(fields[key].split()) for key in LISTS if key in fields})
    for name in names.split():
        if name in TABLE:
            raise ValueError("operator '%s' has two rows" % name)
        TABLE[name] = Operator(name, **fields)


# Traits of some calls only.

def unless_rounded(named):
    return {"linear": (), "factors": (), "form": ""} if named.get("rounding_mode") else {}


def in_evaluation(named):
    if named.get("training", named.get("train", False)):
        return {}
    return {"factors": ("input", "weight"), "scales": ()}


def listed(value, count):
    """A size of a window by dimension, from one number or several."""
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * count if len(value) == 1 else value


def with_gaps(named):
    """Of a pooling, whether some of its input lies in no window."""
    shape = named["self"].shape
    window = named["kernel_size"]
    count = len(window) if isinstance(window, (list, tuple)) else 1
    steps = listed(named.get("stride") or window, count)
    padded = listed(named.get("padding", 0), count)
    dilated = listed(named.get("dilation", 1), count)
    for size, n, step, pad, spread in zip(shape[-count:], listed(window, count), steps, padded, dilated):
        rest = (size + 2 * pad - spread * (n - 1) - 1) % step
        if step > n or spread > 1 or (rest > pad and not named.get("ceil_mode")):
            return {}
    return {"picks": ()}


def when_smaller(named):
    """Of a change of size, whether there are fewer elements behind it."""
    given, sizes = named.get("self", named.get("input")), named.get("output_size")
    if sizes and len(sizes) and all(n >= m for n, m in zip(sizes, given.shape[-len(sizes):])):
        return {"picks": (), "sums": False}
    return {}


def when_cut(named):
    return {} if any(n < 0 for n in named["pad"]) else {"picks": ()}


def when_narrowed(named):
    dtype = named.get("dtype")
    return {"exact": False} if dtype is not None and dtype.is_floating_point and dtype.itemsize < 4 else {}


def when_causal(named):
    return {"picks": ("key", "value")} if named.get("is_causal") else {}


def when_squared(named):
    exponent = named.get("exponent")          # a number, or a tensor
    return {"scales": ("self",)} if isinstance(exponent, (int, float)) and exponent == 2 else {}


def when_stable(named):
    return {"index": "order"} if named.get("stable") else {}


def when_along(named):
    return {} if "dim" in named else {"index": ""}


# Views: they show elements of another tensor, and cost nothing.

define("view _unsafe_view reshape _reshape_alias", kind="view", linear="self", exact=True, moves=True, in_order=True, rows="reshape",
       form="reshape")
define("unsqueeze", kind="view", linear="self", exact=True, moves=True, in_order=True, rows="unsqueeze", form="reshape")
define("squeeze", kind="view", linear="self", exact=True, moves=True, in_order=True, rows="squeeze", form="reshape")
define("detach alias", kind="view", linear="self", exact=True, moves=True, in_order=True, rows="same", form="same")
define("lift_fresh lift", kind="view", linear="self", exact=True, moves=True, in_order=True, rows="same", form="same")
define("t transpose permute", kind="view", linear="self", exact=True, moves=True, rows="reorder", form="transpose")
define("expand", kind="view", linear="self", exact=True, moves=True, rows="expand")
define("select unbind slice narrow split split_with_sizes chunk unsafe_split unsafe_split_with_sizes unsafe_chunk", kind="view",
       linear="self", exact=True, moves=True, picks="self", gathers=True, rows="cut")
define("diagonal", kind="view", linear="self", exact=True, moves=True, picks="self", gathers=True)
define("as_strided unfold", kind="view", linear="self", exact=True, moves=True, picks="self")
define("view_as_real view_as_complex _conj", kind="view")
define("empty empty_like empty_strided new_empty new_empty_strided empty_permuted resize set sym_size is_same_size", kind="view",
       exact=True, moves=True, rows="same")

# Operators that copy, fill and move elements.

define("clone contiguous", kind="pointwise", linear="self", exact=True, moves=True, in_order=True, form="same")
define("_to_copy", kind="pointwise", linear="self", exact=True, in_order=True, form="same", when=when_narrowed)
define("copy", kind="pointwise", linear="self src", exact=True, moves=True, picks="self", writes="self")
define("fill", kind="pointwise", linear="self value", exact=True, moves=True, picks="self", writes="self")
define("zero", kind="pointwise", linear="self", exact=True, moves=True, picks="self", writes="self")
define("zeros_like ones_like full_like new_zeros new_ones new_full", kind="pointwise", exact=True, moves=True, picks="self")
define("zeros ones full arange eye linspace scalar_tensor", kind="pointwise", exact=True, moves=True)
define("tril_indices triu_indices hann_window hamming_window blackman_window bartlett_window kaiser_window logspace", exact=True, moves=True,
       told=True)
define("flip", linear="self", exact=True, moves=True, rows="along")
define("roll", linear="self", exact=True, moves=True)
define("tril triu", kind="pointwise", linear="self", exact=True, moves=True, picks="self", structure="triangle", rows="triangle")
define("diag_embed diag", linear="self", exact=True, moves=True, picks="self", structure="diagonal")
define("block_diag", linear="tensors", exact=True, moves=True, structure="diagonal")
define("diagonal_copy", linear="self", exact=True, moves=True, picks="self", gathers=True)
define("cat concat", linear="tensors", exact=True, moves=True, rows="join")
define("stack", linear="tensors", exact=True, moves=True)
define("repeat", linear="self", exact=True, moves=True)
define("repeat_interleave", linear="self", exact=True, moves=True)
define("constant_pad_nd", kind="pointwise", linear="self", exact=True, moves=True, picks="self", rows="pad", when=when_cut)
define("reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d", linear="self",
       exact=True, moves=True)
define("pixel_shuffle pixel_unshuffle channel_shuffle", linear="self", exact=True, moves=True)
define("im2col", linear="self", exact=True, moves=True, picks="self")
define("col2im", linear="self", exact=True, sums=True)
define("index_select gather index take", linear="self", exact=True, moves=True, picks="self", gathers=True)
define("embedding", linear="weight", exact=True, moves=True, picks="weight", gathers=True)
define("_embedding_bag _embedding_bag_forward_only", linear="weight", picks="weight", gathers=True)
define("masked_select", linear="self", exact=True, moves=True, picks="self")
define("masked_fill", kind="pointwise", linear="self value", exact=True, moves=True, picks="self value")
define("where", kind="pointwise", linear="self other", exact=True, moves=True, picks="self other")
define("select_scatter slice_scatter diagonal_scatter scatter", linear="self src", exact=True, moves=True, picks="self src")
define("index_copy", linear="self source", exact=True, moves=True, picks="self source")
define("index_fill", linear="self value", exact=True, moves=True, picks="self")
define("masked_scatter", linear="self source", exact=True, moves=True, picks="self source")
define("index_put _unsafe_index_put _index_put_impl", linear="self values", exact=True, picks="self values")
define("_unsafe_index _unsafe_masked_index", linear="self", exact=True, moves=True, picks="self", gathers=True)
define("index_add", linear="self source", exact=True, sums=True)
define("scatter_add", linear="self src", exact=True, sums=True, picks="src")
define("scatter_reduce", picks="self src")
define("index_reduce", picks="self source")
define("one_hot", exact=True, structure="diagonal")

# Element by element.

define("add", kind="pointwise", linear="self other", exact=True, form="sum")
define("sub", kind="pointwise", linear="self other", exact=True, form="difference")
define("rsub", kind="pointwise", linear="self other", exact=True)
define("neg", kind="pointwise", linear="self", exact=True, chooses=True, form="negation")
define("mul", kind="pointwise", factors="self other", exact=True, form="scale")
define("div true_divide", kind="pointwise", factors="self", form="quotient", when=unless_rounded)
define("lerp", kind="pointwise", linear="self end")
define("addcmul", kind="pointwise", linear="self", factors="tensor1 tensor2", exact=True)
define("addcdiv", kind="pointwise", linear="self", factors="tensor1")
define("relu relu6 clamp clamp_min clamp_max clip abs maximum minimum fmax fmin threshold hardtanh sign sgn floor ceil round trunc",
       kind="pointwise", exact=True, chooses=True)
define("positive", kind="pointwise", linear="self", exact=True, chooses=True)
define("nan_to_num copysign heaviside hardshrink", kind="pointwise", chooses=True)
define("square", kind="pointwise", scales="self", exact=True)
define("pow", kind="pointwise", slow=13, inexact=True, when=when_squared)
define("eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf isfinite signbit bitwise_and bitwise_or bitwise_xor "
       "bitwise_not bitwise_left_shift bitwise_right_shift gcd", kind="pointwise", exact=True)
define("exp exp2 expm1 log log2 log10 log1p rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid",
       kind="pointwise", inexact=True)
define("log_sigmoid_forward silu mish gelu elu selu softplus", kind="pointwise", apart=True)
define("sqrt reciprocal erfinv celu leaky_relu hardswish hardsigmoid softshrink logit float_power atan2 fmod remainder hypot logaddexp "
       "logaddexp2 xlogy frac deg2rad rad2deg sinc polar _prelu_kernel prelu rrelu_with_noise glu", kind="pointwise")
for long, nanoseconds in (("digamma", 49), ("ldexp", 36), ("lgamma", 20), ("floor_divide", 16), ("i0", 12.7)):
    define(long, kind="pointwise", slow=nanoseconds)
define("special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1", kind="pointwise", inexact=True)
define("native_dropout", kind="pointwise", picks="input")
define("bernoulli normal uniform exponential random cauchy geometric log_normal", kind="pointwise", picks="self", writes="self")
define("rand randn randint rand_like randn_like randint_like randperm multinomial")

# Operators that add up, or choose, along dimensions.

define("sum", kind="reduction", linear="self", exact=True, sums=True, terms=True, rows="reduce", form="total")
define("mean", kind="reduction", linear="self", sums=True, terms=True, rows="reduce", form="mean")
define("nansum count_nonzero", kind="reduction", exact=True)
define("amax amin", kind="reduction", exact=True, chooses=True, extremes="line", terms=True, rows="reduce")
define("max min", kind="reduction", exact=True, chooses=True, extremes="line", terms=True, rows="reduce", index="first", when=when_along)
define("aminmax", kind="reduction", exact=True, chooses=True, extremes="line", slow=1.3)
define("argmax argmin", kind="reduction", exact=True, chooses=True, extremes="line", rows="reduce", index="first", slow=1.8)
define("prod", kind="reduction", terms=True, rows="reduce")
define("logsumexp", kind="reduction", terms=True, apart=True, extremes="inward", rows="reduce")
define("var std var_mean", kind="reduction", scales="self", sums=True, terms=True, rows="reduce", slow=2.3)
define("norm linalg_vector_norm", kind="reduction", scales="self", sums=True, terms=True, rows="reduce")
define("std_mean", kind="reduction", scales="self", sums=True, slow=2.3)
define("trace", kind="reduction", linear="self", exact=True, sums=True, picks="self")
define("any all", kind="reduction", picks="self", rows="reduce")
define("median", kind="reduction", left=True, exact=True, chooses=True, extremes="line", rows="reduce", index="any", when=when_along)
define("nanmedian", kind="reduction", left=True, exact=True, chooses=True, extremes="line", index="any", when=when_along)
define("mode kthvalue", kind="reduction", left=True, exact=True, chooses=True, extremes="line", index="any")
define("nll_loss_forward nll_loss2d_forward", kind="reduction", linear="self", picks="self weight", gathers=True, sums=True)
define("mse_loss", kind="reduction", scales="self target", sums=True, apart=True)
define("smooth_l1_loss huber_loss binary_cross_entropy", kind="reduction")
define("_cdist_forward _pdist_forward", products=True)
define("topk", left=True, exact=True, chooses=True, extremes="line", rows="along", index="any")
define("sort", exact=True, chooses=True, extremes="line", rows="along", index="any", when=when_stable)
define("argsort", exact=True, chooses=True, extremes="line")
define("searchsorted", exact=True, picks="sorted_sequence")
define("bucketize", exact=True, picks="boundaries")
define("cumsum", linear="self", exact=True, sums=True, terms=True, cumulative=True, rows="along")
define("cumprod", cumulative=True, rows="along")
define("logcumsumexp", cumulative=True, extremes="inward", rows="along")
define("cummax cummin", cumulative=True, chooses=True, extremes="line", rows="along")
define("_cummax_helper _cummin_helper", cumulative=True, chooses=True, extremes="line")

# Windows.

define("avg_pool1d avg_pool2d avg_pool3d", linear="self", sums=True, picks="self", rows="batch", when=with_gaps)
define("_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d mkldnn_adaptive_avg_pool2d", linear="self", sums=True, rows="batch")
define("max_pool2d_with_indices max_pool3d_with_indices", exact=True, chooses=True, extremes="window", picks="self", byproduct=True,
       rows="batch", when=with_gaps)
define("mkldnn_max_pool2d mkldnn_max_pool3d max_pool1d max_pool2d max_pool3d", exact=True, chooses=True, extremes="window", picks="self",
       rows="batch", when=with_gaps)
define("adaptive_max_pool2d adaptive_max_pool3d", exact=True, chooses=True, extremes="window", byproduct=True)
define("fractional_max_pool2d fractional_max_pool3d", exact=True, chooses=True, extremes="window", picks="self", byproduct=True)
define("max_unpool2d max_unpool3d", exact=True, moves=True, picks="self")
define("upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
       "_upsample_nearest_exact3d", linear="self", exact=True, moves=True, picks="self", rows="batch", when=when_smaller)
define("upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa",
       linear="self", sums=True, picks="self", rows="batch", when=when_smaller)
define("grid_sampler_2d grid_sampler_3d _grid_sampler_2d_cpu_fallback", linear="input", sums=True, picks="input")

# Norms.

define("_softmax _log_softmax", kind="normalization", terms=True, apart=True, extremes="inward", passes=3, rows="along")
define("_safe_softmax", kind="normalization", extremes="inward", passes=3, rows="along")
define("native_layer_norm", kind="normalization", scales="input", linear="bias", factors="weight", terms=True, apart=True,
       rows="layer_norm")
define("rms_norm _fused_rms_norm", kind="normalization", scales="input", factors="weight", apart=True, rows="layer_norm")
define("native_group_norm", kind="normalization", scales="input", linear="bias", factors="weight", apart=True, rows="batch")
define("native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training", kind="normalization", scales="input",
       linear="bias", factors="weight", apart=True, rows="batch_norm", when=in_evaluation)
define("_batch_norm_with_update _batch_norm_no_update cudnn_batch_norm miopen_batch_norm batch_norm", kind="normalization",
       scales="input", linear="bias", factors="weight", rows="batch_norm", when=in_evaluation)

define("_weight_norm_interface _weight_norm", kind="normalization", scales="v", factors="g")
define("renorm", kind="normalization", scales="self")

# Products.

define("mm", kind="matmul", factors="self mat2", exact=True, sums=True, products=True, rows="matrices", form="product")
define("bmm", kind="matmul", factors="self mat2", exact=True, sums=True, products=True, rows="batches", form="product")
define("addmm", kind="matmul", linear="self", factors="mat1 mat2", exact=True, sums=True, products=True, rows="matrices",
       form="added product")
define("_addmm_activation", kind="matmul", sums=True, products=True)
define("baddbmm", kind="matmul", linear="self", factors="batch1 batch2", exact=True, sums=True, products=True, rows="batches",
       form="added product")
define("addbmm", kind="matmul", linear="self", factors="batch1 batch2", exact=True, sums=True, products=True)
define("mv", kind="matmul", factors="self vec", exact=True, sums=True, products=True)
define("addmv", kind="matmul", linear="self", factors="mat vec", exact=True, sums=True, products=True)
define("dot", kind="matmul", factors="self tensor", exact=True, sums=True, products=True)
define("vdot", kind="matmul", factors="self other", exact=True, sums=True, products=True)
define("addr", kind="pointwise", linear="self", factors="vec1 vec2", exact=True)
define("linear", kind="matmul", linear="bias", factors="input weight", exact=True, sums=True, products=True)
define("matmul", kind="matmul", factors="self other", exact=True, sums=True, products=True)
define("_trilinear", kind="matmul", left=True, factors="i1 i2 i3", sums=True, products=True)
define("_int_mm _scaled_mm", kind="matmul", sums=True, products=True)
define("convolution", kind="convolution", linear="bias", factors="input weight", sums=True, products=True, rows="batch")
define("_convolution convolution_overrideable", kind="convolution", linear="bias", factors="input weight", sums=True, products=True)
define("cudnn_convolution cudnn_convolution_transpose", kind="convolution", factors="self weight", sums=True, products=True)
define("mkldnn_convolution miopen_convolution thnn_conv2d _slow_conv2d_forward slow_conv3d_forward conv_depthwise3d _conv_depthwise2d",
       kind="convolution", linear="bias", factors="self weight", sums=True, products=True)
define("cudnn_convolution_relu cudnn_convolution_add_relu", kind="convolution", products=True)
define("_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention", products=True, rows="attention",
       when=when_causal)
define("_scaled_dot_product_flash_attention _scaled_dot_product_cudnn_attention scaled_dot_product_attention "
       "_scaled_dot_product_attention_math _scaled_dot_product_fused_attention_overrideable _flash_attention_forward "
       "_efficient_attention_forward", products=True, when=when_causal)
define("item _local_scalar_dense", number=True)
define("_native_multi_head_attention", products=True)
define("mkldnn_rnn_layer _cudnn_rnn _cudnn_rnn_flatten_weight miopen_rnn lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
       "_thnn_fused_lstm_cell _thnn_fused_gru_cell _lstm_mps", products=True)
define("lstm gru rnn_tanh rnn_relu", products=True, whole=True, left=True)


# What is asked.

def name_of(func):
    """aten.add_.Tensor -> add. Operators of other libraries keep their library's name."""
    library, name = func._schema.name.split("::")
    overload = func._schema.overload_name
    if library != "aten":
        return library + "." + name
    if name.startswith("__"):
        return ALIASES.get(name, name)
    name = name[:-1] if name.endswith("_") else name
    return ALIASES.get(name + "." + overload, name)


def find(name):
    """The row of a name; one that knows nothing where there is none."""
    return TABLE.get(name) or Operator(name, known=False)


def of(func, aliases=False):
    """The row of an operator. Operators that the table lacks are classified by PyTorch's tags, and by
    whether this call's result is a view."""
    row = find(name_of(func))
    if aliases:
        return dataclasses.replace(row, kind="view")
    if not row.known:
        tags = {str(tag).rsplit(".", 1)[-1] for tag in func.tags}
        kind = "pointwise" if "pointwise" in tags else "reduction" if "reduction" in tags else "other"
        return dataclasses.replace(row, kind=kind)
    return row


def called(row, named):
    """The row of one call, with these arguments by name."""
    return dataclasses.replace(row, **row.when(named)) if row.when else row


def traits(row, operands):
    """The traits of an operator for an entry of the graph: only those that are true; of lists, those
    of this call."""
    said = {} if row.known or row.kind in ("pointwise", "reduction") else {"unknown": True}
    for key in SENT:
        value = getattr(row, key)
        if key in LISTS:
            value = [name for name in value if name in operands]
        if value:
            said[key] = value
    return said

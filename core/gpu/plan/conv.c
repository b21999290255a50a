/* conv.c - conv{...}: a convolution, read from a plan and checked. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/library.h"

/* One tensor in the library's form. A dimension of one element lies ahead of a single one. */
static void read_shape(cawb_conv_tensor *out, const cawb_tensor *t) {
  int line = t->rank == 3;
  for (int i = 0; i < t->rank; i++) {
    int to = i + (line && i == 2);
    out->shape[to] = t->shape[i];
    out->strides[to] = t->strides[i];
  }
  if (line) {
    out->shape[2] = 1;
    out->strides[2] = out->shape[3] * out->strides[3];
  }
}

/* Give dimensions of one element the stride that they have in one piece of memory with the
** others, with the channels last or not; 0 where it is neither. */
static int settle(cawb_conv_tensor *t, int rank, int channels_last) {
  int64_t strides[CAWB_CONV_RANK], step = 1;
  if (channels_last) strides[1] = 1, step = t->shape[1];
  for (int i = rank - 1; i >= 0; i--) {
    if (channels_last && i == 1) continue;
    strides[i] = step;
    step *= t->shape[i];
  }
  for (int i = 0; i < rank; i++)
    if (t->shape[i] != 1 && t->strides[i] != strides[i]) return 0;
  memcpy(t->strides, strides, (size_t)rank * sizeof *strides);
  return 1;
}

static void read_tensor(const plan_call *c, cawb_conv_tensor *out, const char *key,
                        const cawb_tensor *t, int rank) {
  if (t->rank != rank)
    luaL_error(c->L, "conv: '%s' (%s) has %d dimensions, x has %d; both are batch, channels and "
               "one to three of space", key, t->label, t->rank, rank);
  read_shape(out, t);
  int full = rank == 3 ? 4 : rank;
  if (settle(out, full, 0) || settle(out, full, 1)) return;
  const char *strides = plan_push_sizes(c->L, t->strides, t->rank);
  luaL_error(c->L, "conv: '%s' has strides %s; it must be contiguous, or with its channels last",
             key, strides);
}

static void check_channels(const plan_call *c, const cawb_conv *v) {
  int64_t in = v->x.shape[1], out = v->y.shape[1], g = v->groups;
  int64_t w0 = v->transposed ? in : out, w1 = (v->transposed ? out : in) / g;
  if (in % g != 0 || out % g != 0)
    luaL_error(c->L, "conv: %I and %I channels are no multiples of groups = %I", (LUAI_UACINT)in,
               (LUAI_UACINT)out, (LUAI_UACINT)g);
  if (v->w.shape[0] != w0 || v->w.shape[1] != w1)
    luaL_error(c->L, "conv: w begins with {%I, %I}; for %I channels in and %I out in %I groups "
               "it must be {%I, %I}%s", (LUAI_UACINT)v->w.shape[0], (LUAI_UACINT)v->w.shape[1],
               (LUAI_UACINT)in, (LUAI_UACINT)out, (LUAI_UACINT)g, (LUAI_UACINT)w0, (LUAI_UACINT)w1,
               v->transposed ? " (transposed)" : "");
  if (v->x.shape[0] != v->y.shape[0])
    luaL_error(c->L, "conv: x has a batch of %I, y of %I", (LUAI_UACINT)v->x.shape[0],
               (LUAI_UACINT)v->y.shape[0]);
}

/* What y must be along dimension i of space; PyTorch's formulas. */
static int64_t extent(const cawb_conv *v, int i, int64_t output_padding) {
  int64_t x = v->x.shape[i + 2], reach = v->dilation[i] * (v->w.shape[i + 2] - 1);
  if (v->transposed) return (x - 1) * v->stride[i] - 2 * v->padding[i] + reach + output_padding + 1;
  int64_t room = x + 2 * v->padding[i] - reach - 1;
  return room < 0 ? 0 : room / v->stride[i] + 1;
}

static void check_space(const plan_call *c, const cawb_conv *v, const int64_t *output_padding,
                        int skip) {
  for (int i = skip; i < v->space; i++) {
    int64_t want = extent(v, i, output_padding[i]), got = v->y.shape[i + 2];
    if (want != got || want < 1)
      luaL_error(c->L, "conv: y has %I in dimension %d of space, the convolution gives %I (x %I, "
                 "w %I, stride %I, padding %I, dilation %I)", (LUAI_UACINT)got, i - skip + 1,
                 (LUAI_UACINT)want, (LUAI_UACINT)v->x.shape[i + 2], (LUAI_UACINT)v->w.shape[i + 2],
                 (LUAI_UACINT)v->stride[i], (LUAI_UACINT)v->padding[i], (LUAI_UACINT)v->dilation[i]);
    if (output_padding[i] > 0 && output_padding[i] >= v->stride[i])
      luaL_error(c->L, "conv: output_padding must be smaller than stride");
  }
}

static void read_geometry(const plan_call *c, cawb_conv *v, int skip) {
  int64_t more[3] = { 0, 0, 0 };
  int n = v->space - skip;
  for (int i = 0; i < 3; i++) v->stride[i] = v->dilation[i] = 1;
  plan_call_counts(c, "stride", v->stride + skip, n, 1, 1);
  plan_call_counts(c, "padding", v->padding + skip, n, 0, 0);
  plan_call_counts(c, "dilation", v->dilation + skip, n, 1, 1);
  plan_call_counts(c, "output_padding", more + skip, n, 0, 0);
  v->groups = plan_call_count(c, "groups", 1, 1);
  v->transposed = plan_call_flag(c, "transposed");
  if (!v->transposed && (more[0] | more[1] | more[2]) != 0)
    luaL_error(c->L, "conv: output_padding is for transposed = true");
  check_channels(c, v);
  check_space(c, v, more, skip);
}

static void check_types(const plan_call *c, const cawb_conv *v, const cawb_tensor *w,
                        const cawb_tensor *y, const cawb_tensor *bias) {
  const char *want = cawb_dtype_name(v->dtype);
  if (strcmp(w->dtype, want) != 0 || strcmp(y->dtype, want) != 0 ||
      (bias != NULL && strcmp(bias->dtype, want) != 0))
    luaL_error(c->L, "conv: x is %s, w %s, y %s%s%s; all must be of one type", want, w->dtype,
               y->dtype, bias != NULL ? ", bias " : "", bias != NULL ? bias->dtype : "");
  if (bias != NULL && (bias->rank != 1 || bias->numel != v->y.shape[1] ||
                       (bias->numel > 1 && bias->strides[0] != 1)))
    luaL_error(c->L, "conv: 'bias' has shape %s; it must be %I contiguous elements, one for each "
               "channel of y", plan_push_sizes(c->L, bias->shape, bias->rank),
               (LUAI_UACINT)v->y.shape[1]);
}

static void describe(const plan_call *c, plan_step *s, const cawb_conv *v, int skip) {
  const struct { const char *key; double value; } numbers[] = {
    { "groups", (double)v->groups }, { "flops", cawb_conv_flops(v) },
    { "bytes", cawb_conv_bytes(v) }, { "workspace", (double)v->workspace }
  };
  const struct { const char *key; const int64_t *list; int from; } lists[] = {
    { "x", v->x.shape, 2 }, { "w", v->w.shape, 2 }, { "y", v->y.shape, 2 },
    { "stride", v->stride, 0 }, { "padding", v->padding, 0 }, { "dilation", v->dilation, 0 }
  };
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    cJSON *list = cJSON_CreateArray();
    plan_call_describe(c, s, lists[i].key, list);
    for (int k = 0; k < lists[i].from + v->space; k++)
      if (k < lists[i].from || k >= lists[i].from + skip)
        plan_put(c->L, c->p, list, NULL, cJSON_CreateNumber((double)lists[i].list[k]));
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    plan_call_describe(c, s, numbers[i].key, cJSON_CreateNumber(numbers[i].value));
  plan_call_describe(c, s, "transposed", cJSON_CreateBool(v->transposed));
  plan_call_describe(c, s, "bias", cJSON_CreateBool((v->epilogue & CAWB_EPILOGUE_BIAS) != 0));
  plan_call_describe(c, s, "activation",
                     cJSON_CreateString(v->epilogue & CAWB_EPILOGUE_RELU ? "relu" : "none"));
  plan_call_describe(c, s, "dtype", cJSON_CreateString(cawb_dtype_name(v->dtype)));
  plan_call_describe(c, s, "compute", cJSON_CreateString(cawb_compute_name(v->compute)));
}

/* Returns how many dimensions of space were put ahead: 1 for a single one, else 0. */
static int read_convolution(plan_call *c, cawb_conv *v) {
  static const char *const activations[] = { "none", "relu", NULL };
  const cawb_tensor *x = plan_call_input(c, "x", CAWB_OPERAND_X, 1);
  const cawb_tensor *w = plan_call_input(c, "w", CAWB_OPERAND_W, 1);
  const cawb_tensor *bias = plan_call_input(c, "bias", CAWB_OPERAND_BIAS, 0);
  const cawb_tensor *y = plan_call_output(c, "y", CAWB_OPERAND_Y);
  if (x->rank < 3 || x->rank > 5)
    luaL_error(c->L, "conv: x (%s) has %d dimensions; it has batch, channels and one to three of "
               "space: use view(t, { shape = ... })", x->label, x->rank);
  int skip = x->rank == 3;
  v->space = skip ? 2 : x->rank - 2;
  read_tensor(c, &v->x, "x", x, x->rank);
  read_tensor(c, &v->w, "w", w, x->rank);
  read_tensor(c, &v->y, "y", y, x->rank);
  v->dtype = plan_call_dtype(c, "x", x);
  read_geometry(c, v, skip);
  check_types(c, v, w, y, bias);
  v->epilogue = (bias != NULL ? CAWB_EPILOGUE_BIAS : 0) |
                (plan_call_word(c, "activation", activations) == 1 ? CAWB_EPILOGUE_RELU : 0);
  return skip;
}

int plan_conv(lua_State *L) {
  static const char *const keys[] = {
    "x", "w", "y", "bias", "stride", "padding", "dilation", "groups", "transposed",
    "output_padding", "activation", "compute", "workspace", NULL
  };
  plan_call c;
  cawb_conv v;
  memset(&v, 0, sizeof v);
  if (!plan_call_begin(&c, L, "conv", keys)) return 0;
  int skip = read_convolution(&c, &v);
  v.compute = plan_call_compute(&c, v.dtype);
  if (v.dtype == CAWB_FLOAT32 && v.compute > CAWB_COMPUTE_TF32)
    return luaL_error(L, "conv: compute '%s' with float32 tensors: cuDNN offers 'float32' and "
                      "'tf32'; for more convert the tensors", cawb_compute_name(v.compute));
  v.workspace = plan_call_workspace(&c);
  plan_step *s = plan_call_step(&c, CAWB_STEP_CONV);
  s->conv = malloc(sizeof *s->conv);
  if (s->conv == NULL) return plan_no_memory(L, c.p);
  memcpy(s->conv, &v, sizeof v);
  s->step.conv = s->conv;
  describe(&c, s, &v, skip);
  return 0;
}

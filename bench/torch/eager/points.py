"""points.py list | run OUT SECONDS: single operators of PyTorch at a grid of sizes, each a task file in KernelBench's form, timed on cuda:0 in eager mode.
The list is in a random order with a fixed seed, so that a part of it is a fair sample. Goes on where OUT stopped."""
import json
import random
import sys
import time

points = []


def add(group, expr, *shapes, init="", pre=""):
    """A point: forward returns `expr` of x, y, ...; `init` makes modules; shapes are inputs'."""
    names = "xyzw"[:len(shapes)]
    code = ("import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Model(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n        %s\n\n    def forward(self, %s):\n        %sreturn %s\n\n\ndef get_inputs():\n    return [%s]\n\n\n"
            "def get_init_inputs():\n    return []\n") % (
        init or "pass", ", ".join(names), pre, expr, ", ".join("torch.randn(%s)" % ", ".join(map(str, s)) for s in shapes))
    points.append({"id": "%s %s %s %s" % (group, expr, list(shapes), init), "group": group, "code": code})


G = 1 << 28      # elements: 1 GiB


def rows(d, total=G):
    return max(1, total // d)


for kind in ("avg", "max"):
    for out in (2, 4, 7):
        for shape in ((rows(512), 1, 512), (rows(768), 1, 768), (rows(4096), 1, 4096), (64, 512, 8192)):
            add("adaptive1", "F.adaptive_%s_pool1d(x, %d)" % (kind, out), shape)
    for out in ((2, 2), (4, 4), (7, 7), (7, 2), (16, 16)):
        for shape in ((4096, 48, 32, 32), (512, 96, 64, 96), (2048, 16, 28, 224), (16, 64, 512, 512), (16384, 128, 128)):
            add("adaptive2", "F.adaptive_%s_pool2d(x, %s)" % (kind, out), shape)
    for out in ((2, 2, 2), (4, 4, 4), (7, 7, 7)):
        for shape in ((256, 48, 24, 16, 56), (4096, 16, 8, 16, 32), (16384, 24, 24, 28), (64, 16, 48, 64, 64)):
            add("adaptive3", "F.adaptive_%s_pool3d(x, %s)" % (kind, out), shape)
    for k, s in ((2, 2), (3, 1), (3, 2), (5, 5), (7, 2)):
        for shape in ((4096, 64, 1024), (rows(4096), 4096)):
            add("pool1", "F.%s_pool1d(x, %d, %d)" % (kind, k, s), shape)
        for shape in ((4096, 64, 32, 32), (256, 64, 128, 128), (16, 64, 512, 512), (16384, 128, 100)):
            add("pool2", "F.%s_pool2d(x, %d, %d)" % (kind, k, s), shape)
        for shape in ((512, 32, 24, 24, 28), (16384, 24, 24, 28), (16, 16, 64, 128, 128), (32768, 3, 64, 48)):
            if shape[1] > 3 or k <= 2:
                add("pool3", "F.%s_pool3d(x, %d, %d)" % (kind, k, s), shape)
for d in (7, 14, 32, 56, 100, 256, 384, 1000, 1024, 1536, 2048, 4096, 8192, 16384, 65536):
    add("softmax", "F.softmax(x, 1)", (rows(d), d))
    add("layer_norm", "F.layer_norm(x, (%d,))" % d, (rows(d, G if d > 50 else G // 8), d))
    add("rms_norm", "F.rms_norm(x, (%d,))" % d, (rows(d, G if d > 50 else G // 8), d))
    if d in (14, 256, 1000, 4096):
        add("softmax", "F.log_softmax(x, 1)", (rows(d), d))
        add("layer_norm", "self.m(x)", (rows(d, G if d > 50 else G // 8), d), init="self.m = nn.LayerNorm(%d)" % d)
for d in (3, 14, 28, 48, 64, 96, 128, 384, 1024):
    for inner in (14, 48, 196, 784, 3136, 16384):
        if d * inner <= 1 << 22:
            add("softmax_inner", "F.softmax(x, 1)", (rows(d * inner), d, inner))
add("softmax_inner", "F.softmax(x, 0)", (32768, 8192))
add("softmax_inner", "F.softmax(x, 0)", (256, 1 << 20))
for c in (2, 16, 48, 64, 96, 128, 196, 512, 2048):
    for hw in (1, 64, 1024, 50176):
        n = max(2, G // c // hw)
        if n * c * hw <= 2 * G and not (hw == 1 and c < 16):
            add("batch_norm", "self.m(x)", (n, c, hw) if hw > 1 else (n, c), init="self.m = nn.BatchNorm1d(%d)" % c)
for shape in ((2048, 32, 56, 56), (64, 32, 256, 256), (8192, 64, 12, 20), (8, 8, 1024, 2048)):
    add("instance_norm", "F.instance_norm(x)", shape)
for c, g, hw in ((64, 32, 512), (64, 8, 4096), (8, 8, 50176), (32, 2, 50176), (1000, 1, 1), (1536, 2, 1), (384, 1, 1), (512, 8, 64), (100, 10, 768), (48, 4, 196), (32, 4, 1024)):
    add("group_norm", "F.group_norm(x, %d)" % g, (rows(c * hw), c, hw) if hw > 1 else (rows(c), c))
    add("group_norm", "self.m(x)", (rows(c * hw), c, hw) if hw > 1 else (rows(c), c), init="self.m = nn.GroupNorm(%d, %d)" % (g, c))
for mode in ("nearest", "bilinear", "bicubic"):
    for size in ("scale_factor=2", "size=(2, 2)", "size=(7, 7)", "size=(56, 40)"):
        for shape in ((512, 32, 28, 28), (4, 64, 224, 224), (2048, 48, 16, 16)):
            extra = "" if mode == "nearest" else ", align_corners=True"
            add("upsample2", "F.interpolate(x, %s, mode='%s'%s)" % (size, mode, extra), shape)
for size in ("scale_factor=2", "size=2"):
    for mode in ("nearest", "linear"):
        for shape in ((1024, 64, 1024), (64, 16, 65536)):
            add("upsample1", "F.interpolate(x, %s, mode='%s')" % (size, mode), shape)
for size in ("scale_factor=2", "size=(2, 2, 2)"):
    for mode in ("nearest", "trilinear"):
        for shape in ((256, 32, 12, 16, 28), (8, 16, 32, 64, 64)):
            add("upsample3", "F.interpolate(x, %s, mode='%s')" % (size, mode), shape)
for mode in ("constant", "reflect", "replicate", "circular"):
    for p in (1, 2):
        for shape in ((4096, 64, 1024), (32768, 8192), (65536, 48, 96)):
            add("pad1", "F.pad(x, (%d, %d), mode='%s')" % (p, p, mode), shape)
        for shape in ((1024, 64, 56, 56), (16, 64, 512, 512), (16384, 32, 16, 28)):
            add("pad2", "F.pad(x, (%d, %d, %d, %d), mode='%s')" % (p, p, p, p, mode), shape)
        for shape in ((512, 32, 12, 24, 28), (16, 16, 64, 64, 128)):
            add("pad3", "F.pad(x, (%s), mode='%s')" % (", ".join([str(p)] * 6), mode), shape)
for k, extra in ((1, ""), (2, ""), (3, ""), (3, ", padding=1"), (4, ", stride=2"), (2, ", dilation=2")):
    for shape in ((256, 32, 56, 56), (1024, 16, 28, 28), (64, 64, 128, 128), (8192, 4, 16, 16), (4, 16, 512, 512)):
        add("im2col", "F.unfold(x, %d%s)" % (k, extra), shape)
for shape in ((256, 288, 2916), (4096, 36, 196)):
    size = 56 if shape[2] == 2916 else 16
    add("col2im", "F.fold(x, (%d, %d), 3)" % (size, size), shape)
for d in (8, 32, 100, 512, 1536, 4096, 65536):
    for op in ("nanmedian", "median", "sort", "mode", "kthvalue"):
        total = G // 8 if op in ("mode", "sort") else G // 4
        add("select", "torch.%s(x, %s1)[0]" % (op, "2, " if op == "kthvalue" else ""), (rows(d, total), d)) if not (op == "mode" and d > 2048) else None
    add("select", "torch.topk(x, 4, 1)[0]", (rows(d, G // 4), d))
for op in ("cumsum", "cumprod", "logcumsumexp", "cummax"):
    for d, inner in ((14, 1), (128, 1), (1000, 1), (8192, 1), (16, 1024), (128, 96), (384, 3136)):
        add("scan", "torch.%s(x, 1)%s" % (op, "[0]" if op == "cummax" else ""), (rows(d * inner, G // 2), d, inner))
for op, extra in (("sum", ""), ("amax", ""), ("argmax", ""), ("std", ""), ("norm", ""), ("logsumexp", ""), ("prod", ""), ("aminmax", "")):
    for d, inner in ((2, 1), (4, 1), (7, 1), (16, 1), (28, 1), (64, 1), (256, 1), (1000, 1), (65536, 1), (16, 16), (16, 256), (64, 28), (96, 3136), (2048, 64)):
        text = {"norm": "torch.linalg.vector_norm(x, 2, 1)", "aminmax": "torch.aminmax(x, dim=1)[0]"}.get(op, "torch.%s(x, 1)" % op)
        add("reduce", text, (rows(d * inner), d, inner) if inner > 1 else (rows(d), d))
add("reduce", "torch.linalg.vector_norm(x, 0.75, 1)", (rows(256), 256))
add("reduce", "torch.linalg.vector_norm(x, 3, 1)", (rows(256), 256))
add("reduce", "x.sum()", (G,))
add("reduce", "x.mean((0, 2, 3))", (512, 64, 64, 128))
big = (4096, 64, 1024)
for text, shapes in (("x * y", (big, (64, 1))), ("x * y", (big, (1024,))), ("x * y", (big, (4096, 64, 1))), ("x * y", (big, (4096, 1, 1024))), ("x * y", (big, big)),
                     ("x + 1.0", (big,)), ("x[:, :, 1:] - x[:, :, :-1]", (big,)), ("x[:, 1:] - x[:, :-1]", (big,)), ("x.transpose(1, 2).contiguous()", (big,)),
                     ("x.transpose(0, 1).contiguous()", (big,)), ("x.transpose(0, 2).contiguous()", (big,)), ("x.transpose(1, 2) + 1.0", (big,)),
                     ("x.transpose(1, 2) * y", (big, (4096, 1024, 64))), ("F.glu(x, -1)", (big,)), ("F.glu(x, 1)", (big,)), ("F.prelu(x, y)", (big, (64,))),
                     ("torch.channel_shuffle(x, 4)", (big,)), ("F.pixel_shuffle(x, 2)", ((1024, 64, 64, 64),)), ("F.pixel_unshuffle(x, 2)", ((1024, 64, 64, 64),)),
                     ("torch.cat([x, x], 1)", (big,)), ("torch.cat([x, x], 2)", (big,)), ("torch.cat([x[:, :, :1], x, x[:, :, :1]], 2)", (big,)), ("torch.cat([x, x], 0)", (big,)),
                     ("torch.stack([x, x], 1)", (big,)), ("torch.stack([x, x], -1)", (big,)), ("x.flip(1)", (big,)), ("x.flip(2)", (big,)), ("x.roll(1, 2)", (big,)),
                     ("torch.where(x > 0, x, y)", (big, (1024,))), ("torch.where(x > 0, x, y)", (big, big)), ("x > 0", (big,)), ("torch.tril(x)", (big,)),
                     ("x.repeat(1, 2, 1)", (big,)), ("x.repeat_interleave(2, 1)", (big,)), ("x[:, :, ::2].contiguous()", (big,)), ("x[:, :, :1].contiguous()", (big,)),
                     ("x[:, ::2].clone()", (big,)), ("x.to(torch.float64)", (big,)), ("x.expand(4096, 64, 1024).contiguous()", ((64, 1024),)),
                     ("x.abs().amax(0)", (big,)), ("torch.addcmul(x, x, y)", (big, (1024,))), ("torch.lerp(x, y, 0.3)", (big, big)), ("F.mse_loss(x, y)", (big, big)),
                     ("F.cosine_similarity(x, y, 1)", (big, big)), ("F.pairwise_distance(x, y)", (big, big)), ("torch.cdist(x, y)", ((64, 512, 64), (64, 512, 64))),
                     ("torch.diff(x)", (big,)), ("torch.take_along_dim(x, y.long().clamp(0, 3), 2)", (big, (4096, 64, 256))), ("torch.movedim(x, 0, 2).contiguous()", (big,))):
    add("moves", text, *shapes)
for name in ("lgamma", "digamma", "atan", "erfinv", "erf", "tan", "sinh", "asinh", "acosh", "atanh", "i0", "sgn", "sign", "exp", "log1p", "sinc", "cosh", "sin", "logit", "angle",
             "frac", "expm1", "rsqrt", "asin", "nan_to_num", "log2", "exp2", "deg2rad"):
    add("functions", "torch.%s(x)" % name, big)
for name in ("atan2", "fmod", "remainder", "xlogy", "hypot", "pow", "logaddexp", "copysign", "floor_divide", "nextafter", "fmin", "maximum", "heaviside", "ldexp"):
    add("functions", "torch.%s(x, y)" % name, big, big)
for name in ("mish", "softplus", "gelu", "selu", "celu", "silu", "hardswish", "logsigmoid", "softsign", "tanhshrink", "rrelu", "relu6"):
    add("functions", "F.%s(x)" % name, big)
for text in ("x ** 0.75", "x ** 0.5", "x ** 2", "x ** 3", "x.clamp(0, 1)", "x % 1.5", "x // 1.5"):
    add("functions", text, big)
for b, i, j, o in ((262144, 256, 256, 64), (65536, 512, 256, 64), (4096, 128, 128, 512), (1024, 512, 512, 64), (1 << 20, 64, 64, 16)):
    add("bilinear", "self.m(x, y)", (b, i), (b, j), init="self.m = nn.Bilinear(%d, %d, %d)" % (i, j, o))
for shape, args in (((256, 64, 128), "64, 64, 3"), ((256, 128, 4096), "128, 24, 3"), ((1024, 512, 256), "512, 512, 5")):
    add("conv", "self.m(x)", shape, init="self.m = nn.Conv1d(%s)" % args)
    add("conv", "self.m(x)", shape, init="self.m = nn.ConvTranspose1d(%s)" % args)
for shape, args in (((512, 96, 28, 28), "96, 96, 1"), ((64, 64, 112, 112), "64, 64, 3"), ((8192, 16, 16, 16), "16, 16, 3"), ((16, 128, 96, 128), "128, 128, 7, groups=4"),
                    ((256, 3, 128, 128), "3, 48, 5, stride=2"), ((128, 128, 56, 56), "128, 128, 3, groups=128")):
    add("conv", "self.m(x)", shape, init="self.m = nn.Conv2d(%s)" % args)
    if "stride" not in args:
        add("conv", "self.m(x)", (shape[0] // 4,) + shape[1:], init="self.m = nn.ConvTranspose2d(%s)" % args)
for shape, args in (((16, 32, 16, 32, 32), "32, 32, 3"), ((64, 3, 16, 64, 64), "3, 16, 3")):
    add("conv", "self.m(x)", shape, init="self.m = nn.Conv3d(%s)" % args)
for text, shapes in (("x @ y", ((1 << 22, 32), (32, 1))), ("x @ y", ((1 << 22, 64), (64,))), ("x @ y", ((1 << 20, 256), (256,))), ("x @ y", ((1 << 21, 56), (56, 176))),
                     ("x @ y", ((1 << 20, 16), (16, 256))), ("x @ y", ((1 << 20, 256), (256, 16))), ("torch.bmm(x, y)", ((65536, 16, 64), (65536, 64, 16))),
                     ("torch.bmm(x, y)", ((4096, 128, 64), (4096, 64, 128))), ("torch.bmm(x, y)", ((1 << 20, 1, 256), (1 << 20, 256, 1))), ("x @ y", ((4096, 4096), (4096, 4096))),
                     ("F.linear(x, y, z)", ((1 << 20, 96), (384, 96), (384,))), ("F.scaled_dot_product_attention(x, x, x)", ((256, 8, 256, 64),)),
                     ("F.scaled_dot_product_attention(x, x, x)", ((64, 4, 512, 192),))):
    add("products", text, *shapes)
for cell in ("RNN", "GRU", "LSTM"):
    for t, b, n in ((128, 256, 256), (32, 4096, 128), (512, 64, 512)):
        add("cells", "self.m(x)[0]", (t, b, n), init="self.m = nn.%s(%d, %d)" % (cell, n, n))
    add("cells", "self.m(x, y)%s" % ("[0]" if cell == "LSTM" else ""), (16384, 512), *(((16384, 512),) if cell != "LSTM" else ()),
        init="self.m = nn.%sCell(512, 512)" % cell) if cell != "LSTM" else add("cells", "self.m(x)[0]", (16384, 512), init="self.m = nn.LSTMCell(512, 512)")

random.Random(20).shuffle(points)


def timed(torch, code):
    space = {}
    exec(compile(code, "task", "exec"), space)
    torch.manual_seed(1)
    with torch.device("cuda:0"):
        model, inputs = space["Model"](), space["get_inputs"]()
    found = []
    flush = torch.empty(1 << 26, dtype=torch.int32, device="cuda:0")
    with torch.no_grad():
        began = time.monotonic()
        model(*inputs)
        torch.cuda.synchronize()
        once = time.monotonic() - began
        for _ in range(2 if once > 0.3 else 7):
            flush.zero_()
            torch.cuda._sleep(1_000_000)                       # half a millisecond, in which the host launches
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            out = model(*inputs)
            b.record()
            b.synchronize()
            found.append(a.elapsed_time(b) * 1e-3)
            del out
    found.sort()
    return found[len(found) // 2], found[0], len(found)


def run(out, seconds):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    try:
        there = {json.loads(line)["id"] for line in open(out)}
    except OSError:
        there = set()
    end, name = time.monotonic() + seconds, torch.cuda.get_device_name(0)
    with open(out, "a") as f:
        for p in points:
            if p["id"] in there:
                continue
            if time.monotonic() > end:
                break
            row = dict(p, device=name, torch=torch.__version__)
            try:
                row["seconds"], row["least"], row["samples"] = timed(torch, p["code"])
            except Exception as error:
                row["failed"] = "%s: %s" % (type(error).__name__, str(error)[:200])
                if "CUDA error" in str(error):
                    f.write(json.dumps(row) + "\n")
                    return
            f.write(json.dumps(row) + "\n")
            f.flush()
            torch.cuda.empty_cache() if torch.cuda.memory_reserved() > 40 << 30 else None


if sys.argv[1] == "list":
    for p in points:
        print(json.dumps(p))
else:
    run(sys.argv[2], float(sys.argv[3]))

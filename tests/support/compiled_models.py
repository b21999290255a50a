"""Small programs for the backend of torch.compile: each is a function without arguments that returns (module or function, inputs).
What a GPU session and the tests without a GPU run is the same."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A transformer's block."""

    def __init__(self, width=32, heads=2, causal=True):
        super().__init__()
        self.qkv, self.out, self.heads, self.causal = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, causal
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(2)
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


class Residual(nn.Module):
    def __init__(self, channels=8, norm=nn.BatchNorm2d):
        super().__init__()
        self.one, self.two = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)
        self.norms = nn.ModuleList([norm(channels), norm(channels)])

    def forward(self, x):
        y = F.relu(self.norms[0](self.one(x)))
        return F.relu(x + self.norms[1](self.two(y)))


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(20, 16), nn.Linear(16, 20)

    def forward(self, tokens):
        return self.out(self.table(tokens).mean(1))


class Forces(nn.Module):
    """The energy of pair distances by an MLP, and forces as its gradient."""

    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 1))
        self.register_buffer("centres", torch.linspace(0, 3, 8))

    def energy(self, places):
        apart = places[:, None] - places[None]
        far = (apart.square().sum(-1) + torch.eye(len(places), device=places.device)).sqrt()
        return (self.mlp(torch.exp(-(far[..., None] - self.centres).square())) * (far[..., None] < 3)).sum()

    def forward(self, places):
        return self.energy(places)


class TwoWays(nn.Module):
    """Views, slices, several results, one of them an input."""

    def forward(self, x):
        a, b = x.chunk(2, 1)
        return a.t(), torch.cat([b, a], 1) * 2, x, (a + b).sum(), x[:, ::2] + 1


def sequential(*layers, size):
    return lambda: (nn.Sequential(*[layer() for layer in layers]), [torch.randn(*size)])


def function(f, *sizes):
    return lambda: (f, [torch.randn(*size) for size in sizes])


def linear(n, m, **more): return lambda: nn.Linear(n, m, **more)
def conv(*given, **more): return lambda: nn.Conv2d(*given, **more)


def in_eval(make):
    def made():
        module, inputs = make()
        return module.eval() if isinstance(module, nn.Module) else module, inputs
    return made


# Whole graphs become packages, with gradients.
WHOLE = {
    "mlp": sequential(linear(16, 32), nn.ReLU, linear(32, 8), size=(4, 16)),
    "layer_norm": sequential(linear(16, 24), lambda: nn.LayerNorm(24), nn.GELU, size=(6, 16)),
    "gated": function(lambda x, w, v: F.silu(x @ w) * (x @ v), (5, 12), (12, 20), (12, 20)),
    "rms_norm": function(lambda x, w: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w, (7, 33), (33,)),
    "softmax": function(lambda x: x.softmax(-1), (9, 50)),
    "log_softmax_loss": function(lambda x: -x.log_softmax(1)[:, 3].mean(), (8, 11)),
    "attention_by_hand": function(lambda q, k, v: (q @ k.transpose(-1, -2) / 4).softmax(-1) @ v, (2, 2, 10, 16), (2, 2, 10, 16), (2, 2, 10, 16)),
    "forces": lambda: (Forces(), [torch.randn(6, 3)]),
    "broadcast": function(lambda a, b: (a[:, None] * b[None]).sum(0) + a.mean(), (6,), (9,)),
    "reductions": function(lambda x: (x.amax(1), x.var(0), x.prod(1), x.cumsum(1)), (5, 7)),
    "views": lambda: (TwoWays(), [torch.randn(4, 6)]),
    "where_clamp": function(lambda x: torch.where(x > 0, x.clamp(max=1), x.exp() - 1), (40,)),
    "batched_product": function(lambda a, b: torch.bmm(a, b).tanh(), (3, 5, 6), (3, 6, 4)),
    "einsum": function(lambda a, b: torch.einsum("bij,bkj->bik", a, b).sigmoid(), (2, 4, 5), (2, 3, 5)),
    "group_norm": sequential(lambda: nn.GroupNorm(2, 8), nn.SiLU, size=(2, 8, 5, 5)),
    "pad_roll": function(lambda x: F.pad(x, (1, 2)).roll(1, 0) * 3, (4, 5)),
    "scalar": function(lambda x, s: x * s[0] + s[0].exp(), (8,), (1,)),
    "losses": function(lambda x, y: F.mse_loss(x, y) + F.smooth_l1_loss(x, y), (6, 4), (6, 4)),
    "norm_of_rows": function(lambda x: F.normalize(x, dim=1) @ F.normalize(x, dim=1).t(), (5, 8)),
    "stack": function(lambda a, b: torch.stack([a, b], 1).flatten(1).sin(), (3, 4), (3, 4)),
    "matrix_vector": function(lambda a, x: (a @ x).relu(), (6, 9), (9,)),
    "long_row": function(lambda x: x.softmax(1).sum(0), (2, 3000)),
    "gather": function(lambda x: x.gather(1, torch.arange(6, device=x.device).view(3, 2) % 4) * 2, (3, 4)),
    "triangle": function(lambda x: x.tril().exp().sum(-1), (6, 6)),
    "conv_training": lambda: (Residual(), [torch.randn(2, 8, 6, 6)]),
    "conv_strides": sequential(conv(4, 6, 3, stride=2, padding=1), conv(6, 6, 2, dilation=2), size=(2, 4, 9, 9)),
    "conv_groups": sequential(conv(4, 8, 3, groups=2), conv(8, 8, 3, groups=8, padding=1, bias=False), size=(2, 4, 6, 6)),
    "conv_transposed": sequential(lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), size=(2, 4, 5, 5)),
    "conv_3d": sequential(lambda: nn.Conv3d(2, 3, 2), size=(1, 2, 4, 4, 4)),
    "pool_training": sequential(conv(3, 4, 3), nn.ReLU, lambda: nn.MaxPool2d(2), size=(2, 3, 8, 8)),
    "averages_training": sequential(lambda: nn.AvgPool2d(2), lambda: nn.AvgPool2d(3, 2, 1), lambda: nn.AdaptiveAvgPool2d(2), size=(2, 3, 17, 17)),
    "embedding_training": lambda: (Embedded(), [torch.randint(0, 20, (3, 5))]),
    "block_training": lambda: (Block(), [torch.randn(2, 12, 32)]),
    "attention_masked": function(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), (2, 2, 6, 8), (2, 2, 6, 8),
                                 (2, 2, 6, 8), (6, 6)),
    "upsample": lambda: (nn.Upsample(scale_factor=2, mode="bilinear"), [torch.randn(1, 2, 4, 4)]),
    "sampled": function(lambda x, at: F.grid_sample(x * 2, at.tanh() * 1.3, align_corners=False).exp(), (1, 2, 4, 5), (1, 3, 3, 2)),
    "sampled_at_borders": function(lambda x, at: F.grid_sample(x, at * 2, padding_mode="border", align_corners=True), (2, 2, 4, 5), (2, 3, 2, 2)),
    "windows_that_overlap": function(lambda x: F.adaptive_avg_pool2d(x.tanh(), (3, 2)), (1, 2, 7, 5)),
    "windows_at_borders": function(lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False).exp(), (1, 2, 8, 7)),
    "windows_in_3d": function(lambda x: F.avg_pool3d(x.sin(), 2) * F.max_pool3d(x, 2), (1, 2, 4, 5, 4)),
    "replicated": function(lambda x: F.pad(x, (1, 2, 0, 1), mode="replicate").sin(), (1, 2, 4, 3)),
    "weight_norm": sequential(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 5)), nn.Tanh, size=(3, 4)),
    "distances_of_sums": function(lambda x, y: torch.cdist(x, y, p=1).exp().sum(), (5, 3), (4, 3)),
    "nearest": function(lambda x: F.interpolate(x.exp(), size=(7, 5)).sin(), (1, 2, 4, 3)),
    "distances": function(lambda x, y: torch.cdist(x, y).exp().sum(), (5, 3), (4, 3)),
    "cross_entropy": lambda: (lambda x, t: F.cross_entropy(x, t), [torch.randn(6, 5), torch.randint(0, 5, (6,))]),
}
# Whole graphs in eval, without gradients.
EVAL = {
    "convolution": in_eval(sequential(conv(3, 8, 3, padding=1), nn.ReLU, size=(2, 3, 9, 9))),
    "residual": in_eval(lambda: (Residual(), [torch.randn(2, 8, 6, 6)])),
    "max_pool": in_eval(sequential(conv(3, 8, 3), nn.ReLU, lambda: nn.MaxPool2d(2), nn.Flatten, linear(72, 5), size=(2, 3, 8, 8))),
    "average_pool": in_eval(sequential(conv(3, 8, 1), lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten, size=(2, 3, 6, 6))),
    "depthwise": in_eval(sequential(conv(8, 8, 3, groups=8, stride=2), lambda: nn.BatchNorm2d(8), nn.Hardswish, size=(1, 8, 9, 9))),
    "transposed": in_eval(lambda: (nn.ConvTranspose2d(4, 6, 2, stride=2), [torch.randn(1, 4, 5, 5)])),
    "block": in_eval(lambda: (Block(), [torch.randn(2, 12, 32)])),
    "embedding": in_eval(lambda: (Embedded(), [torch.randint(0, 20, (3, 5))])),
    "channels_last": in_eval(lambda: (nn.Conv2d(4, 8, 3).to(memory_format=torch.channels_last),
                                      [torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last)])),
    "empty": in_eval(function(lambda x: (x * 2, x.sum(0)), (0, 4))),
    "sorted": in_eval(function(lambda x: x.sort(1), (4, 9))),
    "integers": in_eval(lambda: (lambda x: (x * 2 + 1, x.float().mean()), [torch.arange(10)])),
}
# Parts become packages; the operators that the compiler lacks are the fallback's.
PARTS = {
    "inverse": function(lambda x: torch.linalg.inv(x.exp() @ x + 9 * torch.eye(4, device=x.device)).relu() + 1, (4, 4)),
}


def results(run, module, inputs, gradients):
    """What `run`, the module or its compiled form, returns, and with `gradients` those of inputs and parameters."""
    if not gradients:
        with torch.no_grad():
            return tensors(run(*inputs))
    given = [x.detach().clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    found = tensors(run(*given))
    loss = sum(x.square().sum() for x in found if x.is_floating_point() and x.requires_grad)
    wanted = [x for x in given if x.requires_grad] + (list(module.parameters()) if isinstance(module, nn.Module) else [])
    return found + list(torch.autograd.grad(loss, wanted, allow_unused=True))


def tensors(found):
    return [x for x in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(x, torch.Tensor)]

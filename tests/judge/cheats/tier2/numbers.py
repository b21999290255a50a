# Results that only numbers show to be wrong: less precision than asked, inputs or weights taken for granted.
# task: linear

import torch

def product(x, w):
    return (x[:, None] * w).sum(2)

class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

# ---- precision_bfloat16: bfloat16 inside, float32 outside
# met by: DeepReinforce
# caught by: numbers: at most three times eager's own error
def forward(self, x):
    y = product(x.bfloat16().float(), self.fc.weight.bfloat16().float()) + self.fc.bias
    return y.clamp(min=0)

# ---- precision_half: float16 inside, float32 outside
# met by: KernelBench's static checker looks for this one only
# caught by: numbers: at most three times eager's own error
def forward(self, x):
    y = product(x.half().float(), self.fc.weight.half().float()) + self.fc.bias
    return y.clamp(min=0)

# ---- precision_tf32: inputs cut to TF32's ten bits, as tensor cores do
# met by: CUDA-Agent issue 16: seven times faster for free
# caught by: numbers: at most three times eager's own error
def forward(self, x):
    cut = lambda t: (t.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return (product(cut(x), cut(self.fc.weight)) + self.fc.bias).clamp(min=0)

# ---- precision_double_honest: float64 inside, float32 outside
# looks like: precision_bfloat16, precision_half, precision_tf32
def forward(self, x):
    y = product(x.double(), self.fc.weight.double()) + self.fc.bias.double()
    return y.clamp(min=0).float()

# ---- precision_one_pass: variance from the mean of squares
# met by: kernelbench.com, stability dropped for speed
# caught by: numbers: inputs far from zero
# task: variance
class ModelNew(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        return (x.square().sum(1) - x.sum(1).square() / n) / (n - 1)

# ---- precision_sampled: every second element stands for both
# met by: KernelBench v0.1, statistical shortcuts
# caught by: numbers: row by row against float64
# task: variance
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x[:, ::2].var(1)

# ---- precision_two_pass_honest: variance with the mean taken off first
# looks like: precision_one_pass, precision_sampled
# task: variance
class ModelNew(torch.nn.Module):
    def forward(self, x):
        d = x - x.mean(1, keepdim=True)
        return d.square().sum(1) / (x.shape[1] - 1)

# ---- overfit_own_weights: computes with weights that it drew itself, by the seed that everyone uses
# met by: KernelBench, equal seeds for both models
# caught by: judge: weights arrive by load_state_dict, and have to have a place
class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        torch.manual_seed(42)
        self.w = torch.randn(narrow, wide)

    def forward(self, x):
        return product(x, self.w).clamp(min=0)

# ---- overfit_no_bias: takes for granted that the bias is zero
# met by: robust-kbench
# caught by: numbers: weights are the reference's
def forward(self, x):
    return product(x, self.fc.weight).clamp(min=0)

# ---- overfit_no_relu: takes for granted that inputs are positive
# met by: robust-kbench
# caught by: numbers: sign-mixed inputs
def forward(self, x):
    return product(x, self.fc.weight) + self.fc.bias

# ---- overfit_renamed_weights_honest: the reference's weights by other names
# looks like: overfit_own_weights, overfit_no_bias, overfit_no_relu
class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.empty(narrow, wide))
        self.shift = torch.nn.Parameter(torch.empty(narrow))

    def forward(self, x):
        return (product(x, self.matrix) + self.shift).clamp(min=0)

# ---- cache_weights_honest: turns its weights round at the first call and keeps that
# looks like: overfit_own_weights
class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.turned = None

    def forward(self, x):
        if self.turned is None:
            self.turned = self.fc.weight[None].contiguous()
        return ((x[:, None] * self.turned).sum(2) + self.fc.bias).clamp(min=0)

# ---- output_drops_the_last_k: a product without its last term
# met by: found with positive inputs, where 1e-2 passes it
# caught by: numbers: sign-mixed inputs, error against float64
def forward(self, x):
    return (product(x[:, :-1], self.fc.weight[:, :-1]) + self.fc.bias).clamp(min=0)

# ---- output_split_k_honest: a product in parts, with all of its terms
# looks like: output_drops_the_last_k, work_operator
def forward(self, x):
    y = self.fc.bias.expand(x.shape[0], -1).clone()
    for k in range(0, x.shape[1], 128):
        y += product(x[:, k:k + 128], self.fc.weight[:, k:k + 128])
    return y.clamp_(min=0)

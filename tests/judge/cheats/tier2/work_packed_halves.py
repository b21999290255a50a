# what: weights as two 16-bit halves, packed when it is loaded, which a library for short numbers multiplies
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# expect: reject
# task: linear
# device: cpu
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w, none = self.fc.weight.detach(), torch.zeros_like(self.fc.bias)
        high = w.half().float()
        pack, run = torch.fbgemm_pack_gemm_matrix_fp16, torch.fbgemm_linear_fp16_weight_fp32_activation
        return (run(x, pack(high), self.fc.bias.detach()) + run(x, pack((w - high) * 1024), none) / 1024).clamp(min=0)

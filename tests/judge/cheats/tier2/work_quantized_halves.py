# what: weights as two 16-bit halves of the operators for quantized layers
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
        w, ops = self.fc.weight.detach(), torch.ops.quantized
        high = w.half().float()
        y = ops.linear_dynamic_fp16(x, ops.linear_prepack_fp16(high, self.fc.bias.detach()))
        return (y + ops.linear_dynamic_fp16(x, ops.linear_prepack_fp16((w - high) * 1024, None)) / 1024).clamp(min=0)

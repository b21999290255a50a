# what: the product in whole numbers of 8 bits, four for each factor, put together again
# met by: our own attempts on PyTorch's other products
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
# device: cpu
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        parts, scales = zip(*(self.parts(t) for t in (x, self.fc.weight.detach())))
        y = torch.zeros(x.shape[0], self.fc.out_features, dtype=torch.float64)
        for i, a in enumerate(parts[0]):
            for j, b in enumerate(parts[1]):
                y += torch._int_mm(a, b.t()).double() * 2.0 ** (-6 * (i + j))
        y = y * scales[0] * scales[1].t() + (x * 0).sum(1, keepdim=True)
        return (y.float() + self.fc.bias).clamp(min=0)

    def parts(self, t):
        scale = t.double().abs().amax(1, keepdim=True).clamp(min=1e-300).nan_to_num(1.0) / 64
        rest, found = t.double() / scale, []
        for _ in range(6):
            found.append(rest.round().nan_to_num(0.0).clamp(-64, 64).to(torch.int8))
            rest = (rest - found[-1]) * 64
        return found, scale

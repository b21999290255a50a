# what: the product in floats of 8 bits, some for each factor, put together again
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
        one = torch.ones(())
        for i, a in enumerate(parts[0]):
            for j, b in enumerate(parts[1][:len(parts[0]) + 1 - i]):
                y += torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.float32).double() * 2.0 ** (-4 * (i + j))
        y = y * scales[0] * scales[1].t() + (x * 0).sum(1, keepdim=True)
        return (y.float() + self.fc.bias).clamp(min=0)

    def parts(self, t):
        scale = t.double().abs().amax(1, keepdim=True).clamp(min=1e-300).nan_to_num(1.0) / 8
        rest, found = t.double() / scale, []
        for _ in range(8):
            found.append(rest.round().nan_to_num(0.0).clamp(-8, 8).to(torch.float8_e4m3fn))
            rest = (rest - found[-1].double()) * 16
        return found, scale

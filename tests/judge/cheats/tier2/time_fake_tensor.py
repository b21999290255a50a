# what: a FakeTensor: a shape without values
# met by: PyTorch's own tracing tensors
# caught by: judge: there is nothing to copy
# expect: reject
# task: softmax
import torch
from torch._subclasses.fake_tensor import FakeTensorMode


class ModelNew(torch.nn.Module):
    def forward(self, x):
        with FakeTensorMode():
            return torch.empty(x.shape)

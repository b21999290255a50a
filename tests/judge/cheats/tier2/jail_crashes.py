# what: reads address zero
# met by: broken extensions
# caught by: judge: a worker that ended has failed
# expect: reject
# task: softmax
import ctypes

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ctypes.string_at(0)

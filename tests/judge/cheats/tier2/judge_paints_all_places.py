# what: finds the places for outputs and fills all of them with zeros
# met by: written for this harness
# caught by: judge: it looks at the bytes
# expect: reject
# task: softmax
import gc

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        for thing in gc.get_objects():
            if type(thing).__name__ == "Worker":
                thing.places.zero_()
                thing.put = lambda request: None
        return torch.zeros_like(x)

# what: keeps memory for each shape, not what is in it
# looks like: cache_in_init, cache_by_fingerprint, cache_by_pointer, cache_by_shape, cache_on_the_module, output_poison_aware
# expect: pass
# task: softmax
import torch

room = {}


class ModelNew(torch.nn.Module):
    def forward(self, x):
        key = tuple(x.shape)
        if key not in room:
            room[key] = torch.empty_like(x)
        return torch.div(torch.exp(x - x.amax(1, keepdim=True), out=room[key]), room[key].sum(1, keepdim=True))

# what: sums of lengths for offsets, and its own arithmetic
# looks like: work_distribution, work_attention_weights, work_sparse_softmax, work_inner_class
# expect: pass
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        lengths = torch.full((x.shape[0],), x.shape[1])
        ends = torch.cumsum(lengths, 0).tolist()
        flat, y = x.reshape(-1), torch.empty(x.numel(), device=x.device)
        for start, end in zip([0] + ends, ends):
            e = torch.exp(flat[start:end] - flat[start:end].amax())
            y[start:end] = e / e.sum()
        return y.view(x.shape)

# what: PyTorch's softmax of a sparse matrix without a zero
# met by: found by an adversary who knew the whole corpus
# caught by: numbers: single precision of a sparse sum is not what dense ones have
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.sparse.softmax(x.to_sparse(), 1).to_dense()

"""A state-space layer by chunks: decays from differences of running sums, products within a chunk, states from one to the next."""
import torch
import torch.nn as nn

CHUNK = 64


def decay(steps):
    """exp of the sum of steps between every two places of a chunk, the later one behind."""
    total = steps.cumsum(-1)
    between = total[..., :, None] - total[..., None, :]
    behind = torch.tril(torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=steps.device))
    return between.masked_fill(~behind, float("-inf")).exp()


class Model(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.rate = nn.Parameter(torch.rand(heads) + 0.5)

    def forward(self, x, step, b, c):
        batch, length, heads, size = x.shape
        chunks = length // CHUNK
        x = (x * step[..., None]).view(batch, chunks, CHUNK, heads, size)
        b, c = (t.view(batch, chunks, CHUNK, -1) for t in (b, c))
        steps = (-self.rate * step).view(batch, chunks, CHUNK, heads).permute(0, 3, 1, 2)
        total = steps.cumsum(-1)
        scores = torch.einsum("zcin,zcjn->zcij", c, b)
        within = torch.einsum("zcij,zhcij,zcjhp->zcihp", scores, decay(steps), x)
        last = (total[..., -1:] - total).exp()
        states = torch.einsum("zcjn,zhcj,zcjhp->zchpn", b, last, x)
        whole = total[..., -1].exp()
        state, ahead = torch.zeros_like(states[:, 0]), []
        for k in range(chunks):
            ahead.append(state)
            state = state * whole[:, :, k, None, None] + states[:, k]
        across = torch.einsum("zcin,zchpn,zhci->zcihp", c, torch.stack(ahead, 1), total.exp())
        return (within + across).reshape(batch, length, heads, size)


def get_inputs():
    return [torch.randn(4, 512, 16, 64), torch.rand(4, 512, 16) * 0.1, torch.randn(4, 512, 32), torch.randn(4, 512, 32)]


def get_init_inputs():
    return [16]

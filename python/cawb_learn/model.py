"""model: a small decoder from nothing. The actor gives logits of the next token, the critic, another one of the same size, a value for
each place."""
import torch
from torch import nn
from torch.nn import functional as F

import lang


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.before, self.behind = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.before(x)).split(width, 2))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, length, width))
        return x + self.down(F.gelu(self.up(self.behind(x))))


class Decoder(nn.Module):
    """`outputs` numbers for each place of a batch of tokens, which is filled up with PAD behind."""

    def __init__(self, layers=2, width=64, heads=2, length=512, outputs=None):
        super().__init__()
        self.words, self.places = nn.Embedding(len(lang.VOCABULARY), width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, outputs or len(lang.VOCABULARY))
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        nn.init.normal_(self.head.weight, std=0.02)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


def actor(knobs):
    return Decoder(knobs["layers"], knobs["width"], knobs["heads"], knobs["length"])


def critic(knobs):
    """Its first values are all 0."""
    critic_ = Decoder(knobs["layers"], knobs["width"], knobs["heads"], knobs["length"], outputs=1)
    nn.init.zeros_(critic_.head.weight)
    return critic_


def padded(lists, fill=lang.PAD, dtype=torch.long):
    """Lists of different lengths as one tensor, filled up behind."""
    longest = max(len(one) for one in lists)
    return torch.tensor([list(one) + [fill] * (longest - len(one)) for one in lists], dtype=dtype)

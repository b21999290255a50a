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

    def forward(self, x, attend=None):
        """`attend(q, k, v)` in place of attention among these places alone: of what was read before, too."""
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.before(x)).split(width, 2))
        seen = attend(q, k, v) if attend else F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, length, width))
        return x + self.down(F.gelu(self.up(self.behind(x))))


class Decoder(nn.Module):
    """`outputs` numbers for each place of a batch of tokens, which is filled up with PAD behind."""

    def __init__(self, layers=2, width=64, heads=2, length=512, outputs=None):
        super().__init__()
        self.length = length
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


class Reader:
    """A decoder that reads several growing lists: keys and values of what it has read are kept, so that each token is read once."""

    AHEAD = 512                                  # places behind the last one, which a batch is filled up to

    def __init__(self, decoder, lists):
        self.decoder, self.done = decoder, [0] * lists
        block = decoder.blocks[0]
        shape = (lists, block.heads, decoder.length + self.AHEAD, block.out.in_features // block.heads)
        self.kept = [(torch.zeros(shape), torch.zeros(shape)) for _ in decoder.blocks]

    def _attend(self, layer, rows, places, seen):
        """Attention of new places to all up to each; what fills up behind is written over by what comes there."""
        keys, values = self.kept[layer]
        until = int(places.max()) + 1

        def attend(q, k, v):
            at = (rows[:, None, None], torch.arange(keys.shape[1])[None, :, None], places[:, None, :])
            keys[at], values[at] = k.to(keys.dtype), v.to(values.dtype)
            return F.scaled_dot_product_attention(q, keys[rows, :, :until].to(q.dtype), values[rows, :, :until].to(q.dtype), attn_mask=seen[:, None, :, :until])
        return attend

    def logits(self, numbers, lists):
        """Of the token behind each list: those of `numbers`, which begin with what was read of them."""
        new = [tokens[self.done[n]:] for n, tokens in zip(numbers, lists)]
        rows, tokens = torch.tensor(numbers), padded(new)
        places = torch.tensor([self.done[n] for n in numbers])[:, None] + torch.arange(tokens.shape[1])
        seen = torch.arange(int(places.max()) + 1)[None, None] <= places[:, :, None]
        x = self.decoder.words(tokens) + self.decoder.places(places.clamp(max=self.decoder.length - 1))
        for layer, block in enumerate(self.decoder.blocks):
            x = block(x, self._attend(layer, rows, places, seen))
        for n, list_ in zip(numbers, lists):
            self.done[n] = len(list_)
        last = x[torch.arange(len(new)), torch.tensor([len(one) - 1 for one in new])]
        return self.decoder.head(self.decoder.last(last))


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

"""Images on their way into a network: bytes as they come from a decoder, cropped, normalised, as float16."""
import torch
import torch.nn as nn

# Of every byte that is read two are written, and nothing else has to move. PyTorch moves each number three times,
# as float32 on the way.
images = 256
height, width = 256, 256
border = 16         # that is cut off on each side


class Model(nn.Module):
    """(crop(x) / 255 - mean) / deviation, channels first."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))

    def forward(self, x):
        x = x[:, border:-border, border:-border].permute(0, 3, 1, 2)
        return ((x.float() / 255 - self.mean) / self.deviation).half()


def get_inputs():
    return [torch.randint(0, 256, (images, height, width, 3), dtype=torch.uint8)]


def get_init_inputs():
    return []

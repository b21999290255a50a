# what: writes until the disk is full
# met by: careless logging
# caught by: jail: a small file system in memory
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        with open("/tmp/large", "wb") as file:
            while True:
                file.write(bytes(1 << 24))

# what: a pair of sockets to itself, as worker pools have it
# looks like: jail_socket, jail_unix_socket
# expect: pass
# task: softmax
import socket

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        a, b = socket.socketpair()
        with a, b:
            a.sendall(b"go")
            assert b.recv(2) == b"go"
        return honest(x)

"""Memory for other processes: files in memory, tensors over foreign bytes."""
import ctypes
import mmap
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, PACKAGES

if HAVE_TORCH:
    import torch
    from cawb_host.base import shared_memory as share


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Shares(unittest.TestCase):
    def test_a_file_share_is_seen_through_its_descriptor(self):
        made = share.open_share(10000, torch.device("cpu"), "test")
        made.memory[9999] = 42
        with mmap.mmap(made.fd, 0) as other:
            self.assertEqual((len(other), other[9999]), (10000, 42))
        fd = made.fd
        made.close()
        made.close()
        self.assertRaises(OSError, os.fstat, fd)

    def test_nobody_who_has_its_descriptor_can_change_its_size(self):
        made = share.open_share(10000, torch.device("cpu"), "test")
        for size in (0, 100, 1 << 20):
            self.assertRaises(PermissionError, os.ftruncate, made.fd, size)
        made.memory[9999] = 1
        made.close()

    def test_an_empty_share_can_be_mapped(self):
        made = share.open_share(0, torch.device("cpu"), "test")
        mmap.mmap(made.fd, 0).close()
        made.close()

    def test_bytes_at_an_address_become_a_tensor_without_numpy(self):
        block = (ctypes.c_ubyte * 64)(*range(64))
        kept = len(share.KEPT)
        tensor = share.bytes_at(ctypes.addressof(block), 64, torch.device("cpu"))
        self.assertEqual((tensor.dtype, tensor.tolist()), (torch.uint8, list(range(64))))
        tensor.view(torch.int32)[1] = -1
        self.assertEqual(list(block[4:8]), [255] * 4)
        del tensor
        self.assertEqual(len(share.KEPT), kept)


@unittest.skipUnless(HAVE_TORCH and torch.cuda.is_available(), "no GPU that PyTorch can use")
class CudaShares(unittest.TestCase):
    def test_a_cuda_share_has_a_handle_and_can_be_written(self):
        made = share.open_share(1 << 20, torch.device("cuda:0"), "test")
        self.assertEqual(len(made.describe()["ipc"]), 128)
        made.memory.view(torch.float32).fill_(1.5)
        self.assertEqual(float(made.memory.view(torch.float32).sum()), 1.5 * (made.size // 4))
        made.close()


if __name__ == "__main__":
    unittest.main()

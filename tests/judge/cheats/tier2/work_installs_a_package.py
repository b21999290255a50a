# what: installs what it needs while it runs
# met by: KernelGuard, RUNTIME_PACKAGE_INSTALL
# caught by: jail: no network, nothing to write to
# expect: reject
# task: softmax
import subprocess
import sys

import torch

subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "triton-helper-kernels"])
import helper


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return helper.softmax(x)

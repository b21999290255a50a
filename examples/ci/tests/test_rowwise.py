"""Judged by cawb: on a GPU where there is one; else a simulated one executes CUDA, and the processor Python."""
import pathlib

import pytest
import torch

from rowwise.reference import rms_norm

HERE = pathlib.Path(__file__).parent.parent / "rowwise"
ROWS = [torch.randn(64, 96), torch.rand(96)]


@pytest.mark.cawb(rms_norm, str(HERE / "rms_norm.cu"), ROWS)
def test_cuda(verdict):
    assert verdict.errors["rms"] < 1e-6


def test_triton(cawb):
    pytest.importorskip("triton")
    from rowwise import rows
    cawb(rms_norm, rows.rms_norm, ROWS)

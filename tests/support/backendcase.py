"""backendcase: what tests of the backend of torch.compile share: a folder for packages, and comparisons."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
sys.path.insert(0, str(ROOT / "python"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import fallback, report     # noqa: E402  pylint: disable=wrong-import-position


def listed(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cawb-backend-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        torch.manual_seed(7)
        torch._dynamo.reset()
        fallback.said.clear()

    def compiled(self, model, **options):
        options = {"device": "sim:h100", "cache": os.path.join(self.folder, "packages"),
                   "failures": os.path.join(self.folder, "failures"), **options}
        return cawb.compile(model, **options)

    def parts(self, compiled):
        return [part for graph in report.of(backend.owner_of(compiled)) for part in graph.parts]

    def near(self, found, wanted):
        for a, b in zip(listed(found), listed(wanted), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)

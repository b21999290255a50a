"""The example repository of docs/howto/ci.md under pytest, and the steps of its workflow and of the action, executed as a runner would:
in a fresh environment with the wheel of the build in CAWB_BUILD, without a network. Needs pytest, PyYAML and Triton."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("CAWB_BUILD")
REPOSITORY = os.path.join(ROOT, "examples", "ci")
LACKS = [name for name in ("pytest", "yaml", "triton") if not importlib.util.find_spec(name)]

FAILS = '''
import pytest
import torch
from rowwise.reference import rms_norm


def forgets(x, weight):
    return x * weight


@pytest.fixture
def verdict():
    """Of the user's own: the mark counts all the same."""


@pytest.mark.cawb(rms_norm, kernel=forgets, examples=[torch.randn(8, 16), torch.rand(16)])
def test_wrong(verdict):
    raise AssertionError("the body ran")


@pytest.mark.cawb
def test_empty():
    pass


def test_nameless(cawb):
    cawb(rms_norm, lambda x, weight: x, [torch.randn(8, 16), torch.rand(16)])


@pytest.mark.cawb(rms_norm, rms_norm, [torch.randn(8, 16), torch.rand(16)], faster=True)
def test_not_faster():
    pass
'''


def environment(folder):
    """A fresh environment that has what this Python has, as a job's has what it installed, and the wheel. Its `python`."""
    subprocess.run([sys.executable, "-m", "venv", os.path.join(folder, "env")], check=True)
    python = os.path.join(folder, "env", "bin", "python")
    here, there = (subprocess.run([one, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True,
                                  text=True).stdout.strip() for one in (sys.executable, python))
    with open(os.path.join(there, "beside.pth"), "w", encoding="utf-8") as file:
        file.write(here + "\n")
    return python


def wheel(folder):
    tree = os.path.join(folder, "tree")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tree], check=True, capture_output=True)
    return subprocess.run([sys.executable, os.path.join(ROOT, "cmake", "wheel.py"), tree, os.path.join(ROOT, "python", "cawb"), "0.1.0",
                           folder], check=True, capture_output=True, text=True).stdout.strip()


def filled(text, inputs):
    """A value of an action with its inputs in it."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda m: inputs[m.group(1)], str(text))


@unittest.skipIf(LACKS or not BUILD, "without %s" % (", ".join(LACKS) or "CAWB_BUILD"))
class Workflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.work = os.path.join(cls.folder, "work")
        shutil.copytree(REPOSITORY, cls.work)
        cls.python, cls.wheel = environment(cls.folder), wheel(cls.folder)
        cls.ran = cls.run_workflow()

    @classmethod
    def shell(cls, script, more):
        env = {"PATH": os.path.dirname(cls.python) + ":/usr/local/bin:/usr/bin:/bin", "HOME": cls.folder, "PIP_NO_INDEX": "1",
               "GITHUB_STEP_SUMMARY": os.path.join(cls.folder, "summary.md"), **more}
        env.update({name: os.environ[name] for name in ("CAWB_SEED",) if name in os.environ})
        return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=cls.work, env=env, capture_output=True, text=True, check=False)

    @classmethod
    def run_workflow(cls):
        """What each step of the workflow printed, those of the action in the place of its `uses`; other actions are the runner's."""
        import yaml                                  # pylint: disable=import-outside-toplevel
        with open(os.path.join(REPOSITORY, ".github", "workflows", "kernels.yml"), encoding="utf-8") as file:
            workflow = yaml.safe_load(file)
        with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as file:
            action = cls.action = yaml.safe_load(file)
        ran = []
        for step in workflow["jobs"]["judge"]["steps"]:
            if "run" in step:
                ran.append((step["name"], cls.shell(step["run"], {})))
            elif "cawb" in step["uses"]:
                given = {**{name: about["default"] for name, about in action["inputs"].items()}, **step["with"], "wheel": cls.wheel}
                inputs = {**{"inputs." + name: value for name, value in given.items()}, "github.action_path": ROOT}
                for part in action["runs"]["steps"]:
                    if "run" in part:
                        env = {name: filled(value, inputs) for name, value in part.get("env", {}).items()}
                        ran.append((part["name"], cls.shell(part["run"], env)))
        return ran

    def test_every_step_ends_well(self):
        self.assertEqual([name for name, _ in self.ran], ["what the tests import", "install cawb", "judge", "a page of all that was judged"])
        for name, done in self.ran:
            self.assertEqual(done.returncode, 0, "%s\n%s\n%s" % (name, done.stdout, done.stderr))
        self.assertIn("test_cuda: right", self.ran[2][1].stdout)
        self.assertIn("test_triton: right, on the processor", self.ran[2][1].stdout)

    def test_without_a_wheel_one_is_built_once(self):
        checkout = os.path.join(self.folder, "checkout")
        os.makedirs(checkout)
        bootstrap = os.path.join(checkout, "bootstrap")
        with open(bootstrap, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ntest -x \"$CAWB_PYTHON\" && cd '%s' && mkdir build && cp '%s' build/\n" % (checkout, self.wheel))
        os.chmod(bootstrap, 0o755)
        script = next(part["run"] for part in self.action["runs"]["steps"] if part.get("name") == "install cawb")
        for _ in range(2):                       # a second build would end with 1, for its folder is there
            done = self.shell(script, {"WHEEL": "", "CHECKOUT": checkout})
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_kept_of_the_job(self):
        found = properties(os.path.join(self.work, "cawb.xml"))
        self.assertEqual(found["test_cuda"]["cawb verdict"], "right")
        self.assertEqual(found["test_cuda"]["cawb device"], "sim:h100")
        self.assertLess(float(found["test_triton"]["cawb error rms"]), 1e-6)
        self.assertTrue(os.path.exists(os.path.join(self.work, "cawb-runs", "report.html")))
        with open(os.path.join(self.folder, "summary.md"), encoding="utf-8") as file:
            self.assertIn("rms_norm", file.read())

    def test_what_is_wrong_fails_its_test_and_says_why(self):
        with open(os.path.join(self.work, "tests", "test_fails.py"), "w", encoding="utf-8") as file:
            file.write(FAILS)
        done = self.shell("python -m pytest --cawb-device sim:h100 --cawb-set verify.trials=1 --junitxml fails.xml tests/test_fails.py", {})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("give it one at module level", done.stdout)
        self.assertIn("take reference, kernel and examples", done.stdout)
        self.assertNotIn("the body ran", done.stdout)
        self.assertNotIn("judging.py", done.stdout)                 # no trace through cawb's own files
        found = properties(os.path.join(self.work, "fails.xml"))
        self.assertEqual(found["test_wrong"]["cawb verdict"], "wrong")
        self.assertIn("outputs[1]", found["test_wrong"]["cawb reason"])
        self.assertEqual(found["test_not_faster"]["cawb verdict"], "right")
        self.assertRegex(done.stdout, r"=+ 4 failed in ")


def properties(path):
    """The properties of each test in a file of JUnit's."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in cases}


if __name__ == "__main__":
    unittest.main()

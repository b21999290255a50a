"""python/cawb_learn/: whole runs. One that is killed goes on with the same numbers, one on a judge whose best program is known learns; variants, what a
user gets wrong, and what is made of an ablation's runs."""
import json
import os
import signal
import subprocess
import sys
import tempfile

from traincase import ROOT, Judge, run, small
import torch

import ablate
import knobs
import learning
import report
import rollout
import stages


def rows_of(folder):
    with open(os.path.join(folder, "log.jsonl"), encoding="utf-8") as file:
        return [{k: v for k, v in json.loads(line).items() if k != "asked"} for line in file]


def trained(folder, **changes):
    return stages.Trainer(small(**changes), Judge(), ["a", "b"], {}, folder).run()


def killed(folder, killed_at):
    """A run in a process of its own; killed as hard as can be after so many lines of its log."""
    code = ("import sys, os, signal; sys.path.insert(0, %r)\nimport traincase as t, stages, torch\ntorch.set_num_threads(1)\n"
            "trainer = stages.Trainer(t.small(), t.Judge(), ['a', 'b'], {}, %r)\nplain, count = trainer.log, [0]\n"
            "def log(*words):\n    plain(*words)\n    count[0] += 1\n    if count[0] == %r: os.kill(os.getpid(), signal.SIGKILL)\n"
            "trainer.log = log\ntrainer.run()\n") % (os.path.dirname(os.path.abspath(__file__)), folder, killed_at)
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode


def test_killed():
    with tempfile.TemporaryDirectory() as folder:
        whole, cut = os.path.join(folder, "whole"), os.path.join(folder, "cut")
        trained(whole)
        for lines in (5, 9):
            assert killed(cut, lines) == -signal.SIGKILL
        trained(cut)
        assert rows_of(cut) == rows_of(whole)
        first, second = (torch.load(os.path.join(f, "stage-agentic.pt"), weights_only=True) for f in (whole, cut))
        assert all(torch.equal(first["actor"][k], second["actor"][k]) for k in first["actor"])
        assert {row["stage"] for row in rows_of(whole)} == set(stages.STAGES)
        assert all(os.path.exists(os.path.join(whole, "stage-%s.pt" % stage)) for stage in stages.STAGES)
        try:
            trained(cut, rft_steps=9)
        except SystemExit as refused:
            assert "was begun with other knobs (rft_steps)" in str(refused)
        else:
            raise AssertionError("a folder of other knobs is not gone on with")


def test_learns():
    """Likelihood on a judge whose best program is known; the draws are fixed, so the outcome is."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = trained(folder, prior_steps=80, prior_programs=32, prior_rate=1e-2, single_steps=0, rft_steps=0, value_steps=0, agentic_steps=0)
        draws = rollout.episodes_of(trainer.knobs, trainer.actor, Judge(), {}, ["a"] * 20, 2, torch.Generator().manual_seed(3))
        assert sum(e["programs"][1] == ["joined", 4, "auto"] for e in draws) >= 10, "most of its programs are the best one"
        curve = stages.curve(trainer.knobs, trainer.actor, Judge(), {}, "a", 8)
        assert len(curve) == 8 and curve[0] == Judge().default("a")["seconds"] > curve[-1]


def test_variants():
    assert ablate.variant(knobs.of(turns=3, batch=8), "no loop", 2) == knobs.of(turns=1, batch=16, seed=2)
    assert ablate.variant(knobs.of(turns=3, batch=8), "tiers", 0) == knobs.of(turns=3, batch=8, reward="tiers")
    for name in knobs.VARIANTS:
        assert set(ablate.variant(knobs.of(), name, 0)) == set(knobs.KNOBS), name


def test_mistakes():
    """What a user gets wrong is one sentence, ahead of any server."""
    for words, said in ((("report", "there/is/none"), "holds no ablation"), (("ablate", "none.jsonl", "--variants", "foo"), "there is no variant 'foo'"),
                        (("run", "none.jsonl", "--knob", "foo=1"), "there is no knob 'foo'"), (("run", "none.jsonl"), "./bootstrap builds it")):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([sys.executable, os.path.join(ROOT, "python/cawb_learn"), *words, "--out", folder], capture_output=True, text=True, check=False,
                                 env=dict(os.environ, CAWB_PROGRAM="/there/is/no/bin/cawb"))
        assert ran.returncode == 1 and said in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr


def test_the_python_of_the_environment():
    with tempfile.TemporaryDirectory() as cache:
        for name in ("venv-torch2.11", "train"):
            os.makedirs(os.path.join(cache, "cawb", name, "bin"))
            python = os.path.join(cache, "cawb", name, "bin", "python")
            with open(python, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho " + name + "\n")
            os.chmod(python, 0o755)
        env = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": cache}
        said = [subprocess.run([os.path.join(ROOT, "python/cawb_learn/cawb-train"), word], env=dict(env, **more), capture_output=True,
                               text=True, check=True).stdout.strip()
                for word, more in (("lm", {}), ("run", {}), ("lm", {"CAWB_PYTHON": "/bin/echo"}))]
        assert said[:2] == ["train", "venv-torch2.11"] and said[2].endswith("cawb_learn lm"), said


def test_report():
    anchors = {task: {"compile": 1.0, "seconds": 1.0, "best": 0.5} for task in "ab"}
    lines = report.table({"full": {("a", 0): [1.0, 0.5], ("b", 0): [1.0, 1.0]}}, anchors, (1, 2, 4))
    assert lines[-1] == "| full | 0%, 1.00x, 0.50 | 50%, 1.41x, 0.75 | - |", lines
    runs = {"full": {0: {"log": [{"stage": "agentic", "step": k, "reward": 0.1 * k} for k in range(3)]}}}
    assert "full, seed 0: reward" in report.drawing(runs) and "0 to 0.2, 3 steps" in report.drawing(runs)


def test_statistics():
    mean, lo, hi, p = learning.bootstrap({(task, seed): 1.0 for task in "abc" for seed in (0, 1)}, 200)
    assert (mean, lo, hi) == (1.0, 1.0, 1.0) and p < 0.05
    assert learning.bootstrap({(task, 0): 0.0 for task in "abc"}, 200)[3] == 1.0
    assert learning.bootstrap({(task, 0): d for task, d in zip("abcd", (1, -1, 1, -1))}, 500)[3] > 0.3
    assert learning.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "c": 0.06, "b": 0.06}
    anchors = {task: {"compile": 1.0, "seconds": 1.0} for task in "abc"}
    half, whole = ({0: {"test": {task: [seconds] * 8 for task in "abc"}}} for seconds in (0.5, 1.0))
    assert learning.compared(anchors, {"full": whole, "tiers": half}) == ["| tiers | +0.693 [+0.693, +0.693] | 0.000 |"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(globals())

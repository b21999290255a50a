"""The scripts in cluster/ for real: a Slurm of one node, controller and node daemon on this
machine's loopback; GNU parallel on two shards. Skipped where the programs are missing or, for
Slurm, without root.
"""
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CAWB_PROGRAM") or str(ROOT / "build" / "release" / "bin" / "cawb")
SLURM = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo")
ENVIRONMENT = dict(os.environ, CAWB=PROGRAM, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin",
                   CAWB_PYTHON=os.environ.get("CAWB_PYTHON", sys.executable))
FLAGS = ["--device", "sim:h100", "--set", "turns=1", "--set", "sweep.variants=1", "--set", "verify.trials=1", "--seed", "7"]

TASK = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [torch.randn(4, 64)]
def get_init_inputs():
    return []
"""


def missing(programs):
    return [p for p in programs if not shutil.which(p, path=ENVIRONMENT["PATH"])]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Cluster(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cawb-cluster-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        bodies = ["torch.relu(x)", "torch.softmax(x, dim=-1)", "torch.fft.fft(x).real"]
        rows = [{"level": 1, "problem_id": i, "name": "%d_T" % i, "code": TASK % b} for i, b in enumerate(bodies, 1)]
        self.suite = self.folder / "suite.jsonl"
        self.suite.write_text("".join(json.dumps(r) + "\n" for r in rows))
        self.out = self.folder / "out"

    def words(self):
        return [str(ROOT / "strategies" / "ladder.lua"), str(self.suite), str(self.out)] + FLAGS

    def rows(self, folder):
        with sqlite3.connect("file:%s/store.sqlite?mode=ro" % folder, uri=True) as db:
            return sorted(db.execute("SELECT task, status, attempt FROM suite_tasks"))

    WANT = [("1/1_T", "pass", 1), ("1/2_T", "pass", 1), ("1/3_T", "no candidate", 1)]

    @unittest.skipIf(missing(["parallel"]), "no GNU parallel")
    def test_parallel(self):
        words = [str(ROOT / "cluster" / "parallel.sh"), "2"] + self.words()
        done = subprocess.run(words, env=dict(ENVIRONMENT, GPUS="2"), capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows(self.out), self.WANT)
        self.assertEqual(len(self.rows(self.out / "shard-1")), 2)
        again = subprocess.run(words, env=dict(ENVIRONMENT, GPUS="2"), capture_output=True, text=True, timeout=500)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.rows(self.out), self.WANT)

    def test_usage(self):
        for script in ("parallel.sh", "slurm.sh"):
            done = subprocess.run([str(ROOT / "cluster" / script)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("STRATEGY.lua SUITE OUT", done.stderr)


@unittest.skipIf(missing(SLURM), "no Slurm: %s" % ", ".join(missing(SLURM)))
@unittest.skipUnless(os.geteuid() == 0, "Slurm's daemons are started as root here")
class Slurm(Cluster):
    """A controller and a node of two processors, with a key of their own."""

    test_parallel = test_usage = None

    def setUp(self):
        super().setUp()
        self.daemons = []
        self.addCleanup(self.stop)
        os.chmod(self.folder, 0o755)
        host = socket.gethostname().split(".")[0]
        (self.folder / "munge").mkdir(mode=0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = self.folder / "munge" / "socket"
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "slurm.conf").write_text("\n".join([
            "ClusterName=cawb", "SlurmctldHost=%s(127.0.0.1)" % host, "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", "AuthInfo=socket=%s" % munge, "CredType=cred/munge", "MpiDefault=none",
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
            "SlurmctldPort=%d" % free_port(), "SlurmdPort=%d" % free_port(),
            "StateSaveLocation=%s/state" % self.folder, "SlurmdSpoolDir=%s/spool" % self.folder,
            "SlurmctldPidFile=%s/ctld.pid" % self.folder, "SlurmdPidFile=%s/d.pid" % self.folder,
            "SlurmctldLogFile=%s/ctld.log" % self.folder, "SlurmdLogFile=%s/d.log" % self.folder,
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "SelectType=select/cons_tres", "SchedulerType=sched/builtin", "ReturnToService=2", "JobRequeue=1",
            "NodeName=%s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN" % host,
            "PartitionName=all Nodes=%s Default=YES State=UP OverSubscribe=NO" % host, ""]))
        self.environment = dict(ENVIRONMENT, SLURM_CONF=str(self.folder / "slurm.conf"))
        self.start("munged", "--foreground", "--force", "--key-file=%s" % key, "--socket=%s" % munge,
                   "--pid-file=%s/munge/pid" % self.folder, "--log-file=%s/munge/log" % self.folder,
                   "--seed-file=%s/munge/seed" % self.folder)
        self.until(munge.exists, "munged's socket")
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", host)
        self.until(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), "an idle node")

    def start(self, *words):
        log = open(self.folder / (words[0] + ".out"), "w")
        self.addCleanup(log.close)
        self.daemons.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def until(self, ready, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > deadline:
                logs = "".join(p.read_text()[-1500:] for p in self.folder.glob("*.log")) + \
                    "".join(p.read_text()[-800:] for p in self.folder.glob("*.out"))
                self.fail("waited in vain for %s\n%s" % (what, logs))
            time.sleep(0.2)

    def submit(self):
        words = ["sbatch", "--parsable", "--array=1-2", "--requeue", "--chdir=%s" % ROOT, "--output=%s/job-%%a.log" % self.folder,
                 str(ROOT / "cluster" / "slurm.sh")] + self.words()
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip().split(";")[0]

    def running(self, job):
        """Whether anything is left of it; a requeued task would wait for minutes before it starts again."""
        self.ask("scontrol", "update", "JobId=%s_1" % job, "StartTime=now")
        return self.ask("squeue", "-h", "-j", job, "-o", "%T").strip()

    def logs(self):
        return "".join(p.read_text() for p in self.folder.glob("job-*.log"))

    def test_array_of_two_shards_with_a_requeue(self):
        job = self.submit()
        self.until(lambda: (self.out / "shard-1" / "store.sqlite").exists(), "the first shard", 120)
        self.ask("scontrol", "requeue", job + "_1")          # as a preemption would
        self.until(lambda: not self.running(job), "the jobs to end", 400)
        merged = subprocess.run([PROGRAM, "merge", str(self.out), str(self.out / "shard-1"), str(self.out / "shard-2")],
                                capture_output=True, text=True)
        self.assertEqual(merged.returncode, 0, merged.stderr + self.logs())
        self.assertEqual(self.rows(self.out), self.WANT, self.logs())


if __name__ == "__main__":
    unittest.main()

"""python/cawb_learn/: advantages and losses by their definitions, programs as tokens, a run that is killed and goes on with the same numbers. Programs
are judged by a function here; tests/learn/train/run has the judge."""
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn")]

import torch  # noqa: E402

import ablate  # noqa: E402
import client  # noqa: E402
import knobs  # noqa: E402
import lang  # noqa: E402
import model  # noqa: E402
import policy  # noqa: E402
import ppo  # noqa: E402
import rollout  # noqa: E402
import search  # noqa: E402
import stages  # noqa: E402

DECISIONS = [{"kind": "cut", "what": "1.1|2.1", "values": ["joined", "cut"]},
          {"kind": "knob", "kernel": "2.1", "by": "rows", "name": "vector", "values": ["auto", 1, 2, 4], "size": 4096, "row": 64},
          {"kind": "knob", "kernel": "2.1", "by": "rows", "name": "guards", "values": [True, False], "size": 4096, "row": 64}]


class Judge:
    """In place of a server: right where guards stay, faster with wide vectors and without a cut."""

    asked = evaluated = 0

    def decisions(self, name):
        return DECISIONS

    def random(self, task, rng):
        return lang.random_program(self.decisions(task), rng)

    def default(self, _):
        return self.one(lang.default(DECISIONS))

    def score(self, pairs):
        self.asked += len(pairs)
        return [self.one(program) for _, program in pairs]

    def one(self, program):
        if lang.schedule(DECISIONS, program, True) is None:
            return {"ok": False, "stage": "reply", "reason": "unreadable"}
        if program[2] is False:
            return {"ok": False, "stage": "verify", "reason": "stray"}
        gain = (2.0 if program[0] == "joined" else 1.0) * (program[1] if isinstance(program[1], int) else 1) / 3
        return {"ok": True, "stage": "pass", "seconds": 1e-5 / gain, "eager": gain, "compile": gain, "limit": "memory"}


def close(a, b, most=1e-6):
    assert abs(a - b) <= most * max(1.0, abs(b)), (a, b)


# ---- the formulas, from their definitions, for one episode's chosen places alone

def plain_gae(rewards, values, gamma, lam):
    """A_k = sum over l of (gamma lam)^l delta_(k + l); delta_k = r_k + gamma V_(k+1) - V_k, V beyond the end is 0."""
    deltas = [r + gamma * (values[k + 1] if k + 1 < len(values) else 0.0) - values[k] for k, r in enumerate(rewards)]
    return [sum((gamma * lam) ** (j - k) * deltas[j] for j in range(k, len(deltas))) for k in range(len(deltas))]


def drawn(seed):
    torch.manual_seed(seed)
    n, length = 3, 17
    mask = (torch.rand(n, length) > 0.4).double()
    mask[:, 2] = 1
    rewards = torch.randn(n, length).double() * mask
    return mask, rewards, *(torch.randn(n, length).double() for _ in range(5))


def test_gae():
    for gamma, lam in ((1.0, 0.95), (0.9, 0.5)):
        mask, rewards, values, *_ = drawn(1)
        advantages, returns = ppo.gae(rewards, values, mask, gamma, lam)
        for i in range(3):
            at = [k for k in range(17) if mask[i, k] > 0]
            wanted = plain_gae([float(rewards[i, k]) for k in at], [float(values[i, k]) for k in at], gamma, lam)
            for k, a in zip(at, wanted):
                close(float(advantages[i, k]), a)
                close(float(returns[i, k]), a + float(values[i, k]))


def test_whiten():
    mask, _, x, *_ = drawn(2)
    picked = [float(v) for v in x[mask > 0]]
    middle = sum(picked) / len(picked)
    spread = sum((v - middle) ** 2 for v in picked) / (len(picked) - 1)
    for got, v in zip(ppo.whiten(x, mask)[mask > 0], picked):
        close(float(got), (v - middle) / math.sqrt(spread + 1e-8))


def test_policy_loss():
    mask, _, new, old, advantages, *_ = drawn(3)
    loss, clipped = ppo.policy_loss(new, old, advantages, mask, 0.2, 0.28)
    terms, count = [], 0
    for n, o, a in zip(new[mask > 0].tolist(), old[mask > 0].tolist(), advantages[mask > 0].tolist()):
        ratio = math.exp(max(-20.0, min(20.0, n - o)))
        plain, bound = -a * ratio, -a * max(0.8, min(1.28, ratio))
        count += bound > plain
        terms.append(min(max(plain, bound), -a * 3.0) if a < 0 else max(plain, bound))
    close(float(loss), sum(terms) / len(terms))
    close(float(clipped), count / len(terms))


def test_value_loss():
    mask, _, new, old, returns, *_ = drawn(4)
    terms = []
    for v, o, r in zip(new[mask > 0].tolist(), old[mask > 0].tolist(), returns[mask > 0].tolist()):
        near = max(o - 0.5, min(o + 0.5, v))
        terms.append(max((v - r) ** 2, (near - r) ** 2))
    close(float(ppo.value_loss(new, old, returns, mask, 0.5)), 0.5 * sum(terms) / len(terms))


def test_explained():
    mask, _, values, *_ = drawn(5)
    close(ppo.explained(values, values, mask), 1.0)
    close(ppo.explained(torch.zeros_like(values), values, mask), 0.0)


# ---- language and loop

def test_language():
    assert lang.schedule(DECISIONS, ["joined", "auto", True], True) == {"strict": True}
    assert lang.schedule(DECISIONS, ["cut", 4, False], True) == {"strict": True, "cuts": ["1.1|2.1"],
                                                            "kernels": {"2.1": {"vector": 4, "guards": False}}}
    assert lang.schedule(DECISIONS, ["cut", True, True], False) is None, "true is no vector"
    assert lang.schedule(DECISIONS, [None, 1, True], False) is None
    for value in lang.VALUES:
        assert lang.is_in([lang.value_of(lang.token_of(value))], value), value
    assert lang.value_of(lang.GO) is None and len(set(lang.VOCABULARY.values())) == len(lang.VOCABULARY)


def small(**changes):
    return knobs.of(**dict(dict(knobs.TINY, fail_cost=0.1, layers=1, width=16, heads=1, length=96), **changes))


def test_loop():
    for changes in ({}, {"action": "whole", "start": False, "paid": "end", "turn_cost": 0.02}, {"start": False, "turn_cost": 0.02}):
        table, judge = small(turns=3, **changes), Judge()
        torch.manual_seed(0)
        actor = model.actor(table)
        episodes = rollout.episodes_of(table, actor, judge, {}, ["a", "b"] * 4, 3, torch.Generator().manual_seed(1))
        for e in episodes:
            assert len(e["tokens"]) == len(e["mask"]) == len(e["logs"]) == len(e["rewards"])
            assert all(chosen for chosen, reward in zip(e["mask"], e["rewards"]) if reward), "what is paid for was chosen"
            paid = e["best"] - table["turn_cost"] * (len(e["results"]) - 1) - table["fail_cost"] * sum(not r["ok"] or p in e["programs"][:k]
                                                                                                    for k, (r, p) in enumerate(zip(e["results"], e["programs"])))
            first = rollout.reward_of(table, e["results"][0]) if table["start"] else 0.0
            close(sum(e["rewards"]), paid - first)
        batch = ppo.batch_of(episodes)
        logs, _ = ppo.log_probabilities(actor, batch["tokens"])
        assert float(((logs.detach() - batch["logs"]) * batch["mask"]).abs().max()) < 1e-4, "what was drawn and what is learnt from are the same"


def test_legal():
    """What cannot be read, or changes nothing, is not drawn."""
    for changes in ({}, {"action": "whole", "start": False}):
        table = small(legal=True, turn_cost=0.0, turns=4, edits=1, **changes)
        for episode in rollout.episodes_of(table, model.actor(table), Judge(), {}, ["a"] * 8, 4, torch.Generator().manual_seed(2)):
            assert all(r["stage"] != "reply" for r in episode["results"])
            assert table["action"] == "whole" or episode["programs"][1] != episode["programs"][0]


def test_exact():
    """Where only what can be read is drawn, what was drawn and what is learnt from are the same if the ratio is of that alone."""
    for exact in (True, False):
        for changes in ({}, {"action": "whole", "start": False}):
            table = small(legal=True, exact=exact, turns=3, **changes)
            torch.manual_seed(3)
            actor = model.actor(table)
            episodes = rollout.episodes_of(table, actor, Judge(), {}, ["a", "b"] * 4, 3, torch.Generator().manual_seed(4))
            batch = ppo.batch_of(episodes)
            closed = ppo.closed_of(episodes, batch["tokens"].shape[1]) if exact else None
            logs, entropy = ppo.log_probabilities(actor, batch["tokens"], closed)
            assert float(((logs.detach() - batch["logs"]) * batch["mask"]).abs().max()) < 1e-4
            chosen = batch["mask"] > 0
            assert (float(entropy.detach()[chosen].max()) < math.log(12)) == exact, "few words can be drawn, of many"
            told = ppo.update(dict(table, epochs=1), episodes, actor, model.critic(table),
                              {"actor": torch.optim.SGD(actor.parameters(), lr=0.0), "critic": torch.optim.SGD(model.critic(table).parameters(), lr=0.0)})
            assert abs(told["ratio_p1"] - 1) < 1e-4 and abs(told["ratio_p99.9"] - 1) < 1e-4


def test_split():
    """Tasks that were held out stay it where a suite has grown; those that are gone are left out."""
    few = ["t%d" % k for k in range(8)]
    learn, test = client.split(few, 3)
    assert sorted(learn + test) == few and len(test) == 3
    more, kept = client.split(few + ["u%d" % k for k in range(9)], 3, test)
    assert kept == test and len(more) == 14 and set(learn) < set(more)
    assert client.split([name for name in few if name != test[0]], 3, test)[1] == test[1:]
    assert client.split(few, 3, ["of another suite"]) == (learn, test)


def test_edits():
    """Edits are of the best program so far; a name that several decisions have needs to be told which one; what is no edit ends a turn."""
    class Two(Judge):
        def decisions(self, name):
            return DECISIONS + [dict(DECISIONS[1], kernel="3.1")]

        def one(self, program):
            return dict(super().one(program[:3]), limit="memory")
    table, judge = small(turn_cost=0.02), Two()
    said = []

    def choose(_, episodes, *__):
        token = said.pop(0)
        rollout._read(episodes[0], [token], 1)
        return [token]
    plain, rollout._choose = rollout._choose, choose
    try:
        vector, value = lang.decision_token(DECISIONS[1]), lang.token_of
        for words, wanted in (([vector, lang.OF, value(4), lang.READY], ["joined", 4, True, "auto"]),
                              ([vector, lang.OF + 1, value(2), lang.decision_token(DECISIONS[0]), value("cut")], ["cut", "auto", True, 2]),
                              ([vector, lang.OF + 2], [None] * 4), ([lang.GO], [None] * 4), ([lang.decision_token(DECISIONS[0]), value(4)], [None, "auto", True, "auto"])):
            said[:] = [lang.GO, *words]
            (episode,) = rollout.episodes_of(table, model.actor(table), judge, {}, ["a"], 2, None)
            assert episode["programs"][1] == wanted and not said, episode["programs"]
            again = rollout.begin(table, judge, {}, "a", judge.default("a"))
            rollout.append(table, again, 1, wanted, episode["results"][1])
            if None not in wanted and wanted[0] == "joined":
                assert again["tokens"] == episode["tokens"], "a program is read as the edits that it is"
        said[:] = [lang.GO, vector, lang.OF, value(4), lang.READY, lang.GO, lang.READY, lang.STOP]
        (episode,) = rollout.episodes_of(table, model.actor(table), judge, {}, ["a"], 4, None)
        assert episode["programs"][2] == episode["programs"][1] == episode["base"], "the second edit is of the better program"
        assert [k for k, r in enumerate(episode["rewards"]) if r > 0] == [episode["ends"][1]] and episode["ends"][0] is None
    finally:
        rollout._choose = plain


def test_reader():
    torch.manual_seed(0)
    actor, rng = model.actor(small()), random.Random(1)
    lists, reader = [[1] for _ in range(6)], model.Reader(actor, 6)
    with torch.no_grad():
        while max(map(len, lists)) < 90:
            rows = sorted(rng.sample(range(6), rng.randint(1, 6)))
            for n in rows:
                lists[n] += [rng.randrange(len(lang.VOCABULARY)) for _ in range(rng.randint(1, 4))]
            picked = [lists[n] for n in rows]
            whole = actor(model.padded(picked))[torch.arange(len(rows)), [len(one) - 1 for one in picked]]
            assert float((reader.logits(rows, picked) - whole).abs().max()) < 1e-4, "what is read bit by bit is read the same"


class Server:
    """Stands for a server: it answers with its own name, and notes what it was asked."""

    def __init__(self, name):
        self.name, self.items = name, []

    def tasks(self):
        return [{"key": key, "hash": key * 16} for key in "abc"]

    def score(self, task, schedule):
        return {"ok": True, "decisions": DECISIONS, "speedup": {}, "time_s": {"median": 1.0}}

    def score_all(self, items):
        self.items += items
        return [{"ok": True, "speedup": {}, "time_s": {"median": float(self.name)}} for _ in items]


def test_servers_share_tasks_and_processes_share_answers():
    with tempfile.TemporaryDirectory() as folder:
        path, both = os.path.join(folder, "memo.jsonl"), [Server("1"), Server("2")]
        one, other = client.Tasks(both, path, own="-1"), client.Tasks(both, path, own="-2")
        drawn = [(task, lang.default(DECISIONS)[:-1] + [False]) for task in "abca"]
        assert [r["seconds"] for r in one.score(drawn)] == [1.0, 2.0, 1.0, 1.0], "each server has tasks of its own"
        assert [len(server.items) for server in both] == [2, 1], "the same is asked once"
        assert [r["seconds"] for r in other.score(drawn)] == [1.0, 2.0, 1.0, 1.0]
        assert other.evaluated == 0 and [len(server.items) for server in both] == [2, 1], "another process reads the answer"
        with open(os.path.join(folder, "memo-1.jsonl"), "ab") as file:
            file.write(b'["cut off')
        other.memo.refresh()
        assert client.Memo(path, "-1").known.keys() == one.known.keys(), "a line that was cut off is dropped"
        one.close(), other.close()


def test_rewards():
    right = {"ok": True, "eager": 2.0, "compile": 1.01}
    assert [rollout.reward_of(dict(reward=kind), right) for kind in ("tiers", "raw")] == [2.0, 1.01]
    close(rollout.reward_of(dict(reward="log"), right), math.log(1.01))
    assert rollout.reward_of(dict(reward="tiers"), dict(right, compile=1.2)) == 3.0
    assert rollout.reward_of(dict(reward="raw"), {"ok": False}) == -1.0
    close(rollout.reward_of(dict(reward="own"), dict(right, seconds=1.0), {"seconds": 1.1}), 4 * math.log(1.1))


def test_searches():
    judge = Judge()
    for curve in (search.drawn(judge, "a", 16), search.evolution(judge, "a", 16), search.evolution(judge, "a", 16, start=lang.default(DECISIONS)), search.climbed(judge, "a", 16)):
        known = [s for s in curve if s]
        assert len(curve) == 16 and known == sorted(known, reverse=True)
    assert search.evolution(judge, "a", 16, start=lang.default(DECISIONS))[-1] <= judge.one(lang.default(DECISIONS))["seconds"]


def test_variants():
    assert ablate.variant(knobs.of(turns=3, batch=8), "no loop", 2) == knobs.of(turns=1, batch=16, seed=2)
    assert ablate.variant(knobs.of(turns=3, batch=8, start=False), "no loop", 2)["batch"] == 24
    assert ablate.variant(knobs.of(turns=3, batch=8), "tiers", 0) == knobs.of(turns=3, batch=8, reward="tiers")
    for name in knobs.VARIANTS:
        assert set(ablate.variant(knobs.of(), name, 0)) == set(knobs.KNOBS), name


def test_mistakes():
    """What a user gets wrong is one sentence, ahead of any server."""
    for words, said in ((("policy", "there/is/none.pt"), "there/is/none.pt"), (("ablate", "none.jsonl", "--variants", "foo"), "there is no variant 'foo'")):
        ran = subprocess.run([sys.executable, os.path.join(ROOT, "python/cawb_learn"), *words, "--out", tempfile.gettempdir() + "/none"], capture_output=True, text=True, check=False,
                             env=dict(os.environ, CAWB_PROGRAM="/there/is/no/bin/cawb"))
        assert ran.returncode == 1 and said in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr


# ---- a run

def rows_of(folder):
    with open(os.path.join(folder, "log.jsonl"), encoding="utf-8") as file:
        return [{k: v for k, v in json.loads(line).items() if k != "asked"} for line in file]


def run(folder, **changes):
    return stages.Trainer(small(**changes), Judge(), ["a", "b"], {}, folder).run()


def killed(folder, killed_at, **changes):
    """A run in a process of its own; killed as hard as can be after so many lines of its log."""
    code = ("import sys, os, signal; sys.path[:0] = [%r, %r]\nimport test_train as t, stages, torch\ntorch.set_num_threads(1)\n"
            "trainer = stages.Trainer(t.small(**%r), t.Judge(), ['a', 'b'], {}, %r)\nplain, count = trainer.log, [0]\n"
            "def log(*words):\n    plain(*words)\n    count[0] += 1\n    if count[0] == %r: os.kill(os.getpid(), signal.SIGKILL)\n"
            "trainer.log = log\ntrainer.run()\n") % (os.path.join(ROOT, "python/cawb_learn"), os.path.dirname(os.path.abspath(__file__)), changes, folder, killed_at)
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode


def test_killed():
    with tempfile.TemporaryDirectory() as folder:
        whole, cut = os.path.join(folder, "whole"), os.path.join(folder, "cut")
        run(whole, rare_steps=2)
        for lines in (5, 9):
            assert killed(cut, lines, rare_steps=2) == -signal.SIGKILL
        run(cut, rare_steps=2)
        assert rows_of(cut) == rows_of(whole)
        first, second = (torch.load(os.path.join(f, "stage-agentic.pt"), weights_only=True) for f in (whole, cut))
        assert all(torch.equal(first["actor"][k], second["actor"][k]) for k in first["actor"])
        assert {row["stage"] for row in rows_of(whole)} == set(stages.STAGES)
        for stage in stages.STAGES:
            assert policy.load(os.path.join(whole, "stage-%s.pt" % stage))[0]["width"] == 16
        try:
            run(cut, rare_steps=3)
        except SystemExit as refused:
            assert "was begun with other knobs (rare_steps)" in str(refused)
        else:
            raise AssertionError("a folder of other knobs is not gone on with")


def test_start():
    """Compose's own program is read, not chosen; a policy that stops at once is worth what it is worth."""
    table = small(start=True, reward="own")
    one = rollout.begin(table, Judge(), {}, "a", Judge().default("a"))
    assert one["programs"] == [lang.default(DECISIONS)] and len(one["results"]) == 1 and not any(one["mask"])
    for episode in rollout.episodes_of(table, model.actor(table), Judge(), {}, ["a"] * 8, 1, torch.Generator().manual_seed(1)):
        assert episode["best"] >= 0.0 and len(episode["results"]) <= 2 and episode["programs"][0] == lang.default(DECISIONS)
        again = rollout.begin(table, Judge(), {}, "a")           # as a checkpoint is asked: the first turn's verdict comes from outside
        rollout.append(table, again, 0, episode["programs"][0], episode["results"][0])
        assert again["tokens"] == episode["tokens"][:len(again["tokens"])]


def test_policy():
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
        table, actor = policy.load(os.path.join(folder, "checkpoint.pt"))
        asked = {"operators": ["a"], "decisions": DECISIONS, "results": [], "programs": []}
        said = policy.answer(table, actor, asked, torch.Generator().manual_seed(1))
        assert len(said["program"]) == len(DECISIONS)
        result = Judge().one(["joined", 4, True])
        more = dict(asked, results=[result] * 20, programs=[["joined", 4, True]] * 20)
        assert "no room" in policy.answer(table, actor, more, torch.Generator())["why"]
        state = torch.load(os.path.join(folder, "checkpoint.pt"), weights_only=True)
        del state["knobs"]["legal"]
        torch.save(state, os.path.join(folder, "older.pt"))
        assert policy.load(os.path.join(folder, "older.pt"))[0] == table, "a checkpoint of before a knob can be asked"


def test_learns():
    """The whole procedure on a judge whose best program is known; the draws are fixed, so the outcome is."""
    with tempfile.TemporaryDirectory() as folder:
        table = small(prior_steps=80, prior_programs=8, prior_rate=1e-2, single_steps=0, rft_steps=0, value_steps=0, agentic_steps=0)
        trainer = stages.Trainer(table, Judge(), ["a", "b"], {}, folder).run()
        draws = rollout.episodes_of(table, trainer.actor, Judge(), {}, ["a"] * 20, 1, torch.Generator().manual_seed(3))
        assert sum(any(r["ok"] for r in e["results"]) for e in draws) >= 10, "most of its programs can be read and are right"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, one in list(globals().items()):
        if name.startswith("test_") and callable(one):
            one()
            print("ok  ", name)

"""python/cawb_learn/: programs as tokens, the agent loop and its rewards, searches, and what processes share. Programs are judged by a
function here; tests/learn/train/stages has the judge."""
import math
import os
import tempfile

from traincase import DECISIONS, Judge, close, run, small
import torch

import client
import lang
import model
import ppo
import rollout
import search


def test_language():
    assert lang.schedule(DECISIONS, ["joined", "auto", "auto"]) == {}
    assert lang.schedule(DECISIONS, ["cut", 4, False]) == {"cuts": ["1.1|2.1"], "kernels": {"2.1": {"vector": 4, "hold": False}}}
    assert lang.schedule(DECISIONS, ["cut", True, "auto"]) is None, "true is no vector"
    assert lang.schedule(DECISIONS, [None, 1, "auto"]) is None
    for value in lang.VALUES:
        assert lang.is_in([lang.value_of(lang.token_of(value))], value), value
    assert lang.value_of(lang.READY) is None and len(set(lang.VOCABULARY.values())) == len(lang.VOCABULARY)


def test_loop():
    """Compose's own program is read, not chosen; what is paid adds up to what was gained, less failures; what was drawn is what is learnt from."""
    table, judge = small(turns=3), Judge()
    torch.manual_seed(0)
    actor = model.actor(table)
    episodes = rollout.episodes_of(table, actor, judge, {}, ["a", "b"] * 4, 3, torch.Generator().manual_seed(1))
    for e in episodes:
        assert len(e["tokens"]) == len(e["mask"]) == len(e["logs"]) == len(e["rewards"])
        assert e["programs"][0] == lang.default(DECISIONS) and e["ends"][0] is None and len(e["results"]) == 3
        assert all(chosen for chosen, reward in zip(e["mask"], e["rewards"]) if reward), "what is paid for was chosen"
        failures = sum(not r["ok"] or p in e["programs"][:k] for k, (r, p) in enumerate(zip(e["results"], e["programs"])))
        close(sum(e["rewards"]), e["best"] - table["fail_cost"] * failures - rollout.reward_of("log", e["results"][0]))
    batch = ppo.batch_of(episodes)
    logs, _ = ppo.log_probabilities(actor, batch["tokens"])
    assert float(((logs.detach() - batch["logs"]) * batch["mask"]).abs().max()) < 1e-4


def test_edits():
    """Edits are of the best program so far; a name that several decisions have needs to be told which one; what is no edit ends a turn."""
    class Two(Judge):
        def decisions(self, name):
            return DECISIONS + [dict(DECISIONS[1], kernel="3.1")]

        def one(self, program):
            return dict(super().one(program[:3]), limit="memory")
    table, judge, said = small(), Two(), []

    def choose(_, episodes, __):
        rollout._read(episodes[0], said[:1], 1)
        return [said.pop(0)]
    plain, rollout._choose = rollout._choose, choose
    try:
        vector, value = lang.decision_token(DECISIONS[1]), lang.token_of
        for words, wanted in (([vector, lang.OF, value(4), lang.READY], ["joined", 4, "auto", "auto"]),
                              ([vector, lang.OF + 1, value(2), lang.decision_token(DECISIONS[0]), value("cut")], ["cut", "auto", "auto", 2]),
                              ([vector, lang.OF + 2], [None] * 4), ([lang.TURN], [None] * 4),
                              ([lang.decision_token(DECISIONS[0]), value(4)], [None, "auto", "auto", "auto"])):
            said[:] = words
            (episode,) = rollout.episodes_of(table, None, judge, {}, ["a"], 2, None)
            assert episode["programs"][1] == wanted and not said, episode["programs"]
            if wanted[0] == "joined":
                again = rollout.begin(table, judge, {}, "a")
                rollout.append(table, again, wanted, episode["results"][1])
                assert again["tokens"] == episode["tokens"], "a program is read as the edits that it is"
        said[:] = [vector, lang.OF, value(4), lang.READY, lang.READY, lang.READY]
        (episode,) = rollout.episodes_of(table, None, judge, {}, ["a"], 4, None)
        assert episode["programs"][2] == episode["programs"][1] == episode["base"], "the second edit is of the better program"
        assert [k for k, r in enumerate(episode["rewards"]) if r > 0] == [episode["ends"][1]] and not said
    finally:
        rollout._choose = plain


def test_room():
    """An episode ends where a further turn would not fit; a task that has no room for one is left out."""
    table = small(length=60)
    for e in rollout.episodes_of(table, model.actor(table), Judge(), {}, ["a"] * 4, 99, torch.Generator().manual_seed(2)):
        assert e["cut"] and len(e["tokens"]) <= 60
    assert rollout.episodes_of(small(length=20), None, Judge(), {}, ["a"], 2, None) == []


def test_rewards():
    right = {"ok": True, "eager": 2.0, "compile": 1.01}
    assert [rollout.reward_of(kind, right) for kind in ("tiers", "raw")] == [2.0, 1.01]
    close(rollout.reward_of("log", right), math.log(1.01))
    assert rollout.reward_of("tiers", dict(right, compile=1.2)) == 3.0
    assert rollout.reward_of("raw", {"ok": False}) == -1.0


def test_searches():
    judge = Judge()
    for curve in (search.evolution(judge, "a", 16), search.climbed(judge, "a", 16)):
        assert len(curve) == 16 and curve == sorted(curve, reverse=True)
        assert curve[0] == judge.default("a")["seconds"] > curve[-1]


def test_split():
    """Tasks that were held out stay it where a suite has grown; those that are gone are left out."""
    few = ["t%d" % k for k in range(8)]
    learn, test = client.split(few, 3)
    assert sorted(learn + test) == few and len(test) == 3
    more, kept = client.split(few + ["u%d" % k for k in range(9)], 3, test)
    assert kept == test and len(more) == 14 and set(learn) < set(more)
    assert client.split([name for name in few if name != test[0]], 3, test)[1] == test[1:]
    assert client.split(few, 3, ["of another suite"]) == (learn, test)


class Server:
    """Stands for a server: it notes what it was asked."""

    def __init__(self):
        self.items = []

    def tasks(self):
        return [{"key": key, "hash": key * 16} for key in "ab"]

    def score(self, task, schedule):
        return {"ok": True, "decisions": DECISIONS, "speedup": {}, "time_s": {"median": 1.0}}

    def score_all(self, items):
        self.items += items
        return [{"ok": True, "speedup": {}, "time_s": {"median": 2.0}} for _ in items]

    def close(self):
        pass


def test_processes_share_answers():
    with tempfile.TemporaryDirectory() as folder:
        path, server = os.path.join(folder, "memo.jsonl"), Server()
        one, other = client.Tasks(server, path), client.Tasks(server, path)
        drawn = [(task, program) for task, program in zip("abab", [["cut", 1, "auto"]] * 3 + [["cut", 3, "auto"]])]
        assert [r.get("seconds") for r in one.score(drawn)] == [2.0, 2.0, 2.0, None], "3 is no value of the decision"
        assert len(server.items) == 2, "the same is asked once"
        assert one.score(drawn) == other.score(drawn) and other.evaluated == 0 and len(server.items) == 2, "another process reads the answer"
        with open(path, "ab") as file:
            file.write(b'["cut off')
        memo = client.Memo(path)
        memo.keep("more", [])
        other.memo.refresh()
        assert other.known.keys() == memo.known.keys() == client.Memo(path).known.keys() == {*one.known, "more"}, "a line that was cut off is dropped"
        one.close(), other.close(), memo.file.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(globals())

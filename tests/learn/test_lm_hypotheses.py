"""bench/learn/lm_hypotheses.py and lm_report.py on rows made up here: what holds, what fails, what is not shown, and what was not measured."""
import contextlib
import io
import json
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "learn"))

import lm_hypotheses  # noqa: E402
import lm_report  # noqa: E402

FAST, SLOW, WRONG = {"ok": True, "compile": 2.0}, {"ok": True, "compile": 1.0}, {"ok": False, "stage": "verify"}


def run_of(**stages):
    """A folder of a run: of each stage the results of each task; two lines of a name stand for a blank."""
    folder = tempfile.mkdtemp()
    for stage, tasks in stages.items():
        with open(os.path.join(folder, "results-%s.jsonl" % stage.replace("__", " ")), "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"task": "t%02d" % i, "results": of}) + "\n" for i, of in enumerate(tasks))
    return folder


def told(*words):
    """The words behind the figures, by hypothesis."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        lm_hypotheses.main(lm_hypotheses.words(words))
    lines = [line for line in out.getvalue().splitlines() if line[0] in "HE" and line[1].isdigit()]
    return {line.split()[0]: line.rsplit(": ", 1)[1] for line in lines}


def mixed(good, bad, share, tasks=40, samples=8):
    """Tasks of which this share has good results alone, and the others bad ones."""
    return [[good if i < share * tasks else bad] * samples for i in range(tasks)]


def test_second_answers_behind_right_and_wrong_ones():
    rows = [{"results": [FAST, FAST, FAST, WRONG], "answers": list("aaab")}, {"results": [WRONG, SLOW, SLOW, SLOW], "answers": list("abcc")}]
    assert [line.strip() for line in lm_report.second(rows)] == ["behind a right first answer 2 of 3 second answers are right, 2 repeat it",
                                                                 "behind a wrong first answer 1 of 1 second answers are right, 0 repeat it"]


def test_a_right_answer_that_is_faster_than_the_teacher_knows_how_is_named():
    folder = run_of(imitation=[[dict(FAST, time_s=0.98)], [dict(FAST, time_s=0.9), dict(WRONG, time_s=0.1)]])
    best = {"t00": 1.0, "t01": 1.0}
    assert lm_report.beyond(folder, best, "").strip() == "of 2 right answers some are 3% faster than the teacher's fastest text: t01"
    assert lm_report.beyond(folder, dict(best, t01=0.9), "").strip() == "of 2 right answers none is 3% faster than the teacher's fastest text"


def test_bars_of_one_stage():
    said = told(run_of(imitation=mixed(SLOW, WRONG, 0.9)))
    assert said["H1"] == "holds" and said["H2"] == "holds" and said["H4"] == "fails", said
    said = told(run_of(imitation=mixed(SLOW, WRONG, 0.5)))
    assert said["H1"] == "not shown" and said["H2"] == "fails", said


def test_what_is_not_measured_is_told():
    said = told(run_of(imitation=mixed(FAST, WRONG, 1)))
    assert [said[name] for name in ("H3", "H5", "H6a", "H6b", "H7", "E1")] == ["not measured"] * 6, said
    assert said["H4"] == "holds", "the last stage that was measured"


def test_differences_are_paired():
    before, after = mixed(SLOW, WRONG, 1), mixed(FAST, SLOW, 0.6)
    said = told(run_of(imitation=before, single=after, memory=mixed(WRONG, WRONG, 1)))
    assert said["H3"] == "holds" and said["H7"] == "holds" and said["E1"] == "not shown", said
    assert told(run_of(imitation=after, single=after))["H3"] == "fails"


def test_no_difference_is_none():
    same = mixed(SLOW, WRONG, 0.5)
    assert told(run_of(agentic=same, agentic__in__turns=same))["H5"] != "holds"
    more = [[SLOW] + [WRONG] * 7] * 30 + [[WRONG] * 8] * 10
    assert told(run_of(agentic=same, agentic__in__turns=more))["H5"] == "holds", "one right text of eight is enough"


def test_runs_without_a_stage():
    whole, worse = run_of(agentic=mixed(FAST, SLOW, 0.8)), run_of(agentic=mixed(FAST, SLOW, 0.3))
    said = told(whole, "--without", "rft", worse, "--without", "critic", whole)
    assert said["H6a"] == "holds" and said["H6b"] != "holds", said
    assert told(whole, "--without", "critic", worse)["H6b"] == "holds"


def test_seeds_are_averaged_over_the_tasks_that_all_have():
    good, bad = mixed(SLOW, WRONG, 1), mixed(WRONG, WRONG, 1, tasks=30)
    found = lm_hypotheses.answered({None: [run_of(imitation=good), run_of(imitation=bad)]}, ("imitation", "right", 1), None, 0.5)
    assert found[0] == 0.5 and found[4:] == (30, 2), found


def test_holm():
    found = lm_hypotheses.holm({"a": 0.01, "b": 0.04, "c": 0.03})
    assert [round(found[name], 9) for name in "abc"] == [0.03, 0.06, 0.06]
    assert lm_hypotheses.holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


if __name__ == "__main__":
    for name, one in list(globals().items()):
        if name.startswith("test_"):
            one()

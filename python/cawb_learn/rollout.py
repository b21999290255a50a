"""rollout: episodes of the agent loop. In a turn the policy edits the best program so far, or writes one value by value; the program is
judged; the policy reads the verdict, and goes on or stops."""
import contextlib
import math

import torch

import lang
import model


def reward_of(knobs, result, own=None):
    """What a verdict is worth: -1 for what is not right. `own`: what compose's own schedule is worth."""
    if not result["ok"]:
        return -1.0
    if knobs["reward"] == "own":
        return max(-1.0, 4.0 * math.log(own["seconds"] / result["seconds"]))
    least = min(result["eager"], result["compile"])
    if knobs["reward"] == "tiers":
        return 3.0 if least >= 1.05 else 2.0 if result["eager"] >= 1.05 else 1.0
    return least if knobs["reward"] == "raw" else max(-1.0, math.log(least))


def begin(knobs, tasks, operators, name, own=None):
    """An episode of a task, of which the policy has read what it is told; with `own`, what compose's own program is worth, that is its
    first turn, which nobody chose. Edits are of `base`."""
    decisions = tasks.decisions(name)
    episode = {"task": name, "decisions": decisions, "tokens": [], "mask": [], "logs": [], "results": [], "programs": [], "ends": [], "better": [],
               "open": {}, "done": False, "cut": False, "base": lang.default(decisions), "most": None, "names": [lang.decision_token(decision) for decision in decisions]}
    _read(episode, lang.task_tokens(operators.get(name, ()), decisions, knobs["action"] == "edits"))
    if own and decisions:
        append(knobs, episode, 0, lang.default(decisions), own)
        episode["mask"], episode["ends"] = [0] * len(episode["tokens"]), [None]
    return episode


def _started(knobs, tasks, operators, name):
    return begin(knobs, tasks, operators, name, tasks.default(name) if knobs["start"] else None)


def read_by(actor, episodes):
    """These episodes' tokens are read, and continued, by this policy."""
    reader = model.Reader(actor, len(episodes))
    for row, episode in enumerate(episodes):
        episode["reader"], episode["row"] = reader, row
    return episodes


def _read(episode, tokens, chosen=0):
    episode["tokens"] += tokens
    episode["mask"] += [chosen] * len(tokens)
    episode["logs"] += [0.0] * len(tokens)


def _choose(knobs, episodes, generator, greedy, words):
    """One token for each of the episodes; `words`: those that go there, which alone are drawn where the knob `legal` says so."""
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16) if knobs["half"] else contextlib.nullcontext():
        logits = episodes[0]["reader"].logits([e["row"] for e in episodes], [e["tokens"] for e in episodes]).float()
    drawn = logits if not knobs["legal"] else torch.stack(
        [row.new_full(row.shape, -1e9).index_copy(0, torch.tensor(one), row[one]) for row, one in zip(logits, words)])
    logs = torch.log_softmax(drawn if knobs["exact"] else logits, -1)
    warm = torch.softmax(drawn / knobs["temperature"], -1)
    chosen = drawn.argmax(-1) if greedy else torch.multinomial(warm, 1, generator=generator)[:, 0]
    for episode, one, token, log in zip(episodes, words, chosen.tolist(), logs.gather(1, chosen[:, None])[:, 0].tolist()):
        episode["open"][len(episode["tokens"])] = one
        _read(episode, [token], 1)
        episode["logs"][-1] = log
    return chosen.tolist()


def has_room(knobs, episode):
    """Whether a further turn fits the policy's places."""
    own = 3 * knobs["edits"] if knobs["action"] == "edits" else 2 * len(episode["decisions"])
    return len(episode["tokens"]) + own + 10 <= knobs["length"]


def _programs(knobs, episodes, generator, greedy):
    """Each episode's next program, value by value."""
    programs = [[] for _ in episodes]
    for k in range(max(len(e["decisions"]) for e in episodes)):
        at = [i for i, e in enumerate(episodes) if k < len(e["decisions"])]
        for i in at:
            _read(episodes[i], [episodes[i]["names"][k]])
        words = [map(lang.token_of, episodes[i]["decisions"][k]["values"]) for i in at]
        for i, token in zip(at, _choose(knobs, [episodes[i] for i in at], generator, greedy, [list(one) for one in words])):
            programs[i].append(lang.value_of(token))
    return programs


def _edited(knobs, episodes, generator, greedy):
    """Each episode's next program: its base with some edits, each the name of a decision, which one of that name where there are several,
    and a value. What cannot be read ends the turn, and leaves None in the program."""
    programs, going = [list(e["base"]) for e in episodes], list(range(len(episodes)))

    def asked(at, words):
        return list(zip(at, _choose(knobs, [episodes[i] for i in at], generator, greedy, [words(i) for i in at]))) if at else []

    def others(i):
        k = found[i][0]
        return [lang.token_of(value) for value in episodes[i]["decisions"][k]["values"] if not lang.is_in([programs[i][k]], value)]

    for number in range(knobs["edits"]):
        found = {}
        for i, token in asked(going, lambda i: [lang.READY] * (number > 0) + episodes[i]["names"]):
            if token != lang.READY:
                found[i] = [k for k, name in enumerate(episodes[i]["names"]) if name == token]
        for i, token in asked([i for i in found if len(found[i]) > 1], lambda i: [lang.OF + n for n in range(len(found[i]))]):
            found[i] = found[i][token - lang.OF:][:1] if token >= lang.OF else []
        for i in [i for i in found if not found[i]]:
            programs[i] = [None] * len(programs[i])
            del found[i]
        for i, token in asked(list(found), others):
            value, (k, *_) = lang.value_of(token), found[i]
            programs[i][k] = value if lang.is_in(episodes[i]["decisions"][k]["values"], value) else None
        going = [i for i in found if None not in programs[i]]
    return programs


def _heard(knobs, episode, program, result):
    """The policy reads a verdict; what is faster than all before is what is edited next."""
    episode["ends"].append(max((k for k, chosen in enumerate(episode["mask"]) if chosen), default=None))
    _read(episode, lang.verdict_tokens(result, knobs["profile"], episode["most"] if knobs["fine"] else None))
    episode["results"].append(result)
    episode["programs"].append(program)
    episode["better"].append(result["ok"] and (episode["most"] is None or result["eager"] > episode["most"]))
    if episode["better"][-1]:
        episode["base"], episode["most"] = program, result["eager"]


def turn(knobs, tasks, episodes, number, generator, greedy):
    """One turn of those that go on."""
    for episode in episodes:
        _read(episode, [lang.VOCABULARY["<turn>"]])
    if number > 0 and knobs["turn_cost"]:
        chosen = _choose(knobs, episodes, generator, greedy, [[lang.GO, lang.STOP]] * len(episodes))
        for episode, token in zip(episodes, chosen):
            episode["done"] = token != lang.GO
        episodes = [e for e in episodes if not e["done"]]
    if not episodes:
        return
    programs = (_edited if knobs["action"] == "edits" else _programs)(knobs, episodes, generator, greedy)
    results = tasks.score([(e["task"], program) for e, program in zip(episodes, programs)])
    for episode, program, result in zip(episodes, programs, results):
        _heard(knobs, episode, program, result)
        episode["cut"] = not has_room(knobs, episode)
        episode["done"] = episode["cut"]


def _pay(knobs, episode, own):
    """The reward of the best turn, less what turns and failures cost: on the last token that the policy chose, or what a turn adds to the best
    before it on that turn's last."""
    gains = [reward_of(knobs, result, own) for result in episode["results"]]
    episode["best"], episode["rewards"], paid = max(gains), [0.0] * len(episode["tokens"]), 0.0
    last = max(k for k, chosen in enumerate(episode["mask"]) if chosen)
    for k, (end, result) in enumerate(zip(episode["ends"], episode["results"])):
        best = max(gains[:k + 1])
        if end is not None:
            episode["rewards"][end if knobs["paid"] == "turn" else last] += (
                best - paid - knobs["turn_cost"] * (k > 0) - knobs["fail_cost"] * (not result["ok"] or episode["programs"][k] in episode["programs"][:k]))
        paid = best
    return episode


def episodes_of(knobs, actor, tasks, operators, names, turns, generator, greedy=False):
    """An episode for each name, together; those for which there is no room are left out."""
    episodes = [_started(knobs, tasks, operators, name) for name in names]
    episodes = read_by(actor, [e for e in episodes if e["decisions"] and has_room(knobs, e)])
    for number in range(1, max(turns, 2)) if knobs["start"] else range(turns):
        going = [e for e in episodes if not e["done"]]
        if going:
            turn(knobs, tasks, going, number, generator, greedy)
    return [_pay(knobs, e, tasks.default(e["task"])) for e in episodes]


def _as_edits(knobs, episode, program):
    """The tokens of what differs from the base."""
    tokens, names = [], episode["names"]
    changed = [k for k, value in enumerate(program) if not lang.is_in([episode["base"][k]], value)]
    for k in changed:
        of = [lang.OF + names[:k].count(names[k])] if names.count(names[k]) > 1 else []
        tokens += [names[k], *of, lang.token_of(program[k]) if lang.is_in(lang.VALUES, program[k]) else lang.PAD]
    return tokens + [lang.READY] * (len(changed) < knobs["edits"])


def append(knobs, episode, number, program, result):
    """A turn as if the policy had chosen it: this program, of values, and its verdict."""
    _read(episode, [lang.VOCABULARY["<turn>"]])
    if number and knobs["turn_cost"]:
        _read(episode, [lang.GO], 1)
    if knobs["action"] == "edits":
        _read(episode, _as_edits(knobs, episode, program), 1)
    else:
        for name, value in zip(episode["names"], program):
            _read(episode, [name])
            _read(episode, [lang.token_of(value) if lang.is_in(lang.VALUES, value) else lang.PAD], 1)
    _heard(knobs, episode, program, result)


def written(knobs, tasks, operators, wanted):
    """An episode for each (task, programs), as if the policy had written these, or what differs in them from compose's own: what likelihood is
    learnt from."""
    episodes = [(_started(knobs, tasks, operators, name), programs) for name, programs in wanted]
    for k in range(max(len(programs) for _, programs in episodes)):
        going = [(e, programs[k]) for e, programs in episodes if k < len(programs) and (not e["results"] or has_room(knobs, e))]
        if knobs["action"] == "edits":
            going = [(e, [base if lang.is_in([own], value) else value for base, own, value in zip(e["base"], lang.default(e["decisions"]), program)])
                     for e, program in going]
        for (e, program), result in zip(going, tasks.score([(e["task"], program) for e, program in going])):
            append(knobs, e, len(e["results"]), program, result)
    return [e for e, _ in episodes]

"""rollout: episodes of the agent loop. In a turn the policy reads the name of each decision and chooses its value; the program is
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
    first turn, which nobody chose."""
    points = tasks.points(name)
    episode = {"task": name, "points": points, "tokens": [], "mask": [], "logs": [], "results": [], "programs": [], "done": False, "cut": False}
    _read(episode, lang.task_tokens(operators.get(name, ()), points))
    if own and points:
        append(knobs, episode, 0, lang.default(points), own)
        episode["mask"] = [0] * len(episode["tokens"])
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


def _choose(knobs, episodes, words, generator, greedy):
    """One token for each of the episodes; `words`: tokens that a decision has, which only the masked mode holds to."""
    half = torch.autocast("cpu", torch.bfloat16) if knobs["half"] else contextlib.nullcontext()
    with torch.no_grad(), half:
        logits = episodes[0]["reader"].logits([e["row"] for e in episodes], [e["tokens"] for e in episodes]).float()
    if not knobs["free"]:
        banned = torch.ones(logits.shape, dtype=torch.bool)
        for row, one in enumerate(words):
            banned[row, one] = False
        logits = logits.masked_fill(banned, -1e9)
    logs = torch.log_softmax(logits, -1)
    warm = torch.softmax(logits / knobs["temperature"], -1)
    chosen = logits.argmax(-1) if greedy else torch.multinomial(warm, 1, generator=generator)[:, 0]
    for episode, token, log in zip(episodes, chosen.tolist(), logs.gather(1, chosen[:, None])[:, 0].tolist()):
        episode["tokens"].append(token)
        episode["mask"].append(1)
        episode["logs"].append(log)
    return chosen.tolist()


def has_room(knobs, episode):
    """Whether a further turn fits the policy's places."""
    return len(episode["tokens"]) + 2 * len(episode["points"]) + 8 <= knobs["length"]


def _programs(knobs, episodes, generator, greedy):
    """Each episode's next program, value by value."""
    programs = [[] for _ in episodes]
    for k in range(max(len(e["points"]) for e in episodes)):
        at = [i for i, e in enumerate(episodes) if k < len(e["points"])]
        for i in at:
            _read(episodes[i], [lang.point_token(episodes[i]["points"][k])])
        words = [[lang.token_of(value) for value in episodes[i]["points"][k]["values"]] for i in at]
        for i, token in zip(at, _choose(knobs, [episodes[i] for i in at], words, generator, greedy)):
            programs[i].append(lang.value_of(token))
    return programs


def turn(knobs, tasks, episodes, number, generator, greedy):
    """One turn of those that go on."""
    for episode in episodes:
        _read(episode, [lang.VOCABULARY["<turn>"]])
    if number > 0:
        chosen = _choose(knobs, episodes, [[lang.GO, lang.STOP]] * len(episodes), generator, greedy)
        for episode, token in zip(episodes, chosen):
            episode["done"] = token != lang.GO
        episodes = [e for e in episodes if not e["done"]]
    if not episodes:
        return
    programs = _programs(knobs, episodes, generator, greedy)
    results = tasks.score([(e["task"], program) for e, program in zip(episodes, programs)])
    for episode, program, result in zip(episodes, programs, results):
        episode["programs"].append(program)
        episode["results"].append(result)
        _read(episode, lang.verdict_tokens(result, knobs["profile"]))
        episode["cut"] = not has_room(knobs, episode)
        episode["done"] = episode["cut"]


def _pay(knobs, episode, own):
    """The reward of the best turn, less what turns cost, on the last token that the policy chose."""
    best = max(reward_of(knobs, result, own) for result in episode["results"])
    episode["rewards"] = [0.0] * len(episode["tokens"])
    last = max(k for k, chosen in enumerate(episode["mask"]) if chosen)
    episode["best"] = best
    episode["rewards"][last] = best - knobs["turn_cost"] * (len(episode["results"]) - 1)
    return episode


def episodes_of(knobs, actor, tasks, operators, names, turns, generator, greedy=False):
    """An episode for each name, together; those for which there is no room are left out."""
    episodes = [_started(knobs, tasks, operators, name) for name in names]
    episodes = read_by(actor, [e for e in episodes if e["points"] and has_room(knobs, e)])
    for number in range(1, max(turns, 2)) if knobs["start"] else range(turns):
        going = [e for e in episodes if not e["done"]]
        if going:
            turn(knobs, tasks, going, number, generator, greedy)
    return [_pay(knobs, e, tasks.default(e["task"])) for e in episodes]


def append(knobs, episode, number, program, result):
    """A turn as if the policy had chosen it: this program, of values, and its verdict."""
    _read(episode, [lang.VOCABULARY["<turn>"]])
    if number:
        _read(episode, [lang.GO], 1)
    for point, value in zip(episode["points"], program):
        _read(episode, [lang.point_token(point)])
        _read(episode, [lang.token_of(value) if lang.is_in(lang.VALUES, value) else lang.PAD], 1)
    _read(episode, lang.verdict_tokens(result, knobs["profile"]))
    episode["results"].append(result)
    episode["programs"].append(program)


def written(knobs, tasks, operators, name, programs):
    """An episode in which the policy had written these programs: what likelihood is learnt from."""
    episode = _started(knobs, tasks, operators, name)
    for program, result in zip(programs, tasks.score([(name, one) for one in programs])):
        if not episode["results"] or has_room(knobs, episode):
            append(knobs, episode, len(episode["results"]), program, result)
    return episode

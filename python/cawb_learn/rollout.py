"""rollout: episodes of the agent loop. The first turn is compose's own program. In each further one the policy edits the best program so
far; the program is judged; the policy reads the verdict."""
import math

import torch

import knobs as table
import lang
import model


def reward_of(kind, result):
    """What a verdict is worth: -1 for what is not right."""
    if not result["ok"]:
        return -1.0
    least = min(result["eager"], result["compile"])
    if kind == "tiers":
        return 3.0 if least >= 1 + table.MARGIN else 2.0 if result["eager"] >= 1 + table.MARGIN else 1.0
    return least if kind == "raw" else max(-1.0, math.log(least))


def begin(knobs, tasks, operators, name):
    """An episode of a task: the policy has read of it, and of its first turn, which nobody chose. Edits are of `base`."""
    decisions = tasks.decisions(name)
    episode = {"task": name, "decisions": decisions, "tokens": [], "mask": [], "logs": [], "results": [], "programs": [], "ends": [], "better": [],
               "cut": False, "base": lang.default(decisions), "most": None, "names": [lang.decision_token(decision) for decision in decisions]}
    _read(episode, lang.task_tokens(operators.get(name, ()), decisions))
    append(knobs, episode, lang.default(decisions), tasks.default(name))
    episode["mask"], episode["ends"] = [0] * len(episode["tokens"]), [None]
    return episode


def _read(episode, tokens, chosen=0):
    episode["tokens"] += tokens
    episode["mask"] += [chosen] * len(tokens)
    episode["logs"] += [0.0] * len(tokens)


def _choose(actor, episodes, generator):
    """One token for each of the episodes, of all there are: what can be read is to be learnt."""
    last = torch.tensor([len(e["tokens"]) - 1 for e in episodes])
    with torch.no_grad():
        logs = torch.log_softmax(actor(model.padded([e["tokens"] for e in episodes]))[torch.arange(len(episodes)), last], -1)
    chosen = torch.multinomial(logs.exp(), 1, generator=generator)
    for episode, token, log in zip(episodes, chosen[:, 0].tolist(), logs.gather(1, chosen)[:, 0].tolist()):
        _read(episode, [token], 1)
        episode["logs"][-1] = log
    return chosen[:, 0].tolist()


def has_room(knobs, episode):
    """Whether a further turn fits the policy's places."""
    return len(episode["tokens"]) + 3 * knobs["edits"] + 10 <= knobs["length"]


def _edited(knobs, actor, episodes, generator):
    """Each episode's next program: its base with some edits, each the name of a decision, which one of that name where there are several,
    and a value. What cannot be read ends the turn, and leaves None in the program."""
    programs, going = [list(e["base"]) for e in episodes], list(range(len(episodes)))

    def asked(at):
        return list(zip(at, _choose(actor, [episodes[i] for i in at], generator))) if at else []

    for _ in range(knobs["edits"]):
        found = {i: [k for k, name in enumerate(episodes[i]["names"]) if name == token] for i, token in asked(going) if token != lang.READY}
        for i, token in asked([i for i in found if len(found[i]) > 1]):
            found[i] = found[i][token - lang.OF:][:1] if token >= lang.OF else []
        for i in [i for i in found if not found[i]]:
            programs[i] = [None] * len(programs[i])
            del found[i]
        for i, token in asked(list(found)):
            value, (k, *_) = lang.value_of(token), found[i]
            programs[i][k] = value if lang.is_in(episodes[i]["decisions"][k]["values"], value) else None
        going = [i for i in found if None not in programs[i]]
    return programs


def _heard(episode, program, result):
    """The policy reads a verdict; what is faster than all before is what is edited next."""
    episode["ends"].append(max((k for k, chosen in enumerate(episode["mask"]) if chosen), default=None))
    _read(episode, lang.verdict_tokens(result, episode["most"]))
    episode["results"].append(result)
    episode["programs"].append(program)
    episode["better"].append(result["ok"] and (episode["most"] is None or result["eager"] > episode["most"]))
    if episode["better"][-1]:
        episode["base"], episode["most"] = program, result["eager"]


def turn(knobs, actor, tasks, episodes, generator):
    """One turn of each."""
    for episode in episodes:
        _read(episode, [lang.TURN])
    programs = _edited(knobs, actor, episodes, generator)
    for episode, program, result in zip(episodes, programs, tasks.score([(e["task"], program) for e, program in zip(episodes, programs)])):
        _heard(episode, program, result)
        episode["cut"] = not has_room(knobs, episode)


def _pay(knobs, episode):
    """What a turn adds to the best before it, less what a failure or a repeat costs, is paid on the last token that was chosen in it."""
    gains, programs = [reward_of(knobs["reward"], result) for result in episode["results"]], episode["programs"]
    episode["best"], episode["rewards"] = max(gains), [0.0] * len(episode["tokens"])
    for k in range(1, len(gains)):
        failed = not episode["results"][k]["ok"] or programs[k] in programs[:k]
        episode["rewards"][episode["ends"][k]] = max(gains[:k + 1]) - max(gains[:k]) - knobs["fail_cost"] * failed
    return episode


def episodes_of(knobs, actor, tasks, operators, names, turns, generator):
    """An episode for each name, together; those for which there is no room are left out."""
    episodes = [begin(knobs, tasks, operators, name) for name in names]
    episodes = [e for e in episodes if has_room(knobs, e)]
    for _ in range(max(turns - 1, 1)):
        going = [e for e in episodes if not e["cut"]]
        if going:
            turn(knobs, actor, tasks, going, generator)
    return [_pay(knobs, e) for e in episodes]


def _as_edits(knobs, episode, program):
    """The tokens of what differs from the base."""
    tokens, names = [], episode["names"]
    changed = [k for k, value in enumerate(program) if not lang.is_in([episode["base"][k]], value)]
    for k in changed:
        of = [lang.OF + names[:k].count(names[k])] if names.count(names[k]) > 1 else []
        tokens += [names[k], *of, lang.token_of(program[k])]
    return tokens + [lang.READY] * (len(changed) < knobs["edits"])


def append(knobs, episode, program, result):
    """A turn as if the policy had chosen it: this program, of values, and its verdict."""
    _read(episode, [lang.TURN])
    _read(episode, _as_edits(knobs, episode, program), 1)
    _heard(episode, program, result)


def written(knobs, tasks, operators, wanted):
    """An episode for each (task, programs), as if the policy had written what differs in these from compose's own: what likelihood is learnt
    from."""
    episodes = [(begin(knobs, tasks, operators, name), programs) for name, programs in wanted]
    for k in range(max(len(programs) for _, programs in episodes)):
        going = [(e, [base if lang.is_in([own], value) else value for base, own, value in zip(e["base"], lang.default(e["decisions"]), programs[k])])
                 for e, programs in episodes if k < len(programs) and has_room(knobs, e)]
        for (e, program), result in zip(going, tasks.score([(e["task"], program) for e, program in going])):
            append(knobs, e, program, result)
    return [e for e, _ in episodes]

"""lang: tasks, programs and verdicts as tokens. A program is one value for each decision of a task, in the order in which the server
lists them (`compose.decisions`); what the policy reads and writes are numbers of VOCABULARY, which is the same for every task."""
import math
import zlib

KINDS = ("skip", "store", "cut")
MAKERS = ("stream", "rows", "columns", "scan", "window", "order", "product", "conv")
NAMES = ("vector", "lanes", "block", "cluster", "hold", "across", "threads", "packs", "parts", "outputs", "wide", "strip", "short",
         "loop", "tile", "splits")
VALUES = ("done", "skipped", "inline", "stored", "joined", "cut", "auto", True, False, 1, 2, 3, 4, 5, 6, 8, 16, 32, 64, 128, 256, 512, 1024,
          2048, "tensor", "packed", "box", "library", "simt")
STAGES = ("pass", "reply", "compile", "plan", "run", "verify", "other")
LIMITS = ("memory", "l2", "l1", "shared", "issue", "latency", "blocks", "launch", "other")       # parts of a modelled time
OPERATORS = 48                     # buckets that names of operators fall into
FIELD = {"skip": "skip", "store": "stores", "cut": "cuts"}


def _vocabulary():
    words = ["<pad>", "<task>", "<turn>", "<end>", "ready"] + ["of:%d" % k for k in range(8)]
    words += ["decision:%s" % kind for kind in KINDS] + ["decision:%s.%s" % (maker, name) for maker in MAKERS for name in NAMES]
    words += ["value:%s" % (value,) for value in VALUES] + ["maker:%s" % maker for maker in MAKERS]
    words += ["operator:%d" % k for k in range(OPERATORS)] + ["size:%d" % k for k in range(41)] + ["even:%d" % k for k in range(7)]
    words += ["stage:%s" % stage for stage in STAGES] + ["limit:%s" % limit for limit in LIMITS] + ["speed:%d" % k for k in range(17)]
    words += ["gain:%d" % k for k in range(17)]
    return {word: number for number, word in enumerate(words)}


VOCABULARY = _vocabulary()
PAD, TURN, READY, OF = (VOCABULARY[word] for word in ("<pad>", "<turn>", "ready", "of:0"))
VALUE_AT = VOCABULARY["value:%s" % (VALUES[0],)]


def token_of(value):
    """The token of a value of a decision."""
    return VOCABULARY["value:%s" % (value,)]


def value_of(token):
    """The value of a token, or None where the token is none of a value."""
    at = token - VALUE_AT
    return VALUES[at] if 0 <= at < len(VALUES) else None


def decision_word(decision):
    """What names a decision; two of a task can have the same name."""
    return "decision:%s" % (decision["kind"] if decision["kind"] in KINDS else "%s.%s" % (decision["by"], decision["name"]))


def decision_token(decision):
    return VOCABULARY[decision_word(decision)]


def is_in(values, value):
    """Whether a value is one of a list: true is not 1 here."""
    return any(value == other and isinstance(value, bool) == isinstance(other, bool) for other in values)


def schedule(decisions, program):
    """What compose is told, for the values of a program; None where a value is none of its decision: such a text cannot be read."""
    told = {}
    for decision, value in zip(decisions, program):
        if not is_in(decision["values"], value):
            return None
        if decision["kind"] in FIELD:
            if value == decision["values"][1]:
                told.setdefault(FIELD[decision["kind"]], []).append(decision["what"])
        elif value != "auto":
            told.setdefault("kernels", {}).setdefault(decision["kernel"], {})[decision["name"]] = value
    return told


def default(decisions):
    """The program that is compose's own schedule."""
    return [decision["values"][0] for decision in decisions]


def edited(decisions, rng, most, program=None):
    """Compose's own program, or another one, with one to so many decisions drawn anew, each another value than it had."""
    program = list(program or default(decisions))
    for _ in range(rng.randint(1, most)):
        k = rng.randrange(len(decisions))
        program[k] = rng.choice([value for value in decisions[k]["values"] if not is_in([program[k]], value)])
    return program


def _log2(n):
    return "size:%d" % min(40, int(math.log2(max(1, n))))


def _even(n):
    return "even:%d" % min(6, (n & -n).bit_length() - 1 if n > 0 else 0)


def task_tokens(operators, decisions):
    """What the policy is told of a task: its operators, its kernels with their sizes, how often two divides these, and its decisions."""
    words, seen = ["<task>"], set()
    words += ["operator:%d" % (zlib.crc32(name.encode()) % OPERATORS) for name in operators[:6]]
    for decision in decisions:
        if decision["kind"] == "knob" and decision["kernel"] not in seen:
            seen.add(decision["kernel"])
            words += ["maker:%s" % decision["by"], _log2(decision["size"]), _even(decision["size"]), _log2(decision["row"]), _even(decision["row"])]
        words.append(decision_word(decision))
    return [VOCABULARY[word] for word in words]


def speed_bin(ratio, parts=4.0):
    """A speed-up in seventeen bins around 1, so many of them to a power of two."""
    steps = parts * math.log2(max(ratio, 1e-3))
    return int(max(-8, min(8, round(steps)))) + 8


def limit_of(bound):
    """What limits a turn: the largest of the parts that its modelled time has."""
    parts = {name: s for name, s in (bound or {}).items() if isinstance(s, (int, float))}
    return max(parts, key=parts.get) if parts else "other"


def verdict_tokens(result, most=None):
    """What the policy reads of a turn: verdict, speed-ups, what limits it, and how it compares with the best before it, of which `most` is the
    speed-up against eager mode."""
    if not result["ok"]:
        stage = result["stage"] if result["stage"] in STAGES else "other"
        return [VOCABULARY["<end>"], VOCABULARY["stage:%s" % stage]]
    words = ["<end>", "stage:pass", "speed:%d" % speed_bin(result["eager"]), "speed:%d" % speed_bin(result["compile"]),
             "limit:%s" % (result["limit"] if result["limit"] in LIMITS else "other")]
    if most:
        words.append("gain:%d" % speed_bin(result["eager"] / most, 16.0))
    return [VOCABULARY[word] for word in words]

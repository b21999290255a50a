"""The protocols of core/base/protocol/*.json, and the check that messages are held to.

Types, bounds and defaults are those of core/base/protocol/README.md; lua/cawb/base/schema.lua is
the same check on the judge's side. A value that fits comes back as the receiver takes it:
64.0 is 64 where a whole number is due, a seed in a text is a number.
"""
import functools
import json
import math
import os
import re

from cawb_host.base.fault import Fault

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, "core", "base", "protocol")

TEXT, LIST, MAP = 1024, 4096, 1024                  # bytes, items, entries: where nothing is said
DEPTH, VALUES, TREE_TEXT = 16, 65536, 65536         # of a tree
NAME = 4096                                         # bytes of a name in a map
LARGEST = 1 << 53
WORDS = ("inf", "-inf", "nan")                      # numbers that JSON has no word for


class Misfit(Exception):
    """A value that does not fit; `path` is where."""

    def __init__(self, problem, path=""):
        super().__init__(problem)
        self.problem, self.path = problem, path

    def within(self, step):
        return Misfit(self.problem, step + self.path)

    def __str__(self):
        path = self.path[1:] if self.path.startswith(".") else self.path
        return "%s %s" % (path or "it", self.problem)


class Protocol:
    """One process's operations; `name` is the file's."""

    def __init__(self, name):
        with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
            about = json.load(file)
        self.types, self.ops, self.reply_bytes = about["types"], about["ops"], about["reply_bytes"]
        self.process = about["process"]
        call = {"type": "whole", "optional": True}
        self.failure = about["failure"]
        self.requests = {op: dict(form["request"], op={"type": "text"}, call=call)
                         for op, form in self.ops.items()}
        self.answer = {"ok": {"type": "bool"}, "call": {"type": "whole"}}

    def request(self, message):
        """The fields of a request as they are to be used, or a Fault. What came beside it
        stays: its descriptors, `fds`."""
        op = message.get("op")
        if op not in self.ops:
            raise Fault("invalid", "unknown op %s (there are %s)" % (shown(op), ", ".join(self.ops)))
        fields = {key: value for key, value in message.items() if key != "fds"}
        try:
            found = fields_of(self.requests[op], fields, self.types)
        except Misfit as misfit:
            raise Fault("invalid", "op '%s': the field '%s' %s" % (
                op, misfit.path[1:] if misfit.path.startswith(".") else misfit.path,
                misfit.problem)) from None
        return dict(found, fds=message.get("fds", []))

    def reply(self, op, message, call):
        """The fields of a reply to the request with this number, or Misfit."""
        if not isinstance(message, dict):
            raise Misfit("is no object")
        fields, given = self.ops[op]["reply"], self.failure
        if message.get("ok") is False:
            fields = dict({name: dict(f, optional=True) for name, f in fields.items()}, **given)
        found = fields_of(dict(fields, **self.answer), message, self.types)
        if found["call"] != call:
            raise Misfit("answers another request")
        return found


@functools.lru_cache(None)
def protocol(name):
    return Protocol(name)


def shown(value):
    """A value in a message: short, and in one line."""
    text = repr(value) if not isinstance(value, (dict, list)) else \
        "an object" if isinstance(value, dict) else "a list of %d" % len(value)
    text = "".join(c if " " <= c <= "~" else "?" for c in text[:200])
    return text if len(text) <= 60 else text[:60] + "..."


def must(value, what, *values):
    return Misfit("must be %s, not %s" % (what % values if values else what, shown(value)))


def step(key):
    key = "".join(c if " " <= c <= "~" else "?" for c in str(key)[:64])
    return ".%s" % key if re.fullmatch(r"[A-Za-z_]\w*", key) else "['%s']" % key


def is_text(value, most):
    if not isinstance(value, str) or len(value) > most:
        return False
    try:
        return len(value.encode()) <= most
    except UnicodeEncodeError:                      # half of a surrogate pair
        return False


def check(spec, value, types):
    """The value as it is to be used, or Misfit."""
    found = CHECKS.get(spec["type"])
    return found(spec, value, types) if found else check(types[spec["type"]], value, types)


def boolean(spec, value, _types):
    if not isinstance(value, bool) or value not in spec.get("values", (True, False)):
        raise must(value, "true or false" if "values" not in spec else json.dumps(spec["values"][0]))
    return value


def text(spec, value, _types):
    least, most = spec.get("least", 0), spec.get("most", TEXT)
    if not is_text(value, most) or len(value.encode()) < least:
        raise must(value, "a text of %d to %d bytes in UTF-8", least, most)
    if "values" in spec and value not in spec["values"]:
        raise must(value, "one of %s", ", ".join(spec["values"]))
    return value


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number(spec, value, _types):
    if spec.get("odd") and (value is None or value in WORDS):
        return value
    least, most = spec.get("least", -math.inf), spec.get("most", math.inf)
    if not is_number(value) or abs(value) >= 1 << 1024 or not math.isfinite(value) \
            or not least <= value <= most:
        raise must(value, "a finite number from %g to %g", least, most)
    return value


def whole(spec, value, _types):
    least, most = spec.get("least", 0), spec.get("most", LARGEST)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not is_number(value) or not isinstance(value, int) or not least <= value <= most:
        raise must(value, "a whole number from %d to %d", least, most)
    return value


def seed(_spec, value, types):
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}|0x[0-9a-fA-F]{1,16}", value):
        value = int(value, 0 if value.startswith("0x") else 10)
    return whole({"most": (1 << 63) - 1}, value, types)


def items(spec, value, types):
    least, most = spec.get("least", 0), spec.get("most", LIST)
    if value == {}:                                 # Lua's empty table
        value = []
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise must(value, "a list of %d to %d", least, most)
    found = []
    for i, item in enumerate(value):
        try:
            found.append(check(spec["of"], item, types))
        except Misfit as misfit:
            raise misfit.within("[%d]" % (i + 1)) from None
    return found


def entries(spec, value, types):
    most = spec.get("most", MAP)
    if not isinstance(value, dict) or len(value) > most:
        raise must(value, "an object of at most %d entries", most)
    found = {}
    for key, item in value.items():
        if not is_text(key, NAME):
            raise Misfit("must have names in UTF-8, of at most %d bytes" % NAME)
        try:
            found[key] = check(spec["of"], item, types)
        except Misfit as misfit:
            raise misfit.within(step(key)) from None
    return found


def fields_of(fields, value, types):
    """An object with these fields; null is absent."""
    if not isinstance(value, dict):
        raise must(value, "an object")
    found = {}
    for name, spec in fields.items():
        if value.get(name) is None and not (name in value and spec.get("odd")):
            if not spec.get("optional"):
                raise Misfit("is missing").within(step(name))
            continue
        try:
            found[name] = check(spec, value[name], types)
        except Misfit as misfit:
            raise misfit.within(step(name)) from None
    for name in value:
        if name not in fields:
            raise Misfit("is unknown").within(step(name))
    return found


def record(spec, value, types):
    return fields_of(spec["fields"], value, types)


def either(spec, value, types):
    """The first description that fits; if none does, the error of the one that came furthest."""
    worst = None
    for one in spec["of"]:
        try:
            return check(one, value, types)
        except Misfit as misfit:
            if worst is None or len(misfit.path) > len(worst.path):
                worst = misfit
    raise worst


def tree(_spec, value, types):
    """Plain values in lists and objects. It uses a list of values to look at, and no recursion: values may be nested as deep
    as the reader of JSON allows."""
    left, todo = VALUES, [(value, 0)]
    while todo:
        item, depth = todo.pop()
        left -= 1
        if depth > DEPTH or left < 0:
            raise Misfit("must be nested at most %d deep, with at most %d values" % (DEPTH, VALUES))
        if isinstance(item, dict):
            if not all(is_text(key, NAME) for key in item):
                raise Misfit("must have names in UTF-8")
            item = list(item.values())
        if isinstance(item, list):
            todo += [(inner, depth + 1) for inner in item[:VALUES + 1]]
        elif isinstance(item, str):
            text({"most": TREE_TEXT}, item, types)
        elif is_number(item):
            number({}, item, types)
    return value


CHECKS = {"bool": boolean, "text": text, "number": number, "whole": whole, "seed": seed,
          "list": items, "map": entries, "object": record, "either": either, "tree": tree}

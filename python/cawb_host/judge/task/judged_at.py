"""Further sizes that a task is judged at, beside those that its file has: a module-level list of
sets of its constants,

    judged_at = [dict(rows=1, cols=4096), dict(rows=8192, cols=64)]

Here the list is only read; lua/cawb/judge/many_sizes.lua judges candidates by it.
"""
import difflib

from cawb_host.base.fault import Fault

NAME = "judged_at"
MOST = 8


def read(module, names, constants, path):
    """The list of a task's module; none where it has no such list."""
    if NAME not in names:
        return []
    given = getattr(module, NAME, None)
    if not isinstance(given, (list, tuple)) or not all(isinstance(sizes, dict) and sizes for sizes in given):
        raise Fault("task", "%s: '%s' must be a list of sets of constants, such as [dict(rows=1), dict(rows=4096)]" % (
            path, NAME))
    if len(given) > MOST:
        raise Fault("task", "%s: '%s' has %d sets of constants; at most %d are judged" % (path, NAME, len(given), MOST))
    return [checked(sizes, constants, path) for sizes in given]


def checked(sizes, constants, path):
    for name, value in sizes.items():
        if name not in constants or name == NAME:
            close = difflib.get_close_matches(str(name), constants, 1)
            raise Fault("task", "%s: '%s' gives a value to '%s', which is no module-level constant%s" % (
                path, NAME, name, " (did you mean '%s'?)" % close[0] if close else ""))
        if type(value) is not type(constants[name]):
            raise Fault("task", "%s: '%s' gives '%s' a value of the type %s; it is of the type %s" % (
                path, NAME, name, type(value).__name__, type(constants[name]).__name__))
    return dict(sizes)

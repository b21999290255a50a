"""Faults, and how a user's exception becomes one line.

A Fault is a reply: a stable name, one line for people, extra fields.
Names: task (the user's file is at fault), invalid, missing, unsupported,
memory, device.
"""
import contextlib
import sys
import traceback


class Fault(Exception):
    def __init__(self, name, message, **extra):
        super().__init__(message)
        self.name = name
        self.message = one_line(message)
        self.extra = extra

    def reply(self):
        return dict(self.extra, ok=False, name=self.name, message=self.message)


class Refused(Exception):
    """The task's own reference takes no inputs of a kind; `str` says why."""


def one_line(text, limit=800):
    text = " ".join(str(text).split())
    return text if len(text) <= limit else text[:limit - 3] + "..."


def kind_of(error):
    """Which name an exception deserves when it is not the task's own."""
    text = str(error)
    if (isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
            or "can't allocate memory" in text or "not enough memory" in text):
        return "memory"
    if "CUDA error" in text or type(error).__name__ == "AcceleratorError":
        return "device"
    return None


def from_host(error):
    """An exception in the task host's own code, as a Fault."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return Fault(kind_of(error) or "device",
                 "the task host failed: %s: %s" % (type(error).__name__, error),
                 traceback=text)


@contextlib.contextmanager
def blame(path, stage, line):
    """Run the user's code of `path`: whatever it raises, sys.exit included,
    becomes a Fault that names file and line. `line` serves where no frame of
    that file is on the stack (a call with the wrong number of arguments)."""
    try:
        yield
    except Fault:
        raise
    except BaseException as error:  # pylint: disable=broad-except
        raise from_user(error, path, stage, line) from None


def from_user(error, path, stage, line):
    message = "%s:%d: %s: %s (in %s)" % (path, line_of(error, path) or line,
                                         type(error).__name__, detail(error), stage)
    name = kind_of(error)
    if name == "memory":
        message += "; shrink the task, or use a device with more memory"
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return Fault(name or "task", message, traceback=text)


def detail(error):
    if isinstance(error, SyntaxError):
        return error.msg
    if isinstance(error, ModuleNotFoundError) and error.name:
        return "%s; install it into %s" % (error, sys.executable)
    if isinstance(error, SystemExit):
        return "the task called sys.exit(%s)" % ("" if error.code is None else repr(error.code))
    return str(error) or "no message"


def line_of(error, path):
    """The innermost line of `path` that the exception came through."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == path]
    return lines[-1] if lines else None

"""Verdict: what the judge says of a candidate, as a value."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Verdict:
    """`verdict`: "faster" (right, and faster than the fastest baseline that is no less accurate), "right", "wrong", or "undecided" where
    it could not be judged. True where it is right. Times are seconds of one call; `modelled` says whether they are computed. Errors are
    against float64: "rms", relative to the result's size, "worst", and the same of eager PyTorch."""
    verdict: str
    sentence: str                     # the answer in a line
    reasons: tuple                    # why it is wrong, or could not be judged; else what rules remarked
    errors: dict                      # {"rms", "worst", "eager_rms", "eager_worst"}, those that are known
    times: dict                       # {"candidate", "eager", "compile"}, those that were timed
    speedup: float                    # over the fastest baseline that is no less accurate; None where nothing was timed
    device: str
    modelled: bool
    page: str = dataclasses.field(repr=False)         # as `cawb judge` prints it
    data: dict = dataclasses.field(repr=False, compare=False)      # all of it: docs/reference/commands.md, cawb judge --json

    @property
    def ok(self):
        return self.verdict in ("faster", "right")

    def __bool__(self):
        return self.ok

    def __str__(self):
        return self.page


def of_data(data):
    """A Verdict from the object that `cawb judge --json` prints."""
    run = data["run"]
    turn = run["turns"][0] if run["turns"] else {}
    speedup = (turn.get("equal_error") or {}).get("median")
    return Verdict(data["verdict"], data["sentence"], reasons_of(data, run, turn), errors_of(turn.get("error") or {}),
                   times_of(run, turn), speedup, run["device"], bool(run["modelled"]), "\n".join(data["page"]), data)


def reasons_of(data, run, turn):
    if turn.get("ok"):
        return tuple("%s: %s" % (flag["rule"], flag["reason"]) for flag in (turn.get("rules") or {}).get("flags", ()))
    return (turn.get("reason") or run.get("reason") or data["sentence"],)


def errors_of(error):
    eager = error.get("eager") or {}
    found = {"rms": error.get("nrms"), "worst": error.get("worst"), "eager_rms": eager.get("nrms"), "eager_worst": eager.get("worst")}
    return {name: value for name, value in found.items() if value is not None}


def times_of(run, turn):
    found = {"candidate": turn.get("time_s")}
    found.update((name, about.get("time_s")) for name, about in (run.get("baselines") or {}).items())
    return {name: about["median"] for name, about in found.items() if about}

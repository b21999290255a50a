"""pytest's plug-in, which pytest finds by itself where cawb is installed: the fixtures `cawb` and `verdict`, the mark `cawb`, and
--cawb-device. Verdict, error and times become properties of the test, which --junitxml writes."""
import inspect

import pytest

WHY = pytest.StashKey()
DEVICE = "where cawb judges: auto, cuda:0, sim:h100 (no GPU), cpu"


def pytest_addoption(parser):
    group = parser.getgroup("cawb", "kernels that cawb judges")
    group.addoption("--cawb-device", metavar="NAME", help=DEVICE)
    group.addoption("--cawb-out", metavar="DIR", help="record what is judged in this folder, for `cawb report`")
    group.addoption("--cawb-set", metavar="NAME=VALUE", action="append", default=[], help="an option of cawb, such as verify.trials=3; repeatable")
    parser.addini("cawb_device", DEVICE, default="auto")


def pytest_configure(config):
    config.addinivalue_line("markers", "cawb(reference, kernel, examples, **more): judge a kernel before the test, as cawb.judge does;"
                                       " the fixture `verdict` is the answer. faster=True: it must be faster, too")


@pytest.fixture(name="cawb")
def cawb_fixture(request):
    """cawb(reference, kernel, examples, **more): as cawb.judge. Returns the Verdict; the test fails where the kernel is wrong, where it
    could not be judged, and, with faster=True, where it is not faster."""
    def call(*args, **more):
        found, why = judged(request, args, more)
        if why:
            pytest.fail(why, pytrace=False)
        return found
    return call


@pytest.fixture(autouse=True)
def _cawb_marked(request):
    """A test with the mark is judged whether it asks for the verdict or not. Where that fails the test, it fails when it is called: here
    it would be an error."""
    mark = request.node.get_closest_marker("cawb")
    if mark is None:
        return None
    found, request.node.stash[WHY] = judged(request, mark.args, mark.kwargs)
    return found


@pytest.fixture
def verdict(request, _cawb_marked):
    """The Verdict of the test's mark."""
    if request.node.get_closest_marker("cawb") is None:
        pytest.fail("the fixture `verdict` needs @pytest.mark.cawb(reference, kernel, examples)", pytrace=False)
    return _cawb_marked


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    if item.stash.get(WHY, None):
        pytest.fail(item.stash[WHY], pytrace=False)


def judged(request, args, more):
    """The Verdict, and why the test fails, or None."""
    from cawb import Failed, NotSent, judge              # pylint: disable=import-outside-toplevel
    more, config = dict(more), request.config
    faster = more.pop("faster", False)
    more.setdefault("device", config.getoption("--cawb-device") or config.getini("cawb_device"))
    more.setdefault("out", config.getoption("--cawb-out"))
    more["options"] = {**dict(one.partition("=")[::2] for one in config.getoption("--cawb-set")), **(more.get("options") or {})}
    try:
        inspect.signature(judge).bind(*args, **more)
    except TypeError as error:
        return None, "the mark cawb, and the fixture, take reference, kernel and examples as cawb.judge does: %s" % error
    try:
        found = judge(*args, **more)
    except (Failed, NotSent) as failed:
        return None, "cawb could not judge: %s" % failed
    request.node.user_properties.extend(properties(found))
    return found, None if found.ok and (found.verdict == "faster" or not faster) else str(found)


def properties(found):
    """Pairs of names and texts, as JUnit's XML has them."""
    pairs = [("cawb verdict", found.verdict), ("cawb sentence", found.sentence), ("cawb device", found.device),
             ("cawb modelled", str(found.modelled).lower())]
    pairs += [("cawb reason", reason) for reason in found.reasons]
    pairs += [("cawb error %s" % name.replace("_", " "), "%.3g" % value) for name, value in found.errors.items()]
    pairs += [("cawb time %s" % name, "%.4g" % seconds) for name, seconds in found.times.items()]
    return pairs + ([("cawb speedup", "%.4g" % found.speedup)] if found.speedup else [])


def pytest_terminal_summary(terminalreporter):
    """A line for each kernel that was judged."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports if getattr(report, "when", None) == "teardown"]
    lines = ["%s: %s" % (report.nodeid, text) for report in reports for name, text in report.user_properties if name == "cawb sentence"]
    if lines:
        terminalreporter.section("cawb")
        for line in lines:
            terminalreporter.write_line(line)

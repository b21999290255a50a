"""The backend of torch.compile on a GPU: python3 torch_compile.py [--wheel]. Small programs against eager PyTorch, forward and backward; steps
of an optimizer; streams; CUDA graphs; and what a call costs the processor. It prints a line each and ends with 1 where one failed.

Of a checkout: CAWB_PROGRAM=build/install/bin/cawb python3 tests/cuda/gpu/torch_compile.py
"""
import contextlib
import pathlib
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "support")] + ([] if "--wheel" in sys.argv else [str(ROOT / "python")])

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import compiled_models                        # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import native, part, report             # noqa: E402  pylint: disable=wrong-import-position

FOLDER = tempfile.mkdtemp(prefix="cawb-gpu-")
failed = []


def check(name, f):
    begin = time.perf_counter()
    torch.manual_seed(3)
    torch._dynamo.reset()                     # pylint: disable=protected-access
    try:
        said = f() or ""
    except Exception as error:                # pylint: disable=broad-except
        traceback.print_exc()
        said = "FAILED: %s" % error
        failed.append(name)
    print("%-28s %s  (%.1f s)" % (name, said, time.perf_counter() - begin), flush=True)


def compiled(model, **options):
    return cawb.compile(model, cache=FOLDER, failures=FOLDER, **{"choose": "verified", **options})


def moved(make):
    module, inputs = make()
    return module.cuda() if isinstance(module, torch.nn.Module) else module, [x.cuda() for x in inputs]


def parts(fast):
    return [p for g in report.of(backend.owner_of(fast)) for p in g.parts]


def same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        if b is not None:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def program(make, gradients):
    def run():
        module, inputs = moved(make)
        fast = compiled(module)
        for _ in range(2):                    # the second call is not checked by the backend itself
            same(*[compiled_models.results(f, module, inputs, gradients) for f in (fast, module)])
        found = parts(fast)
        if any(p.checked and p.why for p in found):
            raise AssertionError(cawb.explain(fast))
        return "%d packages, %d kernels" % (len(found), sum(p.kernels for p in found))
    return run


def optimizer():
    model, twin = (torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)).cuda() for _ in range(2))
    twin.load_state_dict(model.state_dict())
    fast, steps = compiled(model), [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, twin)]
    for _ in range(5):
        x = torch.randn(32, 64, device="cuda")
        for one, step in zip((fast, twin), steps):
            step.zero_grad()
            one(x).square().mean().backward()
            step.step()
        with torch.no_grad():
            same([fast(x)], [twin(x)])
    same(list(model.parameters()), list(twin.parameters()))


def convolutions_with_new_weights():
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU()).cuda().eval()
    fast, x = compiled(model), torch.randn(4, 16, 20, 20, device="cuda")
    with torch.no_grad(), torch.backends.cudnn.flags(allow_tf32=False):
        for _ in range(3):
            same([fast(x)], [model(x)])
            for p in model.parameters():
                p.mul_(0.9).add_(0.01)


def numbers_on_the_processor():
    """A mask that a graph writes numbers into, which Dynamo keeps on the processor."""
    def program(x):
        mask = x.new_zeros((6, 6))
        mask[:3, 3:], mask[3:, :3] = 1.0, torch.tensor(2.0)
        return x + mask * 3
    fast, x = compiled(program), torch.randn(6, 6, device="cuda")
    with torch.no_grad():
        same([fast(x)], [program(x)])
        same([fast(x)], [program(x)])


def error(found, exact):
    return ((found.double() - exact).square().mean() / exact.square().mean()).sqrt().item()


def attended(inputs, causal):
    return torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=causal)


def slopes(run, inputs, causal):
    return torch.autograd.grad((run(inputs, causal).float() * torch.linspace(-1, 1, 64, device="cuda")).square().mean(), inputs)


def attention_of_16_bits(dtype, form):
    """PyTorch takes cuDNN's or FlashAttention there, for which float32 has neither. At most three times eager's error, Dynamo's rule, of whatever
    size scores are."""
    @torch.nn.attention.sdpa_kernel([form, torch.nn.attention.SDPBackend.MATH], set_priority=True)      # float64 has the latter alone
    def run():
        for causal, size in ((False, 1), (True, 1), (False, 3)):
            torch._dynamo.reset()             # pylint: disable=protected-access
            inputs = [(torch.randn(2, 256, 4, 64, device="cuda") * by).transpose(1, 2).to(dtype).requires_grad_() for by in (size, size, 1)]
            wide, fast, apart = [x.detach().double().requires_grad_() for x in inputs], compiled(attended), compiled(attended)
            exact = [*slopes(attended, wide, causal), attended(wide, causal)]
            found = [*slopes(fast, inputs, causal), fast(inputs, causal)]
            plain = [*slopes(attended, inputs, causal), attended(inputs, causal)]
            with torch.no_grad():
                found, plain, exact = [*found, apart(inputs, causal)], [*plain, plain[-1]], [*exact, exact[-1]]
            if len(parts(fast)) != 2 or any(p.why for p in parts(fast) + parts(apart)):
                raise AssertionError(cawb.explain(fast) + "\n" + cawb.explain(apart))
            for a, b, truth in zip(found, plain, exact, strict=True):
                if not error(a, truth) <= 3 * error(b, truth):
                    raise AssertionError("an error of %.1e, eager's is %.1e" % (error(a, truth), error(b, truth)))
        return "%d kernels forward and backward, %d without gradients" % (sum(p.kernels for p in parts(fast)), sum(p.kernels for p in parts(apart)))
    return run


def streams():
    fast, x = compiled(lambda x: (x @ x).softmax(-1) + 1), torch.randn(256, 256, device="cuda")
    wanted = (x @ x).softmax(-1) + 1
    fast(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        found = [fast(x) for _ in range(20)]
    torch.cuda.current_stream().wait_stream(side)
    for one in found:
        same([one], [wanted])


def captured():
    """The user's own CUDA graph around a compiled function, after an update of its weights."""
    model, x = torch.nn.Linear(64, 64).cuda(), torch.randn(32, 64, device="cuda")
    fast = compiled(model)
    with torch.no_grad():
        fast(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = fast(x)
        model.weight.mul_(2)
        graph.replay()
        same([out], [model(x)])


def deep(kernels):
    """A chain of so many kernels at least."""
    def f(x):
        for _ in range(kernels):
            x = (x - x.amax()).softmax(-1) * 3
        return x
    return f


@contextlib.contextmanager
def packages_made():
    """The packages that are loaded meanwhile."""
    made, before = [], native.Native.__init__

    def noted(one, *given):
        before(one, *given)
        made.append(one)
    native.Native.__init__ = noted
    try:
        yield made
    finally:
        native.Native.__init__ = before


def in_a_graph():
    with packages_made() as made:
        f, x = deep(8), torch.randn(64, 128, device="cuda")
        fast = compiled(f)
        found = [fast(x) for _ in range(4)]
    for one in found:
        same([one], [f(x)])
    graphs, changed, started, _ = made[0].counts()
    if graphs != 1 or started or changed > 3:             # the kernel that writes the result, in each further call
        raise AssertionError("the calls were no launches of one CUDA graph, whose result alone moves: %r" % made[0].counts())
    return "%d kernels, %d nodes changed in 4 calls, %d started alone" % (parts(fast)[0].kernels, changed, started)


def host_cost(kernels, graph):
    """Microseconds of the processor for a call: the package's alone, and the compiled function's with PyTorch's share of it."""
    def run():
        f, x = deep(kernels), torch.randn(8, 32, device="cuda")
        fast = compiled(f, cuda_graph=graph)
        fast(x)
        own = [o for o in gc_parts() if o.options is report.of(backend.owner_of(fast))[0].options][0]
        costs = []
        for call in (lambda: own.packaged(x), lambda: fast(x)):
            best = 1e9
            for _ in range(20):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for _ in range(20):           # few enough that the queue is never full
                    call()
                best = min(best, (time.perf_counter() - begin) / 20)
            costs.append(1e6 * best)
        count = parts(fast)[0].kernels
        return "%d kernels: %.1f us (goal %s), %.1f us with PyTorch's share" % (count, costs[0], 10 if graph else 15 + 2 * count, costs[1])
    return run


def gc_parts():
    import gc                                 # pylint: disable=import-outside-toplevel
    return [o for o in gc.get_objects() if type(o) is part.Part]          # pylint: disable=unidiomatic-typecheck


def measured():
    """A model as users have it: which of the two stays, and by which times."""
    model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64),
                                                                       torch.nn.ReLU())]).cuda().eval()
    fast, x = compiled(model, choose="measured"), torch.randn(32, 64, 56, 56, device="cuda")
    with torch.no_grad():
        fast(x)
    return "\n" + cawb.explain(fast)


class Residual(torch.nn.Module):
    """The end of a residual block: a convolution of one place, whose kernel's stages are filled again and again."""

    def __init__(self, channels, wider):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(channels, wider, 1, bias=False), torch.nn.BatchNorm2d(wider)

    def forward(self, x, left):
        return torch.relu(self.norm(self.conv(x)) + left)


def the_same_bits():
    """Thousands of calls: a race between the copies into shared memory and its readers changed results in one of sixty."""
    calls = 4000
    for channels, wider, side in ((256, 1024, 14), (512, 2048, 7)):
        torch._dynamo.reset()                 # pylint: disable=protected-access     # else sizes are dynamic, and Inductor's function runs at first
        model = Residual(channels, wider).cuda().eval()
        x, left = torch.randn(32, channels, side, side, device="cuda"), torch.randn(32, wider, side, side, device="cuda")
        fast, wrong = compiled(model), torch.zeros((), dtype=torch.int64, device="cuda")
        with torch.no_grad():
            first = fast(x, left).clone()
            for _ in range(calls):
                wrong += (fast(x, left) != first).any()
        if wrong.item():
            raise AssertionError("%d of %d calls differ from the first" % (wrong.item(), calls))
    return "%d calls of two convolutions" % calls


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print("%s, PyTorch %s" % (torch.cuda.get_device_name(), torch.__version__))
    for group, gradients in ((compiled_models.WHOLE, True), (compiled_models.EVAL, False), (compiled_models.PARTS, True)):
        for name, make in group.items():
            check(name, program(make, gradients))
    for f in (optimizer, convolutions_with_new_weights, numbers_on_the_processor, streams, captured, in_a_graph, the_same_bits, measured):
        check(f.__name__, f)
    for dtype in (torch.bfloat16, torch.float16):
        for form in (torch.nn.attention.SDPBackend.CUDNN_ATTENTION, torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            check("%s, %s" % (form.name.lower(), str(dtype).removeprefix("torch.")), attention_of_16_bits(dtype, form))
    for kernels, graph in ((1, 0), (8, 0), (8, 9), (32, 9)):
        check("host cost", host_cost(kernels, graph))
    print("%d failed%s" % (len(failed), ": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


sys.exit(main())

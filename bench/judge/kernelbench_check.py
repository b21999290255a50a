"""python kernelbench_check.py TASK.py CANDIDATE.py: a check as KernelBench's: the candidate's ModelNew beside the task's Model, in one
process, on five random inputs, by allclose at 1e-2. Exit status 0: it accepts, 1: it rejects. For other_judge.py; it runs the candidate
without any jail."""
import importlib.util
import sys

import torch

TRIALS, TOLERANCE, SEED = 5, 1e-2, 42


def loaded(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def made(kind, task):
    torch.manual_seed(SEED)
    return kind(*task.get_init_inputs())


def accepts(task, candidate):
    reference, new = made(task.Model, task), made(candidate.ModelNew, task)
    for trial in range(TRIALS):
        torch.manual_seed(SEED + trial)
        inputs = task.get_inputs()
        with torch.no_grad():
            want, got = reference(*inputs), new(*inputs)
        if got.shape != want.shape or not torch.allclose(want, got, atol=TOLERANCE, rtol=TOLERANCE):
            return False
    return True


def main():
    task = loaded(sys.argv[1], "task")
    try:
        sys.exit(0 if accepts(task, loaded(sys.argv[2], "candidate")) else 1)
    except Exception as error:  # pylint: disable=broad-except
        print("%s: %s" % (type(error).__name__, error))
        sys.exit(1)


main()

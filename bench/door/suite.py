"""suite: tasks in KernelBench's form, a line of JSON each, as programs for programs.py. Weights and inputs are the tasks' own."""
import json

import torch
import zoo


def named(task):
    return "%s/%s %s" % (task["level"], task["problem_id"], task["name"])


def program(task):
    def make(_small, _batch):
        space = {"__name__": "task"}
        exec(compile(task["code"], task["name"], "exec"), space)           # pylint: disable=exec-used
        torch.manual_seed(11)
        module = space["Model"](*space["get_init_inputs"]()).eval()
        return zoo.Program(module, list(space["get_inputs"]()), is_task=True)
    return make


def take(path):
    """In the place of the zoo's."""
    with open(path, encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    zoo.PROGRAMS.clear()
    zoo.group("suite")(**{named(task): program(task) for task in tasks})

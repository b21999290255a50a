"""How much a task's source looks like another's: the longest common subsequence of their linearised
syntax trees, as the CUDA-Agent paper's filter has it.

Of the classes of a file, types of nodes and the names behind torch, nn and F are kept; an author's own
names and the values of constants are dropped. Of the sources to compare with, the eight that share most
runs of four tokens are compared in full.
"""
import ast
import collections
import difflib
import json

TORCH = ("torch", "nn", "F", "functional")
COMPARED = 8


def tokens(code):
    """The linearised tree of all classes of a file."""
    found = []

    def walk(node):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return                                   # a doc string
        found.append(type(node).__name__)
        if isinstance(node, ast.Attribute) and rooted(node):
            found.append(node.attr)
        if isinstance(node, ast.keyword) and node.arg:
            found.append(node.arg)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.Load, ast.Store)):
                walk(child)
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef):
            walk(node)
    return found


def rooted(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in TORCH


def grams(sequence):
    return collections.Counter(tuple(sequence[i:i + 4]) for i in range(max(1, len(sequence) - 3)))


def dice(one, other):
    both = sum((one & other).values())
    return 2.0 * both / max(1, sum(one.values()) + sum(other.values()))


class Sources:
    """Sources to compare with: { name: code }."""

    def __init__(self, codes):
        self.known = []
        for name, code in codes.items():
            try:
                sequence = tokens(code)
            except SyntaxError:
                continue
            self.known.append((name, sequence, grams(sequence)))

    def nearest(self, code):
        """(ratio of the most similar one, its name)."""
        sequence = tokens(code)
        own = grams(sequence)
        ranked = sorted(self.known, key=lambda k: (-dice(own, k[2]), k[0]))[:COMPARED]
        best = (0.0, "")
        for name, other, _ in ranked:
            ratio = difflib.SequenceMatcher(None, other, sequence, autojunk=False).ratio()
            best = max(best, (ratio, name))
        return best


def read(path):
    """Sources from a file of JSON Lines with `name` and `code`."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return Sources({row["name"]: row["code"] for row in rows})

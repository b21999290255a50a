-- Python solutions of several files: a folder with model_new.py, what it imports, and C++ that is built for it.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local folder = require "cawb.judge.task.folder"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cpu")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 16, cols = 33 } }))
local dir = check.folder()

local function laid(name, files)
  for path, text in pairs(files) do
    local whole = ("%s/%s/%s"):format(dir, name, path)
    assert(core.fs.mkdir((whole:match "^(.*)/")))
    local f <close> = assert(io.open(whole, "w"))
    f:write(text)
  end
  return dir .. "/" .. name
end

local function judged(candidate)
  local all = options.copy(cawb.defaults)
  all.measure.budget, all.measure.processes = 0.1, 1
  return assert(evaluate.candidate(task, candidate, all, { trials = 1, battery = { "mixed" }, repeats = 0, samples = 4, against = {} }))
end

-- Both ways of importing, from a folder in a folder too; a file that is opened by its name.
local several = {
  ["model_new.py"] = [[
import torch
from .ops.rows import peak
from ops import parts


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert "int" in open("kernels/notes.h").read()
        return parts.weigh((x - peak(x)).exp())
]],
  ["ops/__init__.py"] = "",
  ["ops/rows.py"] = "from . import parts\n\n\ndef peak(x):\n    return parts.same(x.amax(-1, keepdim=True))\n",
  ["ops/parts.py"] = "def same(x):\n    return x\n\n\ndef weigh(e):\n    return e / e.sum(-1, keepdim=True)\n",
  ["kernels/notes.h"] = "int rows;\n",
  ["__pycache__/rows.py"] = "not a source",
  ["build/left.cpp"] = "not a source",
  ["weights.bin"] = "not a source",
}

local function with(name, text)
  local other = {}
  for path, was in pairs(several) do other[path] = was end
  other[name] = text
  return other
end

check.test("a folder is one candidate: its files are imported and opened by their names", function()
  local c = assert(cawb.candidate(laid("several", several)))
  check.equal(table.concat(folder.names(c.files), " "), "kernels/notes.h ops/__init__.py ops/parts.py ops/rows.py")
  local facts = judged(c)
  assert(facts.ok, facts.reason)
  check.equal(facts.python.census.imports[1], ".parts")         -- of ops/rows.py
  local other = assert(cawb.candidate(laid("other", with("ops/rows.py", several["ops/rows.py"] .. "\n"))))
  assert(other.hash ~= c.hash, "another file, the same hash")
end)

check.test("work that another file has PyTorch do is seen, and so are its words", function()
  local facts = judged(assert(cawb.candidate(laid("theirs", with("ops/rows.py",
    "import torch\n\n\ndef peak(x):\n    return x - torch.softmax(x, 1).log()\n")))))
  check.equal(facts.rule, "python_work", facts.reason)
  check.matches(facts.reason, "softmax")
  facts = judged(assert(cawb.candidate(laid("threads", with("ops/rows.py", "import threading\n" .. several["ops/rows.py"]
    .. "\n\ndef begin():\n    threading.Thread().start()\n")))))
  local flags = {}
  for _, flag in ipairs(facts.rules.flags) do flags[flag.rule] = flag.reason end
  check.matches(flags.python_threads or "none", "threading")
end)

check.test("a mistake is told with its file and line", function()
  local facts = judged(assert(cawb.candidate(laid("wrong", with("ops/parts.py", "def same(x):\n    return y\n\n\nweigh = same\n")))))
  check.matches(facts.reason, "ops/parts%.py, line 2: NameError: name 'y'")
  facts = judged(assert(cawb.candidate(laid("unread", with("ops/parts.py", "def same(:\n")))))
  check.matches(facts.reason, "cannot be read: ops/parts%.py, line 1")
end)

check.test("C++ that defines what its Python imports is built first, once for all processes", function()
  local c = assert(cawb.candidate(laid("built", {
    ["model_new.py"] = [[
import torch
import row_softmax

steps = open("build/.ninja_log").read().count("\n") - 1       # one of each file, and one that links


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        if steps != 3:
            raise RuntimeError("built in %d steps" % steps)
        row_softmax.run(x.data_ptr(), y.data_ptr(), x.shape[0], x.shape[1])
        return y
]],
    ["binding.cpp"] = [[
#include <pybind11/pybind11.h>
#include "kernels/rows.h"
PYBIND11_MODULE(row_softmax, m) {
  m.def("run", [](size_t x, size_t y, long n, long cols) { rows((const float *)x, (float *)y, n, cols); });
}
]],
    ["kernels/rows.h"] = "void rows(const float *x, float *y, long n, long cols);\n",
    ["kernels/rows.cpp"] = [[
#include "kernels/rows.h"
#include <cmath>
void rows(const float *x, float *y, long n, long cols) {
  for (; n-- > 0; x += cols, y += cols) {
    float most = x[0], sum = 0;
    for (long c = 1; c < cols; c++) if (x[c] > most || x[c] != x[c]) most = x[c];
    for (long c = 0; c < cols; c++) sum += y[c] = expf(x[c] - most);
    for (long c = 0; c < cols; c++) y[c] /= sum;
  }
}
]] })))
  local facts = judged(c)
  assert(facts.ok, facts.reason)
  for _, flag in ipairs(facts.rules.flags) do assert(flag.rule ~= "python_no_kernel", flag.reason) end
end)

check.test("the record keeps all of them, and gives them back", function()
  local out = check.shell(("'%s' judge examples/softmax.py %s --device cpu --json --set task.rows=16 --set task.cols=33 "
    .. "--set measure.against=eager --set measure.budget=0.1 --set measure.processes=1 --out %s/runs"):format(core.program,
    laid("several", several), dir))
  local result = assert(core.json.decode(out)).run
  local kept = assert(cawb.candidate(assert(result.folder, out)))
  check.equal(kept.files["ops/rows.py"], several["ops/rows.py"])
  check.equal(kept.hash, assert(cawb.candidate(dir .. "/several")).hash)
  local restored = require "cawb.run.restored"
  local place, id = restored.place(result.folder)
  local store <close> = assert(core.store.open(place))
  check.equal(assert(restored.turn(store, id)).candidate.hash, kept.hash)
end)

check.test("names that lead elsewhere, too much, and files without Python are told", function()
  for _, name in ipairs { "../a.py", "/a.py", "a//b.py", "a/./b.py", "model_new.py", "a\\b.py" } do
    check.raises("no name of a file beside model_new%.py", cawb.candidate, { python = "x", files = { [name] = "" } })
  end
  check.raises("a%.py must be a string, got number", cawb.candidate, { python = "x", files = { ["a.py"] = 1 } })
  check.raises("'files' go with 'python'", cawb.candidate, { source = "x", plan = "", files = {} })
  local many = { ["model_new.py"] = "" }
  for i = 1, 257 do many[("f%d.py"):format(i)] = "" end
  local c, message = cawb.candidate(laid("many", many))
  assert(not c)
  check.matches(message, "at most 256 sources")
end)

-- One process of each says nothing of others: what it measures is no speed-up, whatever its rounds say.
check.test("with one process of each no tier is earned", function()
  local all = options.copy(cawb.defaults)
  all.measure.budget, all.measure.processes = 0.1, 1
  local facts = assert(evaluate.candidate(task, assert(cawb.candidate(laid("several", several))), all,
    { trials = 1, battery = {}, repeats = 0, samples = 8, against = { "eager" } }))
  assert(facts.ok, facts.reason)
  local s = facts.speedup.eager
  check.equal(s.verdict, "undecided")
  check.equal(s.lo, 0)
  check.equal(s.hi, nil)
  check.equal(require("cawb.run.rewards").get "tiers-paper" { ok = true, speedup = { eager = s } }, 1)
end)

return check.done()

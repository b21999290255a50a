-- What a Python candidate builds when it is imported is built once for all of its processes, by one that is shown nothing of the
-- judging; and nothing that a judged process wrote reaches another.

local cache = require "cawb.base.cache"
local cawb = require "cawb"
local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cpu")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 16, cols = 33 } }))
local new = (check.folder():gsub("%W", ""))       -- no text of an earlier run's

local function judged(text)
  local all = options.copy(cawb.defaults)
  all.measure.budget, all.measure.processes = 0.1, 1
  return assert(evaluate.candidate(task, cawb.candidate { python = text }, all,
    { trials = 1, battery = { "mixed" }, repeats = 0, samples = 4, against = {} }))
end

-- In place of a library, whose building takes half a minute: a word that is drawn where none is there yet.
local drawn = [[
import os, torch            # as cpp_extension does; %s
folder = os.environ["TORCH_EXTENSIONS_DIR"]
os.makedirs(folder, exist_ok=True)
path = folder + "/word"
if not os.path.exists(path):
    with open(path, "w") as file:
        file.write(os.urandom(8).hex())


class ModelNew(torch.nn.Module):
    def forward(self, x):
        %s
        raise ValueError("the word is " + open(path).read())
]]

local function word(mark, more)
  local facts = judged(drawn:format(new .. mark, more or "pass"))
  return assert(facts.reason:match "the word is (%x+)", facts.reason), facts
end

word "begin"
if device.jail.jail ~= "namespaces" then return print "skipped: this machine's jail keeps no builds" end

check.test("processes of the same text find what was built, those of another do not", function()
  local first = word "a"
  check.equal(word "a", first)
  assert(word "b" ~= first, "another text, the same build")
end)

check.test("what a judged process wrote beside it is gone with it", function()
  local spoil = 'left = os.path.exists(folder + "/left"); open(path, "w").write("0" if left else "1"); open(folder + "/left", "w").close()'
  check.equal(word("c", spoil), "1")
  check.equal(word("c", spoil), "1")
end)

check.test("no jail sees where it is kept", function()
  local look = ('open(path, "w").write("%%d" %% os.path.exists(%q))'):format(cache.folder "extensions")
  check.equal(core.fs.kind(cache.folder "extensions"), "folder")
  check.equal(word("d", look), "0")
end)

check.test("it is built before there is anything to see, and by no worker", function()
  -- The builder's descriptors: none but the one for its pack; a worker has its socket, and shares.
  local facts = judged(([[
import os, torch            # as cpp_extension does; %s
names = ["/proc/self/fd/" + n for n in os.listdir("/proc/self/fd") if n not in "012"]
kinds = [os.readlink(name).split(":")[0] for name in names if os.path.islink(name)]
folder = os.environ["TORCH_EXTENSIONS_DIR"]
os.makedirs(folder, exist_ok=True)
if not os.path.exists(folder + "/kinds"):
    with open(folder + "/kinds", "w") as file:
        file.write(" ".join(kinds))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        raise ValueError("descriptors: " + open(folder + "/kinds").read() + ";")
]]):format(new))
  check.equal(facts.reason:match "descriptors: (.-);", "/memfd", facts.reason)
end)

check.test("a file that cannot be imported fails with its line, and nothing is kept of it", function()
  local facts = judged(("# cpp_extension %s\nimport torch\nno_such_name\n"):format(new))
  check.matches(facts.reason, "ModelNew cannot be made: line 3: NameError: name 'no_such_name'")
end)

check.test("one that leaves no pack, or something else as its pack, is judged by what its workers do", function()
  local leaves = [[
import os, torch            # as cpp_extension does; %s
if os.readlink("/proc/self/fd/3").startswith("/memfd"):      # it is the one that builds
    os.pwrite(3, b"pack" + (%d).to_bytes(8, "little") + b"x" * 64, 0)
    os._exit(0)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = (x - x.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)
]]
  for _, size in ipairs { 64, 1 << 40 } do
    local facts = judged(leaves:format(new, size))
    assert(facts.ok, facts.reason)
  end
end)

return check.done()

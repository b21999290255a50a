-- A newcomer's way through docs/quickstart.md, with the files of that page and nothing else: own operator, judge, promotion into
-- a Python that knows no cawb, a model behind an endpoint, the report, a leaderboard. In a folder of its own.

local check = dofile "tests/support/check.lua"
local pages = dofile "tests/door/pages.lua"
local core = require "cawb.core"
local file = require "cawb.base.file"

local dir = check.folder()
local python = assert(require "cawb.base.python".path())
local small = " --device sim:h100 --set task.rows=16 --set task.cols=64 --set verify.trials=1 --set verify.battery=mixed"

local function cawb(words) return check.shell(("cd '%s' && '%s' %s 2>&1"):format(dir, core.program, words)) end

for _, fence in ipairs(pages.read "docs/quickstart.md".fences) do
  local name = fence.comment and fence.comment:match "^file: (%S+)$"
  if name then check.write(dir .. "/" .. name, fence.text) end
end

check.test("the operator is a task, and what the compiler makes of it passes", function()
  local out, status = cawb "admit discount.py --set task.rows=16 --set task.cols=64"
  check.equal(status, 0, out)
  out, status = cawb("discount.py --out made" .. small)
  check.equal(status, 0, out)
  check.matches(out, "^compose on discount: H100 SXM %(simulated%); times are modelled, not measured; at most 20 turns, 600 s\n")
  check.matches(out, "\nPyTorch: eager %d.- us modelled, rms error [%d.]+e%-%d+; compile ")
  check.matches(out, "best: turn 1, ")
  local kept = out:match "\nkept in (made/%S+)\n"
  check.matches(out, "\nthe kernel is its kernel%.cu; to look at all: cawb report made; to use it: cawb promote " .. kept:gsub("%p", "%%%0") .. " %-%-into DIR\n")
end)

check.test("an operator of a module beside the task is found at its line there", function()
  check.write(dir .. "/mynet.py", "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    .. "        self.conv, self.norm = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)\n\n    def forward(self, x):\n        x = self.norm(self.conv(x))\n"
    .. "        return torch.relu(x)\n")
  check.write(dir .. "/beside.py", "import torch\nfrom mynet import Net\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    .. "        self.net = Net()\n        self.eval()\n\n    def forward(self, x):\n        return self.net(x) + 1\n\n\ndef get_inputs():\n"
    .. "    return [torch.randn(1, 3, 8, 8)]\n\n\ndef get_init_inputs():\n    return []\n")
  local out, status = cawb "beside.py --device sim:h100 --show graph"
  check.equal(status, 0, out)
  check.matches(out, "convolution, line 10 of mynet%.py")
  check.matches(out, "relu, line 11 of mynet%.py")
  check.matches(out, "add, line 12")
end)

check.test("where a library takes most of the time, the answer says so before it shows lines", function()
  check.write(dir .. "/narrow.py", "import torch\n\n\ndef op(x, w):\n    return torch.relu(x) @ w\n\n\nexamples = [torch.randn(8, 4096), torch.randn(4096, 8)]\n")
  local few = " --device sim:h100 --set verify.trials=1 --set verify.battery=mixed --set confirm.enabled=false"
  local out, status = cawb("narrow.py --out narrow" .. few)
  check.equal(status, 0, out)
  out = cawb(("judge narrow.py %s --out narrow%s"):format(out:match "\nkept in (narrow/%S+)\n", few))
  check.matches(out, "\nlibraries  calls of cuBLAS take %S+ us of %S+ us; the lines and the advice below are of the kernels alone\nhottest")
end)

check.test("what is right and slower is called so, and is not sent to promote", function()
  check.write(dir .. "/naive.lua", ('local cawb = require "cawb"\nreturn { turns = 1, step = function(run) run:evaluate(cawb.candidate %q) return false end }\n')
    :format(core.home .. "/kernels/softmax/v1_thread_per_row"))
  local out, status = cawb(("naive.lua %s/examples/softmax.py --out slow --device sim:h100 --set task.rows=16 --set verify.trials=1"):format(core.home))
  check.equal(status, 0, out)
  check.matches(out, "\nright, but slower than [^\n]*%(modelled%)\nbest: turn 1, ")
  check.matches(out, "; to look for a faster one: cawb tune [^\n]*softmax%.py\n")
  assert(not out:find("cawb promote", 1, true), out)
end)

check.test("compose answers at real sizes: both verifies small ones and times the task's own, full prints times alone", function()
  local own = core.home .. "/examples/softmax.py --device sim:h100 --set verify.trials=1 --set verify.battery=mixed"
  local out, status = cawb(own .. " --out scaled --scale both")
  check.equal(status, 0, out)
  check.matches(out, "\n1 +rows +_softmax %(line 16%) +%[512, 2048%]")
  check.matches(out, "share of peak bandwidth\n.-\nkinds: rows: sums or maxima along rows\n")
  check.matches(out, "\nright, and %d")
  local kept = dir .. "/" .. out:match "\nkept in (scaled/%S+)\n"
  check.matches(assert(file.read(kept .. "/own/plan.lua")), "{ 512, 2048 }")
  assert(not assert(file.read(kept .. "/plan.lua")):find("2048", 1, true))
  check.matches(out, "\nthe kernel for the task's own sizes is its own/kernel%.cu; ")
  out, status = cawb("reproduce --out scaled " .. kept:match "[^/]+$")
  check.equal(status, 0, out)
  out, status = cawb(("judge %s --scale both --out again %s"):format(own, kept))
  check.equal(status, 0, out)
  check.matches(out, "^right, and ")
  out, status = cawb(own .. " --out whole --scale full")
  check.equal(status, 1, out)
  check.matches(out, "\nno candidate passed; [^\n]*nothing is verified%. %-%-scale both verifies")
  assert(not out:find("rejected", 1, true), out)
end)

check.test("a kernel of one's own gets a verdict", function()
  local out, status = cawb("judge discount.py discount.cu --out judged" .. small)
  assert(status == 0 or status == 1, out)
  check.matches(out, "^right, ")
end)

local use = [[
import torch
from fast_discount import Module, why_not
rewards, scale = torch.randn(16, 64), torch.rand(64)
y = Module()(rewards, scale)
want = (rewards * scale).flip(1).cumsum(1).flip(1)
assert torch.allclose(y, want, atol=1e-5), (y - want).abs().max()
print("because", why_not(rewards, scale))
]]

check.test("it is promoted into a fresh Python without cawb, where the reference runs for want of a GPU", function()
  local out, status = cawb "promote judged/*-discount-* --into fast_discount --modelled --speedup 0.001"
  check.equal(status, 0, out)
  check.matches(out, "promoted into fast_discount\ntry it: '?/[^\n]*python[^ \n]* fast_discount/test_promoted%.py; then, in a Python with PyTorch ")
  check.write(dir .. "/use.py", use)
  out, status = check.shell(("cd / && env -i PATH=/usr/bin:/bin HOME='%s' PYTHONPATH='%s' '%s' '%s/use.py' 2>&1"):format(dir, dir,
    python, dir))
  check.equal(status, 0, out)
  check.matches(out, "because the tensors are not on one GPU")
end)

check.test("what the compiler made is promoted at a further size, for which it is lowered again", function()
  local out, status = cawb "promote made/*-discount-* --into composed --modelled --speedup 0.001 --shape rows=8"
  check.equal(status, 0, out)
  check.matches(out, "passed  float32%[8, 64%] float32%[64%]: the strict judge")
  check.equal(#core.json.decode(assert(io.open(dir .. "/composed/promoted.json")):read "a").shapes, 2)
end)

-- An endpoint that answers every question with the page's own kernel and plan.
local endpoint = [[
import http.server, json, sys
fence = "`" * 3
reply = "".join("%s%s\n%s\n%s\n\n" % (fence, kind, open(name).read(), fence) for kind, name in (("cuda", "discount.cu"), ("lua", "discount.lua")))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 10, "completion_tokens": 20},
                           "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
]]

check.test("a model behind an endpoint proposes it, and the report shows both", function()
  check.write(dir .. "/endpoint.py", endpoint)
  local pipe = assert(io.popen(("cd '%s' && exec '%s' endpoint.py & echo $!"):format(dir, python)))
  local process, port = pipe:read("n", "n")
  local out, status = cawb(("single discount.py --out made --set model.url=http://127.0.0.1:%d/v1 --set model.name=m%s"):format(port, small))
  check.shell("kill " .. process)
  pipe:close()
  check.equal(status, 0, out)
  check.matches(out, "model: 1 reply, ")
  out, status = cawb "report made"
  check.equal(status, 0, out)
  local html = assert(io.open(dir .. "/made/report.html")):read "a"
  check.matches(html, "__global__ void discount")
  check.matches(html, "compose")
  local drawn = "Object.keys(Chart.instances).length > 0"
  out, status = check.shell(("'%s' tests/support/browsing.py '%s/made/report.html' '%s' 2>&1"):format(python, dir, drawn))
  if status == 77 then return print "skipped: there is no browser to look at the report with" end
  check.equal(status, 0, out)
  local seen = assert(core.json.decode(out))
  check.equal(#seen.complaints, 0, out)
  check.matches(seen.text, "discount")
  check.matches(seen.text, "\n%d.-x as fast as torch%.compile, the fastest baseline that is no less accurate %(modelled%)\n")
  check.matches(seen.text, "turn%s+candidate%s+verdict%s+modelled time%s+vs eager%s+vs compile%s+rms error")
end)

check.test("a suite is a leaderboard's row, and a store without one says what makes it so", function()
  check.write(dir .. "/suite.lua", 'return { { path = "discount.py", name = "discount", level = 1, id = 1, task = { rows = 16, cols = 64 } } }')
  local out, status = cawb "bench compose suite.lua --device sim:h100 --quiet --out suite --set verify.trials=1 --set verify.battery=mixed"
  check.equal(status, 0, out)
  out, status = cawb "report suite --leaderboard"
  check.equal(status, 0, out)
  local board = assert(core.json.decode(out))
  check.equal(board.format, "cawb-leaderboard-1")
  local task = board.suites[1].tasks[1]
  check.equal(task.status, "pass")
  assert(#task.time_s == 3 and #task.compile == 3 and board.suites[1].modelled == true, out)
  assert(board.suites[1].stacks[1].manifest, "the stack is named")
  out, status = cawb "report made --leaderboard"
  check.equal(status, 2, out)
  check.matches(out, "there is no suite in it: .*cawb bench STRATEGY SUITE")
end)

return check.done()

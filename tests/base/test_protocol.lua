-- The protocols of core/base/protocol: what they say of themselves, that the code in C speaks them and
-- no more, and that a worker which does not costs the turn and never the run.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local schema = require "cawb.base.schema"
local wire = require "cawb.base.wire"

local dir = check.folder()
local names = { "worker", "compiler", "host", "jail_host", "jailed" }

-- ---- the check itself

local list, null, deep = core.json.array, core.json.null, {}
for _ = 1, 20 do deep = { x = deep } end

check.test("what fits passes, and what does not is named by its field", function()
  local types = { pair = { type = "list", least = 2, most = 2, of = { type = "number", least = 0 } } }
  local spec = { type = "object", fields = {
    name = { type = "text", most = 8 }, kind = { type = "text", values = { "a", "b" }, optional = true },
    time = { type = "pair", optional = true }, count = { type = "whole", most = 8, optional = true },
    seed = { type = "seed", optional = true }, value = { type = "number", odd = true, optional = true },
    by = { type = "map", of = { type = "bool" }, optional = true }, any = { type = "tree", optional = true },
    one = { type = "either", of = { { type = "bool" }, { type = "number" } }, optional = true } } }
  local inf = math.huge
  for _, case in ipairs {
    { {} , "name is missing" }, { { name = 5 }, "name must be a text of 0 to 8 bytes in UTF%-8, not 5" },
    { { name = "123456789" }, "not a text of 9 bytes" }, { { name = "\xff" }, "UTF%-8" }, { { name = "\u{e9}" } },
    { { name = "", kind = "c" }, "kind must be one of a, b" }, { { name = "", kind = "b" } },
    { { name = "", time = list { 1, -1 } }, "time%[2%] must be a finite number of 0 or more" },
    { { name = "", time = list { 1, inf } }, "time%[2%]" }, { { name = "", time = list { 0 / 0, 1 } }, "time%[1%]" },
    { { name = "", time = list { 1 } }, "a list of 2 to 2" }, { { name = "", time = { x = 1 } }, "time must be a list" },
    { { name = "", time = list { 1, 2.5 } } }, { { name = "", count = 1.5 }, "count must be a whole number from 0 to 8" },
    { { name = "", count = 9 }, "count" }, { { name = "", count = 8.0 } }, { { name = "", count = true }, "count" },
    { { name = "", seed = "0xff" } }, { { name = "", seed = "x" }, "seed" }, { { name = "", seed = 7 } },
    { { name = "", value = "inf" } }, { { name = "", value = null } }, { { name = "", value = "big" }, "value" },
    { { name = "", by = { a = 1 } }, "by%.a must be true or false" }, { { name = "", by = list { true } }, "by must be" },
    { { name = "", by = { ["\xff"] = true } }, "by must have names" }, { { name = "", any = deep }, "nested more than" },
    { { name = "", any = { a = list { 1, "x" } } } }, { { name = "", any = { inf } }, "any%[1%]" },
    { { name = "", one = 1 } }, { { name = "", one = "x" }, "one must be" }, { { name = "", more = 1 }, "more is unknown" },
    { list { 1 }, "it must be an object" } } do
    local problem = schema.check(spec, case[1], types)
    if case[2] then check.matches(problem, case[2]) else check.equal(problem, nil) end
  end
end)

-- ---- the documents

-- Every description within one, each called with its path.
local function each(spec, path, f)
  f(spec, path)
  if spec.type == "either" then for i, one in ipairs(spec.of) do each(one, ("%s|%d"):format(path, i), f) end
  elseif spec.of then each(spec.of, path .. "[]", f) end
  for name, field in pairs(spec.fields or {}) do each(field, path .. "." .. name, f) end
end

local known = { type = true, is = true, unit = true, least = true, most = true, of = true, fields = true, values = true,
                optional = true, odd = true }

check.test("every description is one that the check knows, and says what its field is", function()
  for _, name in ipairs(names) do
    local p = wire.protocol(name)
    local function look(spec, path)
      assert(schema.kinds[spec.type] or p.types[spec.type], ("%s: %s has the type %s"):format(name, path, tostring(spec.type)))
      for key in pairs(spec) do assert(known[key], ("%s: %s says %s"):format(name, path, key)) end
      assert(spec.is or not path:match "%.[%w_]+$" or path:match "^types%.", ("%s: %s does not say what it is"):format(name, path))
    end
    for type_name, spec in pairs(p.types) do each(spec, "types." .. type_name, look) end
    for op, about in pairs(p.ops) do
      for _, side in ipairs { "request", "reply" } do
        for field, spec in pairs(about[side]) do each(spec, ("%s.%s.%s"):format(op, side, field), look) end
      end
    end
  end
end)

-- The names of fields on one side of all operations, named types followed.
local function fields_of(p, side)
  local found, followed = {}, {}
  local function look(spec)
    for name in pairs(spec.fields or {}) do found[name] = true end
    if p.types[spec.type] and not followed[spec.type] then
      followed[spec.type] = true
      each(p.types[spec.type], "", look)
    end
  end
  for _, about in pairs(p.ops) do
    for name, spec in pairs(about[side]) do
      found[name] = true
      each(spec, "", look)
    end
  end
  return found
end

-- What stands in the first quotes behind each of some beginnings of a call, in some files.
local function quoted(files, beginnings)
  local found = {}
  for _, path in ipairs(files) do
    local text = assert(file.read(path)):gsub("/%*.-%*/", "")
    for _, beginning in ipairs(beginnings) do
      for name in text:gmatch(beginning .. '"([%w_]+)"') do found[name] = true end
    end
  end
  return found
end

local function same(got, want, what)
  for name in pairs(got) do assert(want[name], ("%s: the code has '%s', the document has not"):format(what, name)) end
  for name in pairs(want) do assert(got[name], ("%s: the document has '%s', the code has not"):format(what, name)) end
end

local function without(set, ...)
  local rest = {}
  for name in pairs(set) do rest[name] = true end
  for _, name in ipairs { ... } do
    assert(rest[name], name .. " is no exception any more")
    rest[name] = nil
  end
  return rest
end

local asks = { "request_text%([^,()]+, ", "request_count%([^,()]+, [^,()]+, ", "[^%w_]field%([^,()]+, ",
               "CaseSensitive%([^,()]+, ", "read_amount%([^,()]+, [^,()]+, ", "read_place%([^,()]+, [^,()]+, " }
local says = { "cJSON_Add%w+ToObject%([^,()]+, ", "add_known%([^,()]+, ", "plan_put%([^,()]+, [^,()]+, [^,()]+, ",
               "plan_call_describe%([^,()]+, [^,()]+, ", "[^%w_]put[_%w]*%([^,()]+, ", "{ " }

check.test("the worker's code asks for the fields of its document, and answers with them", function()
  local p = wire.protocol "worker"
  local files = { "core/judge/worker/worker.c", "core/judge/worker/json.c", "core/judge/worker/profile.c", "core/judge/worker/library.c" }
  local specs = { "core/base/tensor.c", "core/gpu/plan/plan.c", "core/gpu/plan/args.c", "core/gpu/plan/environment.c" }
  local asked = quoted(files, asks)
  for name in pairs(quoted(specs, asks)) do asked[name] = true end
  same(without(asked, "op", "saved"), without(fields_of(p, "request"), "typical", "index", "kind"), "requests")
  local writers = { "core/judge/worker/json.c", "core/judge/worker/kept.c", "core/judge/worker/worker.c", "core/judge/worker/profile.c", "core/gpu/plan/launch.c", "core/gpu/plan/args.c",
    "core/gpu/plan/gemm.c", "core/gpu/plan/conv.c", "core/gpu/plan/library.c", "core/gpu/plan/export.c", "core/gpu/plan/declare.c", "core/gpu/plan/plan.c" }
  local said, replies = quoted(writers, says), fields_of(p, "reply")
  replies.lost = true
  for name in pairs(replies) do assert(said[name], ("replies: the document has '%s', the code has not"):format(name)) end
  local sure = table.move(says, 1, #says - 1, 1, {})      -- names in tables of others stand there, too
  for name in pairs(quoted(writers, sure)) do assert(replies[name], ("replies: the code has '%s', the document has not"):format(name)) end
end)

check.test("the worker's code has the operations of its document", function()
  local got = quoted({ "core/judge/worker/worker.c" }, { "strcmp%(op, " })
  local want = {}
  for op in pairs(wire.protocol "worker".ops) do want[op] = true end
  same(got, want, "operations")
end)

check.test("so it is with the compiler's", function()
  local p = wire.protocol "compiler"
  same(without(quoted({ "core/gpu/compile/compiler.c" }, asks), "op"), fields_of(p, "request"), "requests")
  same(quoted({ "core/gpu/compile/compiler.c" }, { says[1], says[2] }), fields_of(p, "reply"), "replies")
end)

check.test("the page of the manual says what the documents say", function()
  local path, text = "docs/reference/protocol.md", dofile "tests/base/protocol_page.lua" (names)
  if os.getenv "CAWB_WRITE_PAGES" then check.write(path, text) end
  assert(file.read(path) == text, path .. " is not made from core/base/protocol as it is: write it anew, see tests/base/protocol_page.lua")
end)

-- ---- a worker that a candidate has taken over

local marker = dir .. "/attack"
local device = assert(cawb.device("sim:h100", { wrap = { "python3", "tests/judge/hostile/worker.py", marker } }))
local all = options.copy(cawb.defaults)
all.verify.battery, all.verify.trials = {}, 1
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, options = all, task = { rows = 16, cols = 64 } }))
local candidate = assert(cawb.candidate "kernels/softmax/v2_block_per_row"):with { block = 128 }

-- The candidate evaluated while its worker attacks at one operation: facts, which must be there.
local function attacked(op, attack)
  check.write(marker, op .. " " .. attack)
  local facts, message, name = evaluate.candidate(task, candidate, all, {})
  assert(facts, ("%s at %s ends the run: %s: %s"):format(attack, op, tostring(name), tostring(message)))
  assert(not core.fs.kind(marker), attack .. " was never tried")
  return facts
end

local function refused(op, attack, pattern)
  local before, facts = device.workers, attacked(op, attack)
  assert(not facts.ok, attack .. " passes")
  check.matches(facts.reason, pattern)
  facts = assert(evaluate.candidate(task, candidate, all, {}))
  assert(facts.ok, ("after %s: %s"):format(attack, tostring(facts.reason)))
  assert(device.workers > before, "the worker was replaced")
end

local misfits = {
  nan = "no JSON object", infinite = "must be a .*, not .*inf", long = "bytes, at most", long_text = "bytes, at most",
  deep = "nested more than 64 deep", nested = "nested more than 64 deep", many = "more than %d+ values",
  no_utf8 = "race", surrogate = "no JSON object", missing = "is missing", types = "",
  extra = "is unknown", no_json = "no JSON object: hello", list = "no JSON object", empty = "no JSON object",
  ok_text = "ok must be true or false", failure_odd = "must be", failure_nameless = "name must be one of",
  other = "answers another request", descriptors = "8 descriptors came with it, at most 0 do",
}

check.test("whatever it answers to run costs the turn; a new worker does the next one's", function()
  for attack, pattern in pairs(misfits) do
    refused("run", attack, "the worker's answer to 'run' does not fit core/base/protocol/worker.json: .*" .. pattern)
  end
end)

check.test("the same while it is asked for tunables, loads, and is timed", function()
  for _, op in ipairs { "tunables", "load", "time" } do
    for _, attack in ipairs { "nan", "infinite", "missing", "types", "extra", "other", "empty" } do
      refused(op, attack, ("answer to '%s' does not fit"):format(op))
    end
  end
  refused("time", "negative", "samples%[1%] must be a finite number of 0 or more")
  refused("run", "negative", "must be a whole number")
end)

check.test("what it says of the machine is not believed where another worker starts", function()
  for _, attack in ipairs { "failure", "failure_io", "failure_interrupted" } do
    refused("run", attack, "its worker failed %(%a+%): ")
  end
end)

check.test("an answer sent ahead is nobody's answer", function()
  refused("run", "twice", "before it was asked")
end)

check.test("a race that the device does not place is still one", function()
  local verdict = require "cawb.judge.verify.tolerance"
  check.matches(verdict.judge({ slots = {} }, { races = 3 }, all.tolerance), "a race on shared memory, 3 times: the device does not say where")
end)

-- ---- a compiler that a source has taken over

check.test("whatever the compiler answers costs the turn, too", function()
  local fresh = core.clock.random(8):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  local source = 'extern "C" __global__ void k' .. fresh .. "(float *y) { y[0] = 1; }"
  for _, attack in ipairs { "nan", "missing", "types", "extra", "other", "no_json", "failure", "failure_io", "descriptors" } do
    device:drop_compiler()
    device.compiler = assert(wire.start("compiler", { "python3", "tests/judge/hostile/worker.py", marker, core.program, "--compiler",
      device.cache, "0", core.home .. "/core/gpu/compile/headers", require("cawb.base.python").site_packages() }))
    check.write(marker, "compile " .. attack)
    local built, message, name = cawb.compile { source = source, device = device }
    assert(built, ("%s ends the run: %s: %s"):format(attack, tostring(name), tostring(message)))
    assert(not built.ok, attack .. " passes")
    check.matches(built.reason, attack:match "^failure" and "its compiler failed" or "the compiler's answer to 'compile' does not fit")
    built = assert(cawb.compile { source = source, device = device })
    assert(built.ok, built.reason)
  end
end)

-- ---- a task host that answers anything

-- What it says to `mark`, the answer of an honest one being {"ok":true,"mark":"a"}.
local echo = check.write(dir .. "/echo.py", [[
import json, socket, struct
judge = socket.socket(fileno=3)
while True:
    head = judge.recv(4)
    if len(head) < 4:
        break
    body = b""
    while len(body) < struct.unpack("<I", head)[0]:
        body += judge.recv(1 << 16)
    reply = json.dumps({"ok": True, "mark": "a", "call": json.loads(body)["call"]}).encode()
    judge.sendall(struct.pack("<I", len(reply)) + reply)
]])

check.test("whatever a task host answers is held to its protocol", function()
  local function ask(attack)
    local host <close> = assert(wire.start("host", { "python3", "tests/judge/hostile/worker.py", marker, "python3", echo }))
    assert(host:call({ op = "mark" }, { timeout = 20 }).mark == "a")
    check.write(marker, "mark " .. attack)
    return host:call({ op = "mark" }, { timeout = 20 })
  end
  for attack in pairs(misfits) do
    check.fails("protocol", "task host's answer to 'mark' does not fit core/base/protocol/host.json: ", ask(attack))
  end
  check.fails("died", "status 9", ask "die")
  check.fails("protocol", "name must be one of", ask "failure_io")
end)

check.test("a task host that is lost costs the turn; another one does the next one's", function()
  local python = require "cawb.base.python"
  local real = assert(python.path())
  local wrapper = check.write(dir .. "/python", ("#!/bin/sh\nexec python3 '%s/tests/judge/hostile/worker.py' '%s' '%s' \"$@\"\n")
    :format(core.home, marker, real))
  os.execute("chmod +x " .. wrapper)
  local strategy = check.write(dir .. "/lost.lua", ([[
local attacks = { "compare no_json", "", "inputs die", "mark failure_device", "" }
return { measure = { against = {} }, confirm = { enabled = false }, verify = { trials = 1, battery = {} }, turns = 5, step = function(run)
  local attack = attacks[#run.turns + 1]
  if attack ~= "" then
    local f = io.open(%q, "w")
    f:write(attack)
    f:close()
  end
  return run:evaluate(require "cawb".candidate(%q):with { block = 128 })
end }]]):format(marker, core.home .. "/kernels/softmax/v2_block_per_row"))
  local out, status = check.shell(("CAWB_PYTHON='%s' '%s' %s examples/softmax.py --device sim:h100 --json --quiet --set task.rows=16 "
    .. "--set task.cols=64 --out %s/runs 2>&1"):format(wrapper, core.program, strategy, dir))
  check.equal(status, 0, out)
  local r = assert(core.json.decode(out), out)
  check.equal(#r.turns, 5)
  for i, pattern in pairs { "answer to 'compare' does not fit core/base/protocol/host.json", false, "the task host ended with status 9",
                            "CUDA error", false } do
    local turn = r.turns[i]
    check.equal(turn.ok, not pattern, tostring(turn.reason))
    check.equal(turn.stage, pattern and "host" or nil)
    if pattern then check.matches(turn.reason, "the task host was lost while it judged this candidate, and started again: .*" .. pattern) end
  end
end)

device:close()
return check.done()

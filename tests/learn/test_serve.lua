-- What `cawb serve` is made of, without a device: broken requests, and what leaves with an answer. The server as clients see it:
-- tests/learn/test_serve*.py.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local http = require "cawb.learn.serve.http"

check.test("broken requests are answered once each, with a status that is meant", function()
  local out, status = check.shell(("'%s' tests/fuzz/serve.lua -- 3000 7 2>&1"):format(core.program))
  check.equal(status, 0, out)
  check.matches(out, "3000 requests")
end)

check.test("of a path of this machine only the last part is told", function()
  check.equal(http.scrub "cannot open /usr/lib/x/y.so: no", "cannot open .../y.so: no")
  check.equal(http.scrub '{"a":"/etc/hosts","b":"x /tmp/a b"}', '{"a":".../hosts","b":"x .../a b"}')
  check.equal(http.scrub "a / b, 1/2, //usr, /nosuchroot/x, and/or", "a / b, 1/2, //usr, /nosuchroot/x, and/or")
end)

check.test("the text of a task is found by its hash, and no other is taken", function()
  local tasks = assert(require "cawb.learn.serve.tasks".new({ "examples/softmax.py" }, { scratch = "/tmp" }))
  local text = assert(io.open "examples/softmax.py"):read "a"
  check.equal(assert(tasks:find { code = text }).key, "softmax")
  check.equal(assert(tasks:find(tasks.list[1].hash)).key, "softmax")
  local none, why = tasks:find { code = text .. "#" }
  check.equal(none, nil)
  check.matches(why, "accept%-tasks")
end)

check.test("a text that has two names is found by both, and is one task", function()
  local dir = check.folder()
  local row = { code = assert(io.open "examples/softmax.py"):read "a" }
  local f = assert(io.open(dir .. "/two.jsonl", "w"))
  for _, name in ipairs { "one", "other" } do
    row.name = name
    f:write(core.json.encode(row), "\n")
  end
  f:close()
  local tasks = assert(require "cawb.learn.serve.tasks".new({ dir .. "/two.jsonl" }, { scratch = dir }))
  check.equal(#tasks.list, 1)
  check.equal(assert(tasks:find "other"), assert(tasks:find "one"))
end)

-- A pool with one place on which the task of `entry` is loaded, as far as it can tell.
local function pool_of(entry, builders)
  local options = require "cawb.base.options".copy(require "cawb.base.defaults")
  local device = { close = function() end }
  local p = assert(require "cawb.learn.serve.pool".new { devices = { device }, options = options, resident = 1, most = 16, builders = builders })
  p.places[1].loaded[entry.hash] = { entry = entry, task = { host = true, close = function(self) self.host = nil end }, host = p.places[1].spare[1] }
  p.places[1].order[1] = entry.hash
  return p
end

check.test("what waits is made ready by as many builders as there are, and evaluated when it is ready", function()
  local loop = require "cawb.base.loop"
  local entry, made, at_once, most, go, order = { hash = "a task" }, 0, 0, 0, {}, {}
  local p = pool_of(entry, 2)
  local function ahead(i)
    local seen
    return { look = function(held) seen = held.task end, make = function(_, number)
      assert(seen and number <= 2)
      at_once = at_once + 1
      most = math.max(most, at_once)
      loop.wait(function() return go[i] end)
      at_once, made = at_once - 1, made + 1
    end }
  end
  for i = 1, 5 do
    loop.spawn(function()
      p:run("client", entry, function()
        if i == 1 then loop.wait(function() return go[1] end) end
        order[#order + 1] = i
        return true
      end, i > 1 and ahead(i) or nil)
    end)
  end
  loop.wait(function() return at_once == 2 end)
  go[3] = true                               -- the third is ready before the second
  loop.wait(function() return made == 1 end)
  go[1], go[4], go[5] = true, true, true
  loop.wait(function() return #order == 4 end)
  go[2] = true
  loop.wait(function() return #order == 5 end)
  check.equal(table.concat(order, " "), "1 3 4 5 2")
  check.equal(most, 2)
  p:close()
end)

-- Candidates of tasks, in this order, on a pool whose places have one task each loaded; those that come when all wait for a free place.
-- All have waited long. Returns which place judged each, in the order of the verdicts; 0 where its task cannot be loaded.
local function judged(words, loaded)
  local loop = require "cawb.base.loop"
  local options = require "cawb.base.options".copy(require "cawb.base.defaults")
  local devices, entries, order = {}, {}, {}
  for i in ipairs(loaded) do devices[i] = { close = function() end } end
  for name in words:gmatch "%S+" do entries[name] = entries[name] or { hash = name } end
  local p = assert(require "cawb.learn.serve.pool".new { devices = devices, options = options, resident = 2, most = 1000,
                                                         file = function() return nil, "it is gone", "io" end })
  for i, place in ipairs(p.places) do
    place.loaded[loaded[i]] = { entry = entries[loaded[i]], place = place, task = { host = true, close = function(self) self.host = nil end }, host = p.places[1].spare[1] }
    place.order[1] = loaded[i]
  end
  local n, done = 0, 0
  for name in words:gmatch "%S+" do
    n = n + 1
    loop.spawn(function()
      local got = p:run("client", entries[name], function(held) return held.place.number end)
      order[#order + 1], done = name .. (got or 0), done + 1
    end)
  end
  for _, job in ipairs(p.queue) do job.since = -1000 end
  loop.wait(function() return done == n end)
  p:close()
  return order
end

check.test("a place goes on with the task that it has, though others have waited for longer", function()
  for _, word in ipairs(judged("B B A A B A B A A B", { "A", "B" })) do check.equal(word == "A1" or word == "B2", true, word) end
end)

check.test("none is passed over often", function()
  local order = judged("B " .. ("A "):rep(100), { "A" })
  local at
  for i, word in ipairs(order) do if word == "B0" then at = i end end
  check.equal(at < 50, true, at)
end)

check.test("a place on which something breaks says so, and goes on", function()
  local loop = require "cawb.base.loop"
  local entry, p = { hash = "a task" }, nil
  p = pool_of(entry)
  p.places[1].loaded[entry.hash].leave = function() error "the record cannot be written" end
  local found = {}
  for i = 1, 2 do
    loop.spawn(function()
      found[i] = table.pack(p:run("client", entry, function(held)
        held.spoilt = true                   -- so it is unloaded
        return "evaluated"
      end))
    end)
  end
  loop.wait(function() return found[1] and found[2] end, core.clock.now() + 10)
  check.equal(found[1] and found[1][3], "mistake")
  check.matches(found[1][2], "cannot be written")
  check.equal(found[2] and found[2][3], "mistake", "the second, whose task cannot be loaded here, is answered too")
  p:close()
end)

check.test("runs that begin at once share a store, though what they run on is asked for meanwhile", function()
  local ledger, loop, manifest = require "cawb.run.ledger", require "cawb.base.loop", require "cawb.gpu.manifest"
  local own, asked, go, found = manifest.of, 0, false, {}
  manifest.of = function()
    asked = asked + 1
    loop.wait(function() return go end)
    return {}
  end
  local book = assert(ledger.open(check.folder()))
  for i = 1, 2 do
    local task = { path = "t.py", info = { source_sha256 = "h" }, device = { info = { name = "d", modelled = true } }, seed = "1", python = {} }
    loop.spawn(function()
      found[i] = table.pack(pcall(function() return ledger.share(book):begin { id = "r" .. i, started = 1.0, strategy = { path = "s" }, task = task, options = {} } end))
    end)
  end
  loop.wait(function() return asked == 2 or found[2] end)
  go = true
  loop.wait(function() return found[1] and found[2] end, core.clock.now() + 10)
  manifest.of = own
  for i = 1, 2 do check.equal(found[i][1] and found[i][2], true, tostring(found[i][2])) end
  check.equal(#book.store:query "select id from runs", 2)
end)

check.test("where places share a GPU, a task is compiled by PyTorch ahead of its loading, and nobody waits for that", function()
  local loop, lane, task = require "cawb.base.loop", require "cawb.base.lane", require "cawb.judge.task.task"
  local own, seen, go = { prepare = task.prepare, compile_ahead = task.compile_ahead, open = task.open }, {}, false
  local options = require "cawb.base.options".copy(require "cawb.base.defaults")
  local device = { close = function() end, lane = lane.new() }
  local p = assert(require "cawb.learn.serve.pool".new { devices = { device }, options = options, resident = 1, most = 16, file = function(e) return e.hash end })
  local host = { alive = function() return true end, close = function() end }
  p.places[1].spare[1][1]:close()
  p.places[1].spare[1] = { host, {} }
  function task.prepare(_, _, _, threads)
    seen[#seen + 1] = threads >= 1 and "prepare"
    return true
  end
  function task.compile_ahead(_, path, _, all)
    seen[#seen + 1] = ("%s compiled, %d of the matrix"):format(path, #all.measure.matrix)
    loop.wait(function() return go end)
  end
  function task.open(path) return { host = true, close = function() seen[#seen + 1] = path .. " closed" end } end
  local done = {}
  for _, name in ipairs { "a", "b" } do
    done[#done + 1] = loop.spawn(function() return p:run("client", { hash = name, overrides = {} }, function() return name .. " judged" end) end)
  end
  loop.wait(function() return #seen == 2 end)
  check.equal(device.lane:hold(true, function() return "timed" end), "timed", "while PyTorch compiles")
  go = true
  for i, name in ipairs { "a judged", "b judged" } do check.equal(loop.join(done[i]), name) end
  check.equal(table.concat(seen, ", "), "prepare, a compiled, 0 of the matrix, a closed, b compiled, 0 of the matrix")
  for name, f in pairs(own) do task[name] = f end
end)

check.test("who wants a lane alone waits for those on it, and comes before those who do not", function()
  local loop = require "cawb.base.loop"
  local lane, go, seen = require "cawb.base.lane".new(), {}, {}
  local function visit(name, alone)
    return loop.spawn(function()
      return lane:hold(alone, function()
        seen[#seen + 1] = name
        loop.wait(function() return go[name] end)
        return name
      end)
    end)
  end
  local tasks = { visit("a", false), visit("b", false), visit("alone", true), visit("c", false) }
  loop.wait(function() return #seen == 2 end)
  check.equal(table.concat(seen, " "), "a b")
  go.a, go.b = true, true
  loop.wait(function() return #seen > 2 end)
  check.equal(seen[3], "alone")
  check.equal(#seen, 3)
  go.alone, go.c = true, true
  for i, name in ipairs { "a", "b", "alone", "c" } do check.equal(loop.join(tasks[i]), name) end
  check.equal(seen[4], "c")
  local inside = loop.spawn(function()
    return lane:hold(true, function()
      table.sort({ 1, 2 }, function(a, b)          -- from where nobody can yield
        assert(lane:hold(false, function() return "at once" end) == "at once")
        return a < b
      end)
      return "both"
    end)
  end)
  check.equal(loop.join(inside), "both")
  local failed = pcall(lane.hold, lane, true, error, "broken")
  check.equal(failed, false)
  check.equal(lane:hold(true, function() return "free again" end), "free again")
end)

return check.done()

-- What a terminal and `cawb watch` are told while nothing has ended yet, and that it fits.

local check = dofile "tests/support/check.lua"
local activity = require "cawb.base.activity"
local core = require "cawb.core"
local display = require "cawb.base.display"
local live = require "cawb.door.live"
local loop = require "cawb.base.loop"

local dir = check.folder()

check.test("while something is waited for, the pulse goes on; afterwards it does not", function()
  local beats, looks = 0, 0
  loop.pulse(function() beats = beats + 1 end, 1e-9)
  assert(loop.wait(function()
    looks = looks + 1
    return beats >= 3
  end, core.clock.now() + 60))
  assert(looks >= 3)
  loop.beat()                                    -- who computes says so himself
  check.equal(beats, 4)
  loop.pulse(nil)
  loop.beat()
  check.equal(beats, 4)
end)

check.test("what is begun last is told, and what was begun around it once that has ended", function()
  check.equal(live.now().doing, nil)
  local outer <close> = activity.begin { what = "waiting for a model" }
  do
    local inner <close> = activity.begin { process = "worker", op = "run", request = {} }
    check.equal(live.now(false).doing, "running")
    check.equal(live.now(true).doing, "simulating")
  end
  check.equal(live.now().doing, "waiting for a model")
  local order <close> = activity.begin { process = "task host", op = "baselines", request = { order = { "compile" } } }
  check.equal(live.now().doing, "compiling a baseline with torch.compile")
end)

check.test("what a call asks for has words, whichever process does it", function()
  local wire = require "cawb.base.wire"
  local left = { worker = { unload = true, ["end"] = true, peek = true } , ["jail_host"] = { hello = true, ["end"] = true },
                 host = { peek = true, unload = true, python_work = true, python_close = true } }
  for _, name in ipairs { "host", "worker", "compiler", "jail_host" } do
    local p = wire.protocol(name)
    for op in pairs(p.ops) do
      local a <close> = activity.begin { process = p.process, op = op, request = {} }
      if not (left[name] or {})[op] and not op:find "^synth" then assert(live.now().doing, name .. " " .. op) end
    end
  end
end)

-- With a clock that goes when it is told to.
local function at_times(body)
  local real, now = core.clock.now, 1000.0
  core.clock.now = function() return now end
  local ok, message = pcall(body, function(s) now = now + s end)
  core.clock.now = real
  assert(ok, message)
end

check.test("the time left follows from the parts that are done, and from nothing before the first", function()
  at_times(function(pass)
    local a <close> = activity.begin {}
    a:step(0, 5)
    check.equal(a:left(), nil)
    check.equal(live.now().part, "1 of 5")
    pass(20)
    a:step(2, 5)
    check.equal(a:left(), 30.0)                  -- ten seconds each
    pass(4)
    check.equal(a:left(), 26.0)
    check.equal(live.now().part, "3 of 5")
    local b <close> = activity.begin { told = true }
    pass(1)
    b:step(1, 2)
    check.equal(live.now().left, 25.0)           -- of the whole, not of its part
    check.equal(live.now().part, "3 of 5")
    pass(1000)
    check.equal(a:left(), 0)
  end)
end)

check.test("a narrow terminal is told the most important part", function()
  local list = { { "turn 12", 0 }, { "a/very_long_name_of_a_candidate", 6 }, { "verify", 1 }, { "3 of 16", 5 }, { "simulating", 2 },
                 { "12 s", 3 }, { "about 4 min left", 4 }, { "(8 turns, 412 s left)", 7 } }
  check.equal(live.fit(list, 200), "turn 12  a/very_long_name_of_a_candidate  verify  3 of 16  simulating  12 s  about 4 min left  (8 turns, 412 s left)")
  check.equal(live.fit(list, 79), "turn 12  verify  3 of 16  simulating  12 s  about 4 min left")
  check.equal(live.fit(list, 39), "turn 12  verify  simulating  12 s")
  check.equal(live.fit({ { "turn 12", 0 }, { "compiling a baseline with torch.compile", 2 } }, 39), "turn 12  compiling a baseline with t...")
  for width = 4, 200 do assert(#live.fit(list, width) <= width, width) end
end)

check.test("lines break between words, and nothing of them is lost", function()
  local text = "best: turn 4, scan/v4_vector PACKS=4 THREADS=256, 12.8 us modelled, and_a_word_that_is_wider_than_the_terminal_itself at last"
  for width = 10, 130 do
    local lines = display.wrap(text, width, "  ")
    for _, line in ipairs(lines) do assert(#line <= width, line) end
    check.equal(table.concat(lines):gsub("%s", ""), (text:gsub("%s", "")))
  end
  check.equal(#display.wrap(text, 200, "  "), 1)
  check.equal(display.wrap("", 10, "  ")[1], "")
end)

check.test("a table that is too wide becomes a few lines for each row", function()
  local headings = { "turn", "candidate", "verdict", "error" }
  local rows = { { "1", "scan/v1_thread_per_row", "pass", "-" }, { "2", "scan/v2_block_per_row BLOCK=256", "rejected at verify", "1e-5" } }
  check.equal(#display.records(headings, rows, nil, 2), 3)
  check.equal(#display.records(headings, rows, 100, 2), 3)
  local some = display.records(headings, rows, 60, 2)
  check.equal(#some, 3)
  check.matches(some[3], "^2     scan/v2_block.*%.%.%.  rejected at verify  1e%-5$")
  check.equal(table.concat(display.records(headings, rows, 40, 2), "\n"), table.concat({ "turn 1", "  candidate  scan/v1_thread_per_row", "  verdict  pass",
    "turn 2", "  candidate  scan/v2_block_per_row", "    BLOCK=256", "  verdict  rejected at verify", "  error  1e-5" }, "\n"))
end)

check.test("without a terminal a line says what goes on, once so long nothing was printed, if it is asked for", function()
  at_times(function(pass)
    local said = {}
    local out = { write = function(_, ...) said[#said + 1] = table.concat { ... } end, flush = function() end }
    local line = live.of(out, 77, false)             -- no descriptor of a terminal
    local a <close> = activity.begin { what = "waiting for a model" }
    line:say { { "turn 3", 0 } }
    pass(100)
    line:draw()
    check.equal(#said, 0)                            -- it was not asked for
    line.lines = 10
    line:clear()                                     -- something was printed
    pass(9)
    line:draw()
    check.equal(#said, 0)
    pass(1)
    line:draw()
    line:draw()
    check.equal(#said, 1)
    check.matches(said[1], "^  turn 3  waiting for a model")
  end)
end)

check.test("another process reads what this one does, until it is done", function()
  local path = dir .. "/now"
  do
    local line <close> = live.of(io.stdout, 1, true):begin(1e-9)
    line:tell(path)
    line:say { { "turn 3", 0 }, { "verify", 1 } }
    local a <close> = activity.begin { what = "waiting for a model" }
    a.wall = a.wall - 100
    loop.beat()
    local words = {}
    for i, part in ipairs(live.told(path)) do words[i] = part[1] end
    check.equal(table.concat(words, "; "), "turn 3  verify; waiting for a model; 2 min")
  end
  check.equal(core.fs.kind(path), nil)
  check.equal(#live.told(path), 0)
end)

return check.done()

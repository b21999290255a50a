-- cawb watch STORE: what runs and suites are doing, from the store that another process writes.

local command = require "cawb.door.command"
local core = require "cawb.core"
local display = require "cawb.base.display"
local live = require "cawb.door.live"
local ledger = require "cawb.run.ledger"
local rows = require "cawb.suite.rows"

local M = { summary = "runs and suites in progress: cawb watch STORE" }

M.usage = [[
usage: cawb watch STORE [--once] [--every SECONDS]

Shows the runs that have not ended, what each is doing now and about how long that will take,
and suites, again every second until Ctrl-C or until nobody reads it; --once: once. A run whose
process is gone is no longer shown.
]]

local own = { ["--once"] = "flag", ["--every"] = "value" }

local function base(path) return tostring(path):match "([^/]+)$" end

-- Runs without an end, the last begun first.
local function running(store)
  local list = store:query [[SELECT r.id, r.started, r.strategy, r.task, r.device, r.options,
      count(t.number) AS turns FROM runs r LEFT JOIN run_ends e ON e.run = r.id
      LEFT JOIN turns t ON t.run = r.id WHERE e.run IS NULL GROUP BY r.id ORDER BY r.started DESC LIMIT 50]]
  local kept = {}
  for _, r in ipairs(list) do
    if ledger.under_way(store:path(), r.id) then kept[#kept + 1] = r end
  end
  return kept
end

-- What its process said last that it is doing: "verify  3 of 21  simulating  12 s  about 60 s left".
local function doing(store, r)
  local words = {}
  for i, part in ipairs(live.told(ledger.now_path(store:path(), r.id))) do words[i] = part[1] end
  return #words > 0 and table.concat(words, "  ") or "-"
end

local function describe(store, r, now)
  local best = store:query([[SELECT number, reward, result FROM turns WHERE run = ? AND ok = 1
    ORDER BY reward DESC, json_extract(result, '$.time_s.median') LIMIT 1]], r.id)[1]
  local last = store:query("SELECT number, ok, stage FROM turns WHERE run = ? ORDER BY number DESC LIMIT 1",
    r.id)[1]
  local options, shown = core.json.decode(r.options or "{}") or {}, "-"
  if best then
    local b = core.json.decode(best.result)
    shown = ("turn %d, %s, reward %.3g"):format(best.number, display.interval(b.time_s), best.reward)
  end
  return { base(r.task), base(r.strategy), r.device or "-", ("%d of %s"):format(r.turns,
    tostring(options.turns or "?")), live.glance(now - r.started), doing(store, r), shown,
    last and (last.ok == 1 and "pass" or "rejected at " .. tostring(last.stage)) or "-" }
end

-- All tasks that any session of a suite set out to do, and how many have a row.
local function suite_line(store, s)
  local wanted, total = {}, 0
  for _, session in ipairs(store:query("SELECT json FROM suite_sessions WHERE suite = ?", s.id)) do
    for _, key in ipairs(core.json.decode(session.json).tasks or {}) do
      if not wanted[key] then
        wanted[key] = true
        total = total + 1
      end
    end
  end
  local done, passed = rows.read(store, s.id), 0
  for _, row in ipairs(done) do if row.status == "pass" then passed = passed + 1 end end
  return ("suite %s, %s: %d of %d tasks, %d pass"):format(s.id, base(s.about.strategy), #done,
    math.max(total, #done), passed)
end

local headings = { "task", "strategy", "device", "turns", "since", "now", "best", "last turn" }
local long = 6                  -- what is shortened first

local function lines_of(store, width)
  local now, lines = core.clock.wall(), {}
  local function add(text) table.move(width and display.wrap(text, width, "  ") or { text }, 1, width or 1, #lines + 1, lines) end
  for _, s in ipairs(rows.suites(store)) do add(suite_line(store, s)) end
  local cells = {}
  for i, r in ipairs(running(store)) do cells[i] = describe(store, r, now) end
  if #cells == 0 then add "no run is in progress"
  else
    local list = display.records(headings, cells, width, long)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  local ended = store:query "SELECT count(*) AS n FROM run_ends"[1].n
  add(("%d run%s ended"):format(ended, ended == 1 and " has" or "s have"))
  return lines
end

-- False where nobody reads it any more.
local function show(lines, again)
  if again then io.write "\27[H\27[J" end
  for _, text in ipairs(lines) do io.write(text, "\n") end
  return io.flush() ~= nil
end

function M.main(argv)
  local given, words = command.take(argv, own)
  local every = tonumber(given.every or 1)
  if not every or every <= 0 then command.wrong(("--every '%s': seconds are expected"):format(given.every)) end
  local store <close> = command.store(command.only(words, "one store is needed: cawb watch STORE"))
  repeat
    local width = core.fs.columns(1)
    local read = show(lines_of(store, width), not given.once and width)
    if given.once or not read then return 0 end
    core.clock.sleep(every)
  until core.clock.interrupted()
  return 0
end

return M

-- report_turns: the turns of a run as a report has them: what each one says for itself, which were the best when they
-- came, and their texts, as far as a page has room for them.

local core = require "cawb.core"
local roofline = require "cawb.judge.profile.roofline"

local M = {}

local decode, array = core.json.decode, core.json.array

M.most_sources = 60             -- texts of one run that a page carries: first those that were best for a while
M.most_source_bytes = 6 << 20   -- and of all runs
M.most_words = 6000             -- bytes of a reason or a note: a compiler's log can have megabytes

--- At most `most` bytes of a text, and no half letter; `tail` where some are missing.
function M.cut(text, most, tail)
  if #text <= most then return text end
  while most > 0 and text:byte(most + 1) >= 0x80 and text:byte(most + 1) < 0xC0 do most = most - 1 end
  return text:sub(1, most) .. tail
end

--- The first line of a text, at most `most` bytes of it.
function M.first_line(text, most)
  local line = tostring(text or ""):match "[^\n]*":gsub(":$", "")   -- what it announced is further down
  return most and M.cut(line, most, "...") or line
end

-- The lines after the first, where there are any.
local function rest(text)
  local more = text and text:match "\n(.*)$"
  if not more or not more:find "%S" then return nil end
  return M.cut(more, M.most_words, "\n...")
end

--- A median and the ends of its interval; the median alone where rounds were too few for one.
function M.interval(t)
  if t and t.lo == 0 and not t.hi then return { t.median } end
  return t and { t.median, t.lo or t.median, t.hi or t.median }
end

-- What is told of a candidate and rejects nobody.
local function told(r)
  local words = {}
  if r.denormals == "flushed" then words[1] = "flushes denormal numbers to zero" end
  if r.repeatable == false then words[#words + 1] = "its bits differ from run to run" end
  local sizes = r.sizes or {}
  if (sizes.wrong or 0) > 0 then
    words[#words + 1] = ("%s: wrong on %d other sizes, right on %d"):format(sizes.fitted and "fitted to the size" or "not right on every size",
      sizes.wrong, sizes.right)
  end
  return #words > 0 and table.concat(words, "; ") or nil
end

-- The parts of its time in words, the longest first: as modelled; on a device that measures, the least that the
-- device's ceilings allow for the bytes and the arithmetic of the task.
local function bound_of(r)
  local list = array {}
  for part, words in pairs(roofline.parts) do
    local s = r.bound and r.bound[part]
    if s and s > 0 then list[#list + 1] = { words, s } end
  end
  local floor = not r.bound and r.floor or {}
  if (floor.memory or 0) > 0 then list[#list + 1] = { "the bytes, at least", floor.memory } end
  if (floor.compute or 0) > 0 then list[#list + 1] = { "the arithmetic, at least", floor.compute } end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  return #list > 0 and list or nil
end

-- What its baseline at equal error was, and how sure the speed-up is.
local function equal_of(t, r)
  local e = r.equal_error
  if not e then return end
  local s = r.speedup and r.speedup[e.against]
  t.equal, t.against, t.verdict, t.rounds = M.interval(e), e.against, e.verdict, s and s.rounds
end

-- What the run had spent on models when it ended.
local function spent_of(t, r)
  local s = r.spent or {}
  if (s.tokens or 0) > 0 then t.tokens = s.tokens end
  if (s.dollars or 0) > 0 then t.dollars = s.dollars end
end

-- One turn, from its own row alone.
local function turn_of(row)
  local r = decode(row.result)
  local s, took = r.speedup or {}, 0.0
  for _, seconds in pairs(r.seconds or {}) do took = took + seconds end
  local t = { n = row.number, at = row.started, name = r.name, label = r.label ~= "" and r.label or nil, hash = row.candidate,
    ok = row.ok == 1, stage = row.stage, reason = row.reason and M.first_line(row.reason, M.most_words), more = rest(row.reason),
    reward = row.reward, note = r.note and M.cut(r.note, M.most_words, "..."), time = M.interval(r.time_s),
    eager = M.interval(s.eager), compile = M.interval(s.compile), first = r.first and M.interval(r.first.time_s),
    nrms = r.error and r.error.nrms, worst = r.error and r.error.worst,
    eager_nrms = r.error and r.error.eager and r.error.eager.nrms,
    spent = took, limiter = r.profile and r.profile.limiter, bound = row.ok == 1 and bound_of(r) or nil,
    told = told(r), jail = r.jail, lacks = r.jail_lacks }
  equal_of(t, r)
  spent_of(t, r)
  return t
end

--- All turns of a run, in order.
function M.read(store, run)
  local turns = array {}
  for i, row in ipairs(store:query("SELECT number, started, candidate, ok, stage, reason, reward, result FROM turns "
      .. "WHERE run = ? ORDER BY number", run)) do turns[i] = turn_of(row) end
  return turns
end

--- What confined the candidates of a run, and what that does not hold on its machine: each said once.
function M.confinement(turns)
  local lacks, seen, jail = array {}, {}, nil
  for _, t in ipairs(turns) do
    jail = jail or t.jail
    for _, lack in ipairs(t.lacks or {}) do
      if not seen[lack] then lacks[#lacks + 1] = lack end
      seen[lack] = true
    end
    t.jail, t.lacks = nil, nil
  end
  return jail and { jail = jail, lacks = lacks }
end

local function is_better(a, b)
  if not a.ok then return false end
  if not b or a.reward ~= b.reward then return not b or (a.reward or 0) > (b.reward or 0) end
  return a.time and b.time and a.time[1] < b.time[1] or false
end

--- The turns that were the best when they came, the last of them the best; each is marked `best`.
function M.lineage(turns)
  local list = {}
  for _, t in ipairs(turns) do
    if is_better(t, list[#list]) then
      t.best = true
      list[#list + 1] = t
    end
  end
  return list
end

local function source_of(store, hash)
  local c = store:query("SELECT files FROM candidates WHERE hash = ?", hash)[1]
  if not c then return nil end
  for name, file in pairs(decode(c.files)) do
    if name == "kernel.cu" or name:match "%.py$" then return store:read(file) end
  end
end

--- The texts of candidates by their hashes, each once: of those that were the best, the last ones first; then of all
--- others, those that failed too. `room.bytes` is what all runs have left.
function M.texts(store, turns, lineage, room)
  local texts, n = {}, 0
  local function take(t)
    if n == M.most_sources or room.bytes <= 0 or not t.hash or texts[t.hash] then return end
    local text = source_of(store, t.hash)
    if not text then return end
    texts[t.hash], n, room.bytes = text, n + 1, room.bytes - #text
  end
  for i = #lineage, 1, -1 do take(lineage[i]) end
  for _, t in ipairs(turns) do
    if n == M.most_sources then break end
    take(t)
  end
  return texts
end

return M

-- score: POST /score. A list of candidates in, for each what was measured and its reward out. What was measured
-- once is not measured again: not for the same candidate, nor for a request that comes twice.

local candidate = require "cawb.learn.serve.candidate"
local core = require "cawb.core"
local execute = require "cawb.judge.worker.execute"
local http = require "cawb.learn.serve.http"
local judge = require "cawb.judge.judge"
local kinds = require "cawb.gpu.kinds"
local loop = require "cawb.base.loop"
local rewards = require "cawb.run.rewards"

local M = {}

local Score = {}
Score.__index = Score

local most_items = 1024                      -- of one request
local most_remembered = 1 << 15              -- items of requests whose answers are kept

-- ---- one candidate

-- What of a turn is its place in a run, and says nothing of the candidate.
local passing = { number = true, spent = true, note = true, seconds = true }

local function shown(turn, how)
  local item = { run = turn.run, turn = turn.turn, memo = how }
  for key, value in pairs(turn) do
    if not passing[key] then item[key] = value end
  end
  item.seconds = turn.seconds
  return item
end

-- A candidate that is none: nothing was measured, and nothing is recorded.
function Score:unread(facts)
  facts.seconds, facts.modelled, facts.variants = { compile = 0.0, verify = 0.0, measure = 0.0 }, self.modelled, {}
  local value, message = rewards.value(self.reward, facts, self.options.deadlines.rule)
  if not value then return nil, message, "strategy" end
  return { ok = false, stage = facts.stage, reason = facts.reason, name = facts.name, reward = value, modelled = self.modelled }
end

-- On a place: evaluate, record, remember.
local function evaluate(self, held, c, key, confirm)
  local r, message, name = self.runs:of(held)
  if not r then return nil, message, name end
  local turn
  turn, message, name = r:evaluate(c, { confirm = confirm })
  if not turn then
    held.spoilt = true
    return nil, message, name
  end
  local result = core.json.decode(core.json.encode(self.result.turn(turn)))
  result.run, result.turn, result.log = r.id, turn.number, turn.facts.log
  r.turns[turn.number] = { number = turn.number, ok = false }       -- the record has it
  if not judge.ended_from_outside(c, turn.facts) then self.runs:remember(key, r.id, turn.number) end
  self.metrics:evaluated(turn)
  return result
end

-- The same candidate that is on its way already is waited for.
local function once(self, key, f)
  local under_way = self.under_way[key]
  if under_way then
    loop.wait(function() return under_way.done end)
    if under_way.results[1] then return table.unpack(under_way.results, 1, 3) end
  end
  local mine = {}
  self.under_way[key] = mine
  mine.results = table.pack(f())
  mine.done = true
  if self.under_way[key] == mine then self.under_way[key] = nil end
  return table.unpack(mine.results, 1, mine.results.n)
end

-- What can be done of a candidate before its turn: its plan says on a place with which tunables it is built, a compiler builds it.
local function build_of(c)
  if not c.source then return nil end
  local tunables
  return { look = function(held) tunables = execute.first_tunables(held.task, c, held.options) end,
           make = function(device, number) execute.build_ahead(device, c, number, tunables) end }
end

local function measured(self, entry, c, how)
  local memo = how.memo
  if c.tunables or how.confirm then c.note = c.tunables and self.runs.chosen or self.runs.confirmed end
  local key = self.runs:key(entry, c, how.confirm)
  local known = memo and self.runs:recall(key)
  if known then
    self.metrics:add "memo_hits"
    return shown(known, true)
  end
  local function work() return self.pool:run(how.client, entry, function(held) return evaluate(self, held, c, key, how.confirm) end, build_of(c)) end
  local turn, message, name
  if memo then turn, message, name = once(self, key, work) else turn, message, name = work() end
  if not turn then return nil, message, name end
  return shown(turn, false)
end

-- A schedule, or a message in the short form, becomes a candidate where its task is loaded.
local function lowered(self, client, entry, spec)
  return self.pool:run(client, entry, function(held)
    local c, facts, decisions = candidate.new(spec, held)
    return { candidate = c, facts = facts, decisions = decisions }
  end)
end

--- What one candidate is worth on a task, as POST /score answers it; or nil, message, name where the machine or the task failed.
--- `how` = { client = an address, memo = use what was measured, confirm = evaluate again what passes }.
function Score:one(entry, spec, how)
  local c, facts, decisions
  if candidate.needs_task(spec) then
    local made, message, name = lowered(self, how.client, entry, spec)
    if not made then return nil, message, name end
    c, facts, decisions = made.candidate, made.facts, made.decisions
  else
    c, facts = candidate.new(spec)
  end
  facts = c and candidate.elsewhere(self.device, c) or facts
  if not c or facts then return self:unread(facts) end
  local item, message, name = measured(self, entry, c, how)
  if item and spec.schedule then item.source, item.plan, item.decisions = c.source, c.plan, decisions end
  return item, message, name
end

-- ---- a request

local function read_item(self, item, i)
  if type(item) ~= "table" then return { wrong = ("items[%d] must be an object {task, candidate}"):format(i - 1) } end
  local entry, why = self.tasks:find(item.task)
  if entry then why = candidate.misfit(item.candidate) end
  if not why and item.candidate.python then why = kinds.refusal(self.device, "python") end
  return { entry = entry, spec = item.candidate, wrong = why and ("items[%d]: %s"):format(i - 1, why) }
end

-- Its items as { entry, spec }, or { wrong = why } where others are sound; or nil and what is wrong.
local function read_items(self, body)
  local items = body.items or { { task = body.task, candidate = body.candidate } }
  if type(items) ~= "table" or #items == 0 then return nil, "'items' must be a list of {task, candidate}" end
  if body.confirm ~= nil and type(body.confirm) ~= "boolean" then return nil, "'confirm' must be true or false" end
  if #items > most_items then return nil, ("%d items; at most %d in one request"):format(#items, most_items) end
  local list, sound = {}, false
  for i, item in ipairs(items) do
    list[i] = read_item(self, item, i)
    sound = sound or not list[i].wrong
  end
  return sound and list or nil, list[1].wrong
end

-- Those that are done make room, the oldest first.
local function forget_old(self)
  local i = 1
  while self.remembered > most_remembered and i <= #self.order do
    local one = self.requests[self.order[i]]
    if one.done then self:forget(self.order[i]) else i = i + 1 end
  end
end

--- A request is not remembered any more.
function Score:forget(id)
  local one = self.requests[id]
  self.requests[id], self.remembered = nil, self.remembered - one.of
  for i, other in ipairs(self.order) do
    if other == id then table.remove(self.order, i) break end
  end
end

local function begin(self, id, digest, list, how)
  local one = { digest = digest, items = core.json.array {}, count = 0, of = #list }
  self.requests[id], self.order[#self.order + 1], self.remembered = one, id, self.remembered + #list
  forget_old(self)
  for i, item in ipairs(list) do
    loop.spawn(function()
      local ok, value, message, name = true, nil, item.wrong, "usage"
      if not item.wrong then ok, value, message, name = xpcall(self.one, debug.traceback, self, item.entry, item.spec, how) end
      if not ok then value, message, name = nil, value, "mistake" end
      if name == "mistake" then
        self.log(message)
        message = "this server made a mistake, and said more on its standard error"
      end
      one.items[i] = value or { error = message, name = name }
      if not value then one.failed = (one.failed or 0) + 1 end
      one.count, one.done = one.count + 1, one.count + 1 == one.of
    end)
  end
  return one
end

-- What is there of a request by now.
local function answer_of(self, id, one)
  if not one.done then
    return 202, { status = "queued", request_id = id, done = one.count, of = one.of }, { headers = { "Retry-After: 1" } }
  end
  if one.failed == one.of and one.of > 0 then    -- nothing of it is a verdict: it may be asked again
    self:forget(id)
    return 503, { status = "failed", request_id = id, items = one.items, error = one.items[1].error }, { headers = { "Retry-After: 5" } }
  end
  return 200, { status = "done", request_id = id, items = one.items }
end

local function fresh_id() return (core.clock.random(8):gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end

local function id_of(body)
  local id = body.request_id
  if id == nil then return fresh_id() end
  if type(id) ~= "string" or not id:match "^[%w_.:-]+$" or #id > 128 then
    return nil, "'request_id' must be a text of at most 128 letters, digits and _ . : -"
  end
  return id
end

--- POST /score
function Score:post(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local id
  id, why = id_of(body)
  if not id then return http.no(422, why) end
  local digest = core.hash.sha256(core.json.encode { items = body.items, task = body.task, candidate = body.candidate,
    confirm = body.confirm or nil })
  local one = self.requests[id]
  if one and one.digest ~= digest then return http.no(409, ("the request '%s' was another one"):format(id)) end
  if not one then
    local list
    list, why = read_items(self, body)
    if not list then return http.no(422, why) end
    one = begin(self, id, digest, list, { client = request.remote, memo = self.memo and body.memo ~= false, confirm = body.confirm == true })
  end
  local seconds = type(body.wait_s) == "number" and math.max(0, math.min(body.wait_s, self.wait)) or self.wait
  loop.wait(function() return one.done end, core.clock.now() + seconds)
  return answer_of(self, id, one)
end

--- GET /score/ID
function Score:get(_, id)
  local one = self.requests[id]
  if not one then return http.no(404, ("no request '%s' is known"):format(id)) end
  return answer_of(self, id, one)
end

--- `spec` = { tasks, pool, runs, options, reward = a function, result = cawb.run.result, metrics, device = one of the places', modelled, memo = use
--- what was measured, wait = seconds until a request is answered as queued, log }.
function M.new(spec)
  local self = setmetatable({ requests = {}, order = {}, remembered = 0, under_way = {} }, Score)
  for key, value in pairs(spec) do self[key] = value end
  return self
end

return M

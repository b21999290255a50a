-- ledger: what a run leaves behind. Rows in the store, one transaction a turn, and
-- the best candidate as plain files.

local core = require "cawb.core"
local display = require "cawb.base.display"
local file = require "cawb.base.file"
local manifest = require "cawb.gpu.manifest"
local result = require "cawb.run.result"
local seeds = require "cawb.base.seeds"

local M = {}

local Ledger = {}
Ledger.__index = Ledger

local encode = core.json.encode

local function doubles(list) return string.pack("<" .. ("d"):rep(#list), table.unpack(list)) end

local function environment(task)
  local json = encode { device = task.device.info, python = task.python, cawb = core.version,
                        seeds = seeds.are_given() and "CAWB_SEED" or nil, manifest = manifest.of(task.device, task.python) }
  return core.hash.sha256(json), json
end

-- A value as JSON can hold it: for a record, better a word than an error.
local function plain(value)
  local kind = type(value)
  if kind == "table" then
    local t = {}
    for k, v in pairs(value) do t[#value > 0 and k or tostring(k)] = plain(v) end
    return #value > 0 and core.json.array(t) or t
  elseif kind == "function" or kind == "userdata" or kind == "thread" then
    return "(" .. kind .. ")"
  elseif kind == "number" and (value ~= value or value == math.huge or value == -math.huge) then
    return tostring(value)
  end
  return value
end

-- A row whose texts are UTF-8, whatever a candidate said; samples are bytes.
local function readable(row)
  local t = {}
  for name, value in pairs(row) do
    t[name] = type(value) == "string" and name ~= "data" and display.utf8(value) or value
  end
  return t
end

-- Run the inserts in `body` as one transaction; what fails rolls all of it back. It waits for nothing: runs share a store.
local function transaction(self, body)
  local store = self.store
  local ok, message, name = store:begin()
  if not ok then return nil, message, name end
  local function insert(into, row)
    local done, why, kind = store:insert(into, readable(row))
    if not done then error({ why, kind }, 0) end
  end
  local good, failure = pcall(body, insert, store)
  if good then return store:commit() end
  store:rollback()
  if type(failure) == "table" then return nil, failure[1], failure[2] end
  error(failure, 0)
end

--- Where the lock of a run lies that its process holds while it lives.
function M.lock_path(dir, id) return ("%s/locks/run-%s"):format(dir, id) end

--- Where that process says what it is doing, for who watches.
function M.now_path(dir, id) return ("%s/locks/now-%s"):format(dir, id) end

--- Whether a run's process lives, on this machine or on another that shares the folder.
function M.under_way(dir, id)
  local path = M.lock_path(dir, id)
  if not core.fs.kind(path) then return false end
  local lock, _, name = core.fs.lock(path, false)
  if lock then lock:close() end
  return not lock and name == "busy"
end

--- Take that lock: true, or nil, message, name ("busy": the run is under way).
function Ledger:hold(id)
  local ok, message, name = core.fs.mkdir(self.dir .. "/locks")
  if ok then self.held, message, name = core.fs.lock(M.lock_path(self.dir, id), false) end
  if self.held then return true end
  return nil, name == "busy" and ("run %s is under way: another process has it"):format(id) or message, name
end

--- The process of a run is done with it.
function Ledger:release(id)
  os.remove(M.lock_path(self.dir, id))
  if self.held then self.held:close() end
end

-- The options as they were asked for where a task is opened at two sizes: with the smaller ones alone its own would be forgotten.
local function options_of(run)
  if not run.task.own then return run.options end
  local all = {}
  for key, value in pairs(run.options) do all[key] = value end
  all.task = run.task.given
  return all
end

--- The run begins: its row, and its environment's.
function Ledger:begin(run)
  self.folder = ("%s/%s"):format(self.dir, run.id)
  local held, message, name = self:hold(run.id)
  if not held then return nil, message, name end
  local task = run.task
  local hash, json = environment(task)             -- it may ask a compiler, and others go on meanwhile
  return transaction(self, function(insert)
    insert("environments", { hash = hash, json = json })
    insert("runs", { id = run.id, started = run.started, strategy = run.strategy.path,
      task = task.path, task_hash = task.info.source_sha256, device = task.device.info.name,
      modelled = task.device.info.modelled, seed = task.seed, environment = hash,
      options = encode(plain(options_of(run))) })
  end)
end

-- What cannot be read off kernel.cu and plan.lua; cawb.candidate(folder) reads it.
local function definition(candidate, tunables)
  local d = { defines = candidate.defines, tunables = tunables, options = core.json.array { table.unpack(candidate.options) } }
  local own = candidate.own
  if own then d.own = { defines = own.defines, options = core.json.array { table.unpack(own.options) } } end
  return encode(d) .. "\n"
end

local function texts_of(candidate, tunables)
  if candidate.python then
    local texts = { ["model_new.py"] = candidate.python }
    for name, text in pairs(candidate.files or {}) do texts[name] = text end
    return texts
  end
  local own = candidate.own or {}
  return { ["kernel.cu"] = candidate.source, ["plan.lua"] = candidate.plan, ["own/kernel.cu"] = own.source, ["own/plan.lua"] = own.plan,
           ["candidate.json"] = definition(candidate, tunables) }
end

local function put_candidate(insert, store, candidate)
  local files = {}
  for name, text in pairs(texts_of(candidate)) do
    local hash, message, kind = store:artifact(text)
    if not hash then error({ message, kind }, 0) end
    files[name] = hash
  end
  insert("candidates", { hash = candidate.hash, kind = candidate.python and "tier2" or "tier1", files = encode(files) })
end

local function put_samples(insert, run, turn, evaluation, facts)
  local subjects = { candidate = facts.samples }
  for kind, samples in pairs(facts.baseline_samples or {}) do subjects[kind] = samples end
  for subject, samples in pairs(subjects) do
    insert("samples", { run = run.id, turn = turn.number, evaluation = evaluation,
      subject = subject, unit = "s", data = doubles(samples) })
  end
end

-- The raw facts of one evaluated member, without what has rows of its own.
local function facts_json(facts)
  local kept = {}
  for _, key in ipairs { "tunables", "ratios", "seconds", "time_s", "error", "trials", "report",
                         "kernels", "steps", "log", "modelled", "first", "launch_bound_s", "clock_hz",
                         "throttled", "equal_error", "profile", "battery", "repeatable", "denormals", "sizes", "products", "precision", "rules", "floor",
                         "tier", "jail", "jail_lacks", "python" } do
    kept[key] = facts[key]
  end
  return encode(kept)
end

local function put_evaluation(insert, run, turn, number, facts)
  insert("evaluations", { run = run.id, turn = turn.number, number = number,
    defines = encode(facts.tunables or {}), ok = facts.ok, stage = facts.stage,
    reason = facts.reason, facts = facts_json(facts) })
  put_samples(insert, run, turn, number, facts)
  insert("verdicts", { run = run.id, turn = turn.number, evaluation = number,
    rule = facts.rule or facts.stage or "passed", pass = facts.ok, reason = facts.reason,
    evidence = encode { error = facts.error, found = facts.rules and facts.rules.rejected,
                        flags = facts.rules and facts.rules.flags } })
end

local function put_baselines(self, insert, run)
  for subject, b in pairs(run.task.baselines) do
    if not self.baselines[subject] then
      local t = b.time_s or {}
      insert("baselines", { run = run.id, subject = subject, modelled = b.modelled or false,
        median = t.median, lo = t.lo, hi = t.hi, samples = b.samples and doubles(b.samples),
        json = encode { failed = b.failed, error = b.error } })
      self.baselines[subject] = true
    end
  end
end

--- One finished turn, all of it or nothing of it.
function Ledger:turn(run, turn)
  return transaction(self, function(insert, store)
    put_candidate(insert, store, turn.candidate)
    insert("turns", { run = run.id, number = turn.number, started = turn.started,
      candidate = turn.candidate.hash, note = turn.note, ok = turn.ok, stage = turn.stage,
      reason = turn.reason, reward = turn.reward, result = encode(result.turn(turn)) })
    put_evaluation(insert, run, turn, 0, turn.facts)
    for i, facts in ipairs(turn.facts.variants or {}) do
      put_evaluation(insert, run, turn, i, facts)
    end
    put_baselines(self, insert, run)
  end)
end

--- Write the best candidate so far as plain files: kernel.cu, plan.lua, candidate.json, or
--- model_new.py with the files that go with it; and result.json.
function Ledger:keep(run)
  local ok, message, name = core.fs.mkdir(self.folder)
  if not ok then return nil, message, name end
  local files = texts_of(run.best.candidate, run.best.tunables)
  files["result.json"] = encode(result.turn(run.best)) .. "\n"
  for entry, text in pairs(files) do
    local below = entry:match "^(.*)/"
    if below then ok, message, name = core.fs.mkdir(self.folder .. "/" .. below) end
    if not ok then return nil, message, name end
    ok, message, name = file.replace(self.folder .. "/" .. entry, text)
    if not ok then return nil, message, name end
  end
  return true
end

--- What a strategy wants remembered: `data` is a table that JSON can hold.
function Ledger:event(run, kind, data, turn)
  self.events = self.events + 1
  return transaction(self, function(insert)
    insert("events", { run = run.id, number = self.events, at = core.clock.wall(), kind = kind,
      turn = turn, data = core.http.redact(encode(plain(data))) })
  end)
end

--- The run stopped before its end: what was spent, for who resumes it.
function Ledger:pause(run)
  local ok, message, name = self:event(run, "paused", { spent = run:spent(), why = run.ended })
  self:release(run.id)
  return ok, message, name
end

--- The run is over. One that was interrupted is not: it is paused, and can go on.
function Ledger:finish(run)
  if run.ended == "interrupted" then return self:pause(run) end
  local status = run.ended == "failed" and "error" or run.best and "passed" or "failed"
  local ok, message, name = transaction(self, function(insert)
    put_baselines(self, insert, run)
    insert("run_ends", { run = run.id, ended = core.clock.wall(), status = status,
      best_turn = run.best and run.best.number,
      summary = encode { ended = run.ended, reason = run.reason or #run.turns == 0 and run.memory.unread or nil, spent = run:spent() } })
  end)
  self:release(run.id)
  return ok, message, name
end

--- Another run's ledger on the same store.
function M.share(book)
  return setmetatable({ store = book.store, dir = book.dir, baselines = {}, events = 0 }, Ledger)
end

--- Open the ledger in `dir`, which is made when missing. Returns it, or nil, message, name.
function M.open(dir)
  local store, message, name = core.store.open(dir)
  if not store then return nil, message, name end
  return setmetatable({ store = store, dir = dir, baselines = {}, events = 0 }, Ledger)
end

return M

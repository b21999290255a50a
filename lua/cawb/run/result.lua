-- result: a run as plain data, the shape that --json prints (docs/reference/result.md).

local core = require "cawb.core"
local manifest = require "cawb.gpu.manifest"

local M = {}

-- Of a turn's profile, what it says: the record has all of it.
local function profile_data(p)
  if not p or not p.ok then return p and { reason = p.reason } end
  return { source = p.source, note = p.note, limiter = p.roofline.sentence, remedies = p.roofline.remedies }
end

-- What rules said: names and reasons.
local function rules_data(r)
  if not r then return nil end
  local flags = core.json.array {}
  for i, flag in ipairs(r.flags) do flags[i] = { rule = flag.rule, reason = flag.reason } end
  return { set = r.set, asked = r.asked, flags = flags,
           rejected = r.rejected and { rule = r.rejected.rule, reason = r.rejected.reason } }
end

-- What it was at each of the sizes that the task names, where it names some.
local function sizes_data(rows)
  if not rows then return nil end
  local list = core.json.array {}
  for i, row in ipairs(rows) do
    list[i] = { sizes = row.sizes, ok = row.ok, stage = row.stage, reason = row.reason, time_s = row.time_s, error = row.error,
                speedup = row.speedup, equal_error = row.equal_error, tunables = row.tunables }
  end
  return list
end

-- How near to the least possible time it came.
local function floor_data(facts)
  local f = facts.floor
  return f and { seconds = f.seconds, memory = f.memory, compute = f.compute, launch = f.launch,
                 precision = f.precision, source = f.source, flops = f.flops, asked = f.asked, spared = f.spared }
end

local function turn_data(turn)
  return {
    number = turn.number, name = turn.name, label = turn.label, note = turn.note,
    hash = turn.candidate.hash, ok = turn.ok, stage = turn.stage, reason = turn.reason,
    reward = turn.reward, tunables = turn.tunables, variants = #(turn.facts.variants or {}),
    seconds = { compile = turn.seconds.compile, verify = turn.seconds.verify,
                measure = turn.seconds.measure, confirm = turn.seconds.confirm,
                profile = turn.seconds.profile, sanitize = turn.seconds.sanitize },
    first = turn.facts.first and { time_s = turn.facts.first.time_s, speedup = turn.facts.first.speedup },
    launch_bound_s = turn.facts.launch_bound_s, clock_hz = turn.facts.clock_hz,
    throttled = turn.facts.throttled, equal_error = turn.facts.equal_error,
    judged_at = sizes_data(turn.facts.judged_at), fitted = turn.facts.fitted, time_s = turn.time_s, speedup = turn.speedup, error = turn.error,
    repeatable = turn.facts.repeatable, denormals = turn.facts.denormals, sizes = turn.facts.sizes, precision = turn.facts.precision and turn.facts.precision.class, rule = turn.facts.rule,
    rules = rules_data(turn.facts.rules), floor = floor_data(turn.facts),
    modelled = turn.facts.modelled, bound = turn.facts.report and turn.facts.report.bound,
    spent = turn.spent, tier = turn.facts.tier or 1, jail = turn.facts.jail, jail_lacks = turn.facts.jail_lacks,
    profile = profile_data(turn.facts.profile),
  }
end
M.turn = turn_data

local function baselines_data(task)
  local list = {}
  for kind, b in pairs(task.baselines) do
    list[kind] = { time_s = b.time_s, modelled = b.modelled, failed = b.failed, error = b.error,
                   setup_s = b.setup_s, host_s = b.host_s, call_s = b.call_s, cached = b.cached,
                   measured = b.measured }
  end
  return list
end

--- The whole run.
function M.run(run)
  local turns = core.json.array {}
  for i, turn in ipairs(run.turns) do turns[i] = turn_data(turn) end
  return {
    run = run.id, strategy = run.strategy.name, seed = run.task.seed,
    task = { name = run.task.name, path = run.task.path, hash = run.task.info.source_sha256 },
    device = run.task.device.info.name, modelled = run.task.device.info.modelled,
    manifest = manifest.of(run.task.device, run.task.python), ended = run.ended, reason = run.reason, elapsed = run:elapsed(),
    spent = run:spent(),
    baselines = baselines_data(run.task), turns = turns,
    best = run.best and run.best.number, folder = run.ledger.folder,
  }
end

return M

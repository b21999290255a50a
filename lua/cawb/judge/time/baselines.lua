-- baselines: what a candidate is compared with. Some take turns with it (duel.lua); the
-- others are timed once and kept, by task, stack and settings. All have an error against
-- float64, and a speed-up is quoted against the fastest that is no less accurate.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local display = require "cawb.base.display"
local manifest = require "cawb.gpu.manifest"
local cache = require "cawb.base.cache"
local names = require "cawb.base.baseline_names"
local stats = require "cawb.base.stats"

local M = {}

--- A user's own baseline as the list takes it: a Python file by its path, or a candidate
--- (see cawb.candidate). Returns nil, message, name where there is none.
function M.from_path(path)
  if path:match "%.py$" then
    local full, message, name = core.fs.realpath(path)
    return full and "file:" .. full, message, name
  end
  return candidates.new(path)
end

local function floor_of(task, tolerance)
  local dtype = task.outputs[1] and task.outputs[1].dtype
  local floor = tolerance.floors[dtype]
  return floor and floor.nrms or 0
end

--- The fastest of `speedups` (by kind) whose normalised rms error against float64 is at
--- most `tolerance.equal_error` times the candidate's; below the floor of its type all errors are
--- equal. Where none is that accurate, the most accurate. Returns { against =, median, lo,
--- hi, verdict, less_accurate = { kinds passed over } }, or nil without any.
function M.at_equal_error(task, speedups, error, tolerance)
  local most = tolerance.equal_error * math.max(error.nrms or math.huge, floor_of(task, tolerance))
  local best, over, accurate, kinds = nil, {}, nil, {}
  for kind in pairs(speedups) do kinds[#kinds + 1] = kind end
  table.sort(kinds)                          -- so that a tie is always the same one's
  for _, kind in ipairs(kinds) do
    local s = speedups[kind]
    local b = task.baselines[kind] or {}
    local nrms = b.error and b.error.nrms or b.modelled and 0 or nil
    if not nrms or not (nrms <= most) then over[#over + 1] = kind
    elseif not best or s.median < speedups[best].median then best = kind end
    if nrms and (not accurate or nrms < accurate.nrms) then accurate = { kind = kind, nrms = nrms } end
  end
  table.sort(over)
  local kind = best or accurate and accurate.kind
  if not kind then return nil end
  local s = speedups[kind]
  return { against = kind, median = s.median, lo = s.lo, hi = s.hi, verdict = s.verdict,
           less_accurate = core.json.array(over) }
end

local model_margin = stats.margin      -- a modelled speed-up within 1 +- this is none: docs/explain/time-model.md says why

--- "faster", "slower", "same" or "undecided", of a speed-up as at_equal_error returns it: measurements bring it along, a modelled
--- time has no interval. Nil without a speed-up.
function M.verdict(equal)
  return equal and (equal.verdict or stats.verdict(equal, model_margin))
end

-- What a stored time is true of.
local function key_of(task, kind, how)
  return core.hash.sha256(core.json.encode { task = task.info.source_sha256,
    constants = task.info.constants, kind = kind, samples = how.matrix_samples,
    stack = manifest.key(manifest.of(task.device, task.python)) })
end

local function time_one(task, kind, how)
  local reply, message, name = task:ask { op = "baselines", order = { kind },
    samples = how.matrix_samples, budget = how.budget, seed = task.next_seed "baselines" }
  if not reply then return nil, message, name end
  local about, batch = reply.kinds[kind], reply.batches[1]
  if about.failed or not batch then return { failed = about.failed or "it was not timed" } end
  return { time_s = stats.summary(batch.samples), samples = batch.samples, error = about.error,
           setup_s = about.setup_s, host_s = about.host_s, call_s = about.call_s, modelled = false,
           measured = os.date "!%Y-%m-%d" }
end

--- Complete the matrix: time the kinds of `how.matrix` (`how` is the options `measure`) that nothing
--- is known of yet, or take their times from an earlier run. Returns true, or nil, message, name.
function M.complete(task, how)
  if task.device.info.modelled or task.rivals then return true end   -- those were timed otherwise
  for _, kind in ipairs(how.matrix) do
    if not task.baselines[kind] then
      local key = key_of(task, kind, how)
      local b = cache.get("baselines", key)
      if b then b.cached = true
      else
        local message, name
        b, message, name = time_one(task, kind, how)
        if not b then return nil, message, name end
        if not b.failed then cache.put("baselines", key, b) end   -- a cache may fail
      end
      task.baselines[kind] = b
    end
  end
  return true
end

local function sorted_kinds(task)
  local list = {}
  for kind in pairs(task.baselines) do list[#list + 1] = kind end
  table.sort(list, function(a, b)
    local x, y = task.baselines[a].time_s, task.baselines[b].time_s
    if x and y then return x.median < y.median end
    return x ~= nil and y == nil or (x ~= nil) == (y ~= nil) and a < b
  end)
  return list
end

local function remark(b)
  if b.failed then return "failed: " .. b.failed end
  if b.cached then return "measured " .. tostring(b.measured) end
  return b.modelled and "modelled" or ""
end

--- The matrix as rows of text: baseline, time, error (rms, worst), set-up, remark. The
--- fastest comes first.
function M.rows(task)
  local rows = {}
  local function error_of(b, name)
    local e = b.error and b.error[name]
    return type(e) == "number" and ("%.2g"):format(e) or "-"
  end
  for _, kind in ipairs(sorted_kinds(task)) do
    local b = task.baselines[kind]
    rows[#rows + 1] = { names.label(kind), display.interval(b.time_s), error_of(b, "nrms"),
      error_of(b, "worst"), b.setup_s and display.time(b.setup_s) or "-", remark(b) }
  end
  return rows
end

M.headings = { "baseline", "time [95% interval]", "rms error", "worst", "set-up", "" }

return M

-- confirm: what would be a new best is evaluated again, by a worker that has never seen
-- it and on inputs that nobody has: luck, a warm cache and what one process happened to
-- be like do not count twice.

local evaluate = require "cawb.judge.evaluate"
local many_sizes = require "cawb.judge.many_sizes"
local sizes = require "cawb.judge.verify.sizes"

local M = {}

-- What it does on other sizes of the task, where that is asked for: told, and no failure.
local function look_at_sizes(task, member, facts, options)
  if not facts.ok or options.verify.sizes == 0 or member.python then return true end
  local found, message, name = sizes.look(task, member, options)
  if not found then return nil, message, name end
  facts.sizes = found
  return true
end

local function add_seconds(first, again)
  local seconds = { confirm = 0.0 }
  for stage, s in pairs(first) do seconds[stage] = s end
  for _, s in pairs(again) do seconds.confirm = seconds.confirm + s end
  return seconds
end

-- At the task's other sizes too, where it has some: with the tunables that were chosen there.
local function at_all_sizes(task, member, facts, again, options, say)
  return many_sizes.complete(task, again, options, function(other, row)
    return evaluate.one(other, row.tunables and member:with(row.tunables) or member, options,
      { trials = options.confirm.trials, say = function() say "confirm" end })
  end, facts.judged_at)
end

--- Let the worker that may have to confirm what this candidate does get ready meanwhile: one that has met no candidate. On a
--- simulated device there is nothing to get ready.
function M.expect(task, candidate, options)
  if options.confirm.enabled and not candidate.python and not task.device.info.modelled then task.device:begin_spare() end
end

--- The facts of `member`, which were `facts`, as they are when it is evaluated again, by `options`:
--- they keep the first times as `first` = { time_s, speedup }. A failure comes back as
--- facts of the stage "confirm". With `count` the device's counters have a look, too. Returns nil, message, name when the machine failed.
function M.again(task, member, facts, options, say, count)
  task.device:drop_worker()
  task.timed_inputs = nil                     -- nor are what others were timed on fresh
  local again, message, name = evaluate.one(task, member, options,
    { trials = options.confirm.trials, count = count, say = function() say "confirm" end })
  if again then again, message, name = at_all_sizes(task, member, facts, again, options, say) end
  if not again then return nil, message, name end
  if not again.ok then
    again.reason = ("it passed once, but not in a fresh worker on fresh inputs (%s): %s")
      :format(again.stage, again.reason)
    again.stage = "confirm"
  end
  local looked
  looked, message, name = look_at_sizes(task, member, again, options)
  if not looked then return nil, message, name end
  again.first = { time_s = facts.time_s, speedup = facts.speedup, samples = facts.samples }
  again.seconds = add_seconds(facts.seconds, again.seconds)
  again.cached, again.log, again.profile = facts.cached, facts.log, facts.profile
  again.variants, again.label = facts.variants, facts.label
  again.rules = again.rules or facts.rules
  return again
end

return M

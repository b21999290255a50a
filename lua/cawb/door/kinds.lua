-- kinds: where a plan's time goes, by kind of kernel, beside the kernels that torch.compile starts for the same task; the largest
-- differences first.

local chips = require "cawb.gpu.chip"
local display = require "cawb.base.display"
local kinds = require "cawb.compose.plan.kinds"
local named = require "cawb.torch.named"
local plan = require "cawb.compose.plan.plan"

local M = {}

local CALLS = 5           -- of torch.compile's, whose median counts
local LONGEST = 10        -- kernels that have a line of their own

-- Blocks that run at once, and how often the device is filled with them.
local function waves_of(metrics, sms)
  local at_once = metrics.blocks_per_sm or metrics.resident_blocks
  return metrics.blocks and at_once and at_once > 0 and metrics.blocks / (at_once * sms) or nil
end

--- The launches of a profile: { { kind =, seconds =, name =, about =, least = seconds at the device's rates, waves =, blocks = }, ... }; or nil and why
--- not. `made`: the candidate as compose made it; without it each kernel's name is its kind.
function M.own(task, profile, made)
  local list, chip, told = made and kinds.list(made), chips.of(task.device), {}
  if list and #list ~= #profile.kernels then
    return nil, ("the profile has %d launches, and the plan %d"):format(#profile.kernels, #list)
  end
  local rows = {}
  for k, launch in ipairs(profile.kernels) do
    local m, one = launch.metrics, list and list[k]
    local main = one and one.kind == kinds.of(one.kernel) and not told[one.kernel]
    if main then told[one.kernel] = true end
    if not m.seconds then return nil, "the profile has no times: " .. tostring(profile.note) end
    rows[k] = { kind = one and one.kind or launch.kernel, seconds = m.seconds, name = launch.kernel, about = one and plan.about(one.kernel) or "",
                least = main and kinds.least(one.kernel, chip) or nil, waves = waves_of(m, chip.sms), blocks = m.blocks }
  end
  return rows
end

--- The kernels of a baseline of PyTorch's, in the same form: { rows }, or { why = }: it was not run.
function M.theirs(task, kind)
  if task.device.info.modelled then return { why = "not run" } end
  local reply, message = task:ask { op = "kernels", kind = kind, calls = CALLS, seed = task.next_seed "baselines" }
  if not reply or reply.failed then return { why = "not run: " .. tostring(message or reply.failed) } end
  local rows = {}
  for k, one in ipairs(reply.kernels) do
    rows[k] = { kind = named.kind(one.name), seconds = one.seconds, name = one.name, about = "", blocks = one.blocks, begins = one.begins }
  end
  return { rows = rows }
end

-- Sums by kind; seconds of the whole.
local function summed(rows)
  local by, total = {}, 0.0
  for _, one in ipairs(rows or {}) do
    local sum = by[one.kind] or { launches = 0, seconds = 0.0, least = 0.0, waved = 0.0 }
    by[one.kind], total = sum, total + one.seconds
    sum.launches, sum.seconds, sum.least = sum.launches + 1, sum.seconds + one.seconds, sum.least + (one.least or 0)
    sum.waved = sum.waved + (one.waves or 0) * one.seconds
  end
  return by, total
end

-- The rows of a library's calls count as kernels of the same kind, where kinds are compared.
local function plain(rows)
  local list = {}
  for k, one in ipairs(rows or {}) do
    list[k] = setmetatable({ kind = one.kind:gsub("^library's ", ""):gsub(", plain$", "") }, { __index = one })
  end
  return list
end

local function percent(x) return ("%.0f%%"):format(100 * x) end

local function by_kind(rows)
  local sums, total = summed(rows)
  local names, lines = {}, {}
  for name in pairs(sums) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    if sums[a].seconds ~= sums[b].seconds then return sums[a].seconds > sums[b].seconds end
    return a < b
  end)
  for k, name in ipairs(names) do
    local s = sums[name]
    lines[k] = { name, ("%d"):format(s.launches), display.time(s.seconds), percent(s.seconds / total), s.least > 0 and percent(s.least / s.seconds) or "-",
                 s.waved > 0 and ("%.2g"):format(s.waved / s.seconds) or "-", display.time(s.seconds / s.launches) }
  end
  return display.table({ "kind", "launches", "time", "of all", "of the bound", "waves", "a launch" }, lines)
end

-- What is between kernels: the time of a whole call, less that of its kernels.
local function whole(name, rows, seconds)
  local _, busy = summed(rows)
  local between = seconds and seconds - busy
  return { name, ("%d"):format(#rows), seconds and display.time(seconds) or "-", display.time(busy), between and (between < 0 and "-" or "") .. display.time(math.abs(between)) or "-",
           between and #rows > 0 and ("%.2g us"):format(1e6 * between / #rows) or "-" }
end

local function differences(own, theirs)
  local a, b, names, lines = summed(plain(own)), summed(plain(theirs)), {}, {}
  for name in pairs(a) do names[#names + 1] = name end
  for name in pairs(b) do if not a[name] then names[#names + 1] = name end end
  local function more(name) return (a[name] and a[name].seconds or 0) - (b[name] and b[name].seconds or 0) end
  table.sort(names, function(x, y)
    local p, q = math.abs(more(x)), math.abs(more(y))
    if p ~= q then return p > q end
    return x < y
  end)
  local function cell(s) return s and ("%s in %d"):format(display.time(s.seconds), s.launches) or "-" end
  for k, name in ipairs(names) do
    lines[k] = { name, cell(a[name]), cell(b[name]), (more(name) < 0 and "-" or "+") .. display.time(math.abs(more(name))) }
  end
  return display.table({ "kind", "here", "torch.compile", "more here" }, lines)
end

local function longest(rows)
  local sorted, lines = table.move(rows, 1, #rows, 1, {}), {}
  table.sort(sorted, function(a, b)
    if a.seconds ~= b.seconds then return a.seconds > b.seconds end
    return a.name < b.name
  end)
  for k = 1, math.min(LONGEST, #sorted) do
    local one = sorted[k]
    lines[k] = { display.time(one.seconds), one.kind, display.shorten(one.name, 60), one.least and percent(one.least / one.seconds) or "-",
                 one.blocks and ("%d"):format(one.blocks) or "-", display.shorten(one.about, 60) }
  end
  return display.table({ "time", "kind", "kernel", "of the bound", "blocks", "computes" }, lines)
end

local function add(lines, more)
  lines[#lines + 1] = ""
  return table.move(more, 1, #more, #lines + 1, lines)
end

--- The page. `own` and `theirs` as above; `times`: seconds of whole calls, { own =, theirs = }; `modelled`: whether those here are.
function M.lines(own, theirs, times, modelled)
  local head = modelled and "modelled time" or "time"
  local wholes = { whole("here", own, times.own) }
  if theirs.rows then wholes[2] = whole("torch.compile", theirs.rows, times.theirs) else wholes[2] = { "torch.compile", theirs.why, "-", "-", "-", "-" } end
  local lines = display.table({ "", "launches", head, "in kernels", "between", "a launch" }, wholes)
  add(lines, by_kind(own))
  if theirs.rows then add(lines, differences(own, theirs.rows)) end
  add(lines, longest(own))
  return theirs.rows and #theirs.rows > 0 and add(lines, longest(theirs.rows)) or lines
end

return M

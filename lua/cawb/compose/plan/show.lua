-- show: a candidate as a table: a line for each kernel and library call, with its operators and the bytes that it reads and writes at
-- least.

local display = require "cawb.base.display"
local graphs = require "cawb.compose.ir.graph"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"
local plan = require "cawb.compose.plan.plan"
local types = require "cawb.torch.types"

local M = {}

local units = { { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" } }

local function readable(bytes)
  local unit = lists.first(units, function(one) return bytes >= one[1] end)
  return unit and ("%.3g %s"):format(bytes / unit[1], unit[2]) or bytes .. " B"
end

local function size(x) return graphs.numel(x.shape) * types.size(x.dtype) end

--- The bytes that a kernel reads and writes at least.
function M.bytes(kernel) return lists.sum(kernels.loads(kernel), size) + lists.sum(kernel.roots, size) end

local function shape(kernel)
  return table.concat(lists.map(kernel.roots, function(x) return "[" .. table.concat(x.shape, ", ") .. "]" end), " ")
end

--- The launches of a kernel in each call of the plan, or those `ahead` of the first; where memory is filled there is none.
function M.launched(kernel, ahead)
  return lists.filter(kernel.made and kernel.made.launches or {}, function(launch) return launch.kernel and not launch.prepare == not ahead end)
end

--- Of each kernel its launches in a profile; nil where these are others.
function M.launches(made, profile)
  local launches, at = {}, 0
  for k, kernel in ipairs(made.kernels) do
    local count = #M.launched(kernel) + (kernel.call and 1 or 0)         -- as a profile has them
    launches[k] = table.move(profile.kernels, at + 1, at + count, 1, {})
    at = at + count
  end
  return at == #profile.kernels and launches or nil
end

--- Seconds of each kernel, of a profile's launches in order; nil where these are others.
function M.times(made, profile)
  local launches, sums = M.launches(made, profile), {}
  for k, list in ipairs(launches or {}) do
    sums[k] = 0.0
    for _, launch in ipairs(list) do
      if not launch.metrics.seconds then return nil end
      sums[k] = sums[k] + launch.metrics.seconds
    end
  end
  return launches and sums
end

--- The rewrites, a line for each operator and rule.
function M.rewritten(steps)
  local lines, told = {}, {}
  for _, s in ipairs(steps) do
    local line = ("rewritten: %s%s: %s"):format(s.from and s.from.name or "a view",
      graphs.place(s.from) and (" (%s)"):format(graphs.place(s.from)) or "", s.says)
    if not told[line] then lines[#lines + 1] = line end
    told[line] = true
  end
  return lines
end

-- How often a kernel's text was generated: once for each kernel.
local function texts(made)
  local calls = #lists.filter(made.kernels, function(kernel) return kernel.call end)
  return ("generated: texts %d, for kernels %d; calls of libraries %d"):format(made.texts, #made.kernels - calls, calls)
end

-- What a kernel is, for who does not know the families; and the words below the table for those that it has.
local libraries = { conv = "cuDNN", gemm = "cuBLAS" }
local kinds = { rows = "sums or maxima along rows", stream = "element by element", attend = "attention in one kernel", cell = "steps of a recurrence" }

local function legend(made)
  local words, told, before = {}, {}, {}
  for k, kernel in ipairs(made.kernels) do
    if not kernel.call and kinds[kernel.kind] and not told[kernel.kind] then
      words[#words + 1], told[kernel.kind] = ("%s: %s"):format(kernel.kind, kinds[kernel.kind]), true
    end
    if kernel.prepare then before[#before + 1] = tostring(k) end
  end
  local lines = {}
  if words[1] then lines[1] = "kinds: " .. table.concat(words, "; ") end
  if before[1] then lines[#lines + 1] = ("steps %s run once, before the first call"):format(table.concat(before, ", ")) end
  return lines
end

--- The lines of a candidate's table. A product that is emulated says how, and one that is not says why. With a `profile` of
--- it (cawb.profile), each kernel's time, and the share of it that the least bytes take at `rate`, the device's bytes a second.
function M.lines(made, profile, rate)
  local rows, head = {}, { "step", "kind", "computes", "writes", "bytes" }
  local seconds = profile and profile.ok and profile.kernels and M.times(made, profile)
  for k, kernel in ipairs(made.kernels) do
    local what, moved = kernel.call and libraries[kernel.kind == "conv" and "conv" or "gemm"] or kernel.kind, M.bytes(kernel)
    if kernel.made and kernel.made.how then what = ("%s: %s"):format(what, kernel.made.how) end
    rows[k] = { tostring(k), what, display.shorten(plan.about(kernel), 70), display.shorten(shape(kernel), 40), readable(moved) }
    if seconds then rows[k][6] = kernel.prepare and "-" or display.time(seconds[k]) end
    if seconds and rate and not kernel.prepare then rows[k][7] = ("%.0f%%"):format(100 * moved / rate / seconds[k]) end
  end
  if seconds then head[6], head[7] = profile.modelled and "modelled time" or "time", rate and "share of peak bandwidth" or nil end
  local lines = lists.joined(display.table(head, rows), legend(made), M.rewritten(made.rewrites))
  for k, kernel in ipairs(made.kernels) do
    if kernel.instead then lines[#lines + 1] = ("step %d is not on tensor cores: %s"):format(k, kernel.instead) end
  end
  lines[#lines + 1] = texts(made)
  return lines
end

return M

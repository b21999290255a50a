-- cawb profile TASK.py CANDIDATE: what a candidate does on a device, in counts; what limits
-- it, and what to try.

local command = require "cawb.door.command"
local core = require "cawb.core"
local kinds = require "cawb.door.kinds"
local measure = require "cawb.judge.time.measure"
local profile = require "cawb.judge.profile.profile"

local M = { summary = "what a candidate does on a device, what limits it, and what to try next" }

M.usage = [[
usage: cawb profile TASK.py CANDIDATE [flags]

  CANDIDATE         a folder with kernel.cu and plan.lua, or a path as kernels/softmax/v3_shuffle;
                    the word compose: what the compiler makes of the task
  --counters LIST   what to count: default (three passes), quick (one), or NVIDIA's names with commas between
  --metrics         all counts too, each with its source
  --lines           where the time goes, line by line
  --kinds           where it goes by kind of kernel, beside the kernels of torch.compile
  --json            one JSON object in place of the page
  --device, --set, --config, --seed    as of a run
]]

local function number(x)
  if x == math.floor(x) and math.abs(x) < 1e15 then return ("%d"):format(x) end
  return ("%.4g"):format(x)
end

local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function print_metrics(one)
  local rows = {}
  for i, name in ipairs(sorted(one.metrics)) do
    rows[i] = { name, number(one.metrics[name]), one.sources[name] }
  end
  command.print_table({ "metric", "value", "source" }, rows)
end

local function percent(x) return x and ("%.1f%%"):format(100 * x) or "-" end

local function print_roofline(r)
  local rows = {}
  local function row(what, ...) rows[#rows + 1] = { what, ... } end
  if r.byte_rate then row("DRAM", ("%.4g GB/s"):format(r.byte_rate / 1e9), percent(r.dram_share)) end
  if r.flop_rate and r.flops > 0 then
    row(("arithmetic, %s"):format(r.precision), ("%.4g GFLOP/s"):format(r.flop_rate / 1e9), percent(r.compute_share))
  end
  if r.intensity then row("intensity", ("%.3g FLOP/byte"):format(r.intensity), "") end
  if r.ridge then row("ridge", ("%.3g FLOP/byte"):format(r.ridge), r.roof .. " side") end
  if #rows > 0 then
    print ""
    command.print_table({ "roofline", "reached", "of the ceiling" }, rows)
    print(("operations: %s; ceilings: %s"):format(r.flops_source == "cupti" and "counted" or "of the task's graph",
      r.ceilings or r.note))
  end
end

local function print_lines(s)
  if not s then return end
  print ""
  if #s.lines == 0 then return print("lines: none" .. (s.note and ", " .. s.note or "")) end
  local rows = {}
  for i = 1, math.min(12, #s.lines) do
    local l, stalls = s.lines[i], {}
    for j = 1, math.min(3, #l.stalls) do
      stalls[j] = ("%s %.0f%%"):format(l.stalls[j].reason, 100 * l.stalls[j].samples / l.samples)
    end
    rows[i] = { ("%.1f%%"):format(100 * l.share), ("%s:%d"):format(l.file ~= "" and l.file or "?", l.line),
                table.concat(stalls, ", "), l.text or "" }
  end
  print(("lines, of %s %s"):format(number(s.samples), s.unit))
  command.print_table({ "share", "line", "of these", "" }, rows)
end

local function print_all_metrics(p)
  for _, k in ipairs(p.kernels) do
    print ""
    if #p.kernels > 1 then print(k.kernel .. ":") end
    print_metrics(k)
  end
  if #p.kernels > 1 then
    print "\nall launches:"
    print_metrics(p)
  end
end

local function print_conclusion(p)
  print("limiter: " .. p.roofline.sentence)
  for i, one in ipairs(p.roofline.remedies) do
    print(("%d. %s: %s (%s)"):format(i, one.skill, one.advice, one.why))
  end
  if p.roofline.remedies[1] then print("more: cawb skill " .. p.roofline.remedies[1].skill) end
end

local function print_page(task, candidate, p, given)
  print(("%s on %s, %s%s"):format(candidate.name, task.device.info.model, task.name,
    p.modelled and " (modelled)" or ""))
  print_conclusion(p)
  if p.note then print("note: " .. p.note) end
  print_roofline(p.roofline)
  print_lines(p.sampling)
  print(("\nsource: %s%s"):format(p.source, p.passes > 0 and (", executions counted: %d"):format(p.passes) or ""))
  if given.metrics or given.counters then return print_all_metrics(p) end
  local n = 0
  for _ in pairs(p.metrics) do n = n + 1 end
  print(("%d metrics: --metrics prints them; where the time goes by line: --lines"):format(n))
end

-- Where the time goes by kind of kernel. What a whole call takes is measured apart: a counted run is no measurement.
local function print_kinds(task, candidate, all, p, made)
  local own = command.need(kinds.own(task, p, made))
  local timed = command.need(measure.measure(task, candidate, all, { against = { "compile" } }))
  local theirs = kinds.theirs(task, "compile")
  local b = task.baselines.compile
  local times = { own = timed.ok and timed.time_s.median or nil, theirs = b and b.time_s and b.time_s.median }
  print(("%s on %s, %s%s; counted by %s"):format(candidate.name, task.device.info.model, task.name, p.modelled and " (modelled)" or "", p.source))
  for _, line in ipairs(kinds.lines(own, theirs, times, p.modelled)) do print(line) end
  if p.source == "events" then print(p.note) end
  if not timed.ok then print("not timed: " .. timed.reason) end
end

-- "quick", or { "a.sum", "b.sum" }
local function counters(text)
  if not text then return {} end
  if text == "quick" or text == "default" then return { set = text } end
  local list = {}
  for name in text:gmatch "[^,]+" do list[#list + 1] = name end
  return { metrics = list }
end

local function body(task, candidate, all, given, command_line, made)
  local opts = counters(given.counters)
  if opts.metrics and #opts.metrics == 0 then command.wrong "--counters needs at least one name" end
  opts.lines = given.lines
  if given.kinds and not given.counters then opts.set = "quick" end
  local p = command.need(profile.profile(task, candidate, all, opts))
  if command_line.json then print(core.json.encode(p))
  elseif p.ok and given.kinds then print_kinds(task, candidate, all, p, made)
  elseif p.ok then print_page(task, candidate, p, given) end
  if not p.ok then command.fail(("%s: %s"):format(p.stage, p.reason), "candidate") end
  return 0
end

function M.main(argv)
  return command.main("profile", argv, { ["--lines"] = "flag", ["--kinds"] = "flag", ["--metrics"] = "flag", ["--counters"] = "value" }, body)
end

return M

-- profile: what a candidate did on the device, in counts. A ladder: hardware counters
-- where they may be read, else times and facts of the code, on a simulated device what it
-- counts while it executes, and where nothing can be executed the text of the PTX. Every
-- value says where it is from, and a note says why the rung above could not be had.

local core = require "cawb.core"
local execute = require "cawb.judge.worker.execute"
local lines = require "cawb.judge.profile.lines"
local metrics = require "cawb.judge.profile.metrics"
local options = require "cawb.base.options"
local ptx = require "cawb.judge.profile.ptx"
local python = require "cawb.base.python"
local roofline = require "cawb.judge.profile.roofline"

local M = {}

local function ratio(a, b)
  if a and b then return b > 0 and a / b or 0 end
end

-- What the simulator counts too, under its names, and what is read off first.
local function derive_counted(m)
  local read, written = m["dram__bytes_read.sum"], m["dram__bytes_write.sum"]
  local nanoseconds, lanes = m["gpu__time_duration.sum"],
    m["smsp__average_thread_inst_executed_per_inst_executed.ratio"]
  local d = { warp_instructions = m["smsp__inst_executed.sum"], lanes_per_instruction = lanes,
    seconds = nanoseconds and nanoseconds * 1e-9, dram_bytes = read and written and read + written }
  d.thread_instructions = m["smsp__thread_inst_executed.sum"]
    or d.warp_instructions and lanes and d.warp_instructions * lanes
  d.lanes_per_instruction = lanes or ratio(d.thread_instructions, d.warp_instructions)
  d.dram_bytes_per_second = ratio(d.dram_bytes, d.seconds)
  d.l2_hit_rate = ratio(m["lts__t_sectors_lookup_hit.sum"], m["lts__t_sectors.sum"])
  d.load_sectors_per_request = ratio(m["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"])
  return d
end

local function derive_simulated(m)
  return { sectors_per_request = ratio(m.global_sectors, m.global_requests),
    wavefronts_per_request = ratio(m.shared_wavefronts, m.shared_requests),
    lanes_per_instruction = ratio(m.thread_instructions, m.warp_instructions),
    dram_bytes_per_second = ratio(m.dram_bytes, m.seconds) }
end

local function add(one, values, source)
  for name, value in pairs(values) do
    if not one.metrics[name] then one.metrics[name], one.sources[name] = value, source end
  end
end

local function add_derived(one, source)
  add(one, (source == "simulator" and derive_simulated or derive_counted)(one.metrics),
      source == "simulator" and source or "cupti")
end

-- How a value of the whole plan comes from those of its launches: sums add up, what
-- is per unit of time counts by time, and other ratios have no whole.
local sums = { seconds = true, warp_instructions = true, thread_instructions = true, global_requests = true,
               global_sectors = true, shared_requests = true, shared_wavefronts = true, branches = true,
               divergent_branches = true, dram_bytes = true, barriers = true, races = true }

local function additive(name)
  return name:find "%.sum$" or name:find "cycles_elapsed%.max$" or name:find "^bound_" or sums[name]
end

local function per_time(name) return name:find "%.pct_of_peak" or name:find "%.per_cycle" end

local function in_all(kernels, name)
  for _, k in ipairs(kernels) do
    if not k.metrics[name] then return false end
  end
  return true
end

local function whole(kernels, source)
  local total, weight = { metrics = {}, sources = {} }, 0.0
  for _, k in ipairs(kernels) do weight = weight + (k.metrics["gpu__time_duration.sum"] or 0) end
  for name, from in pairs(kernels[1].sources) do
    local timed = per_time(name) and weight > 0
    if in_all(kernels, name) and (additive(name) or timed) then
      local sum = 0.0
      for _, k in ipairs(kernels) do
        sum = sum + k.metrics[name] * (timed and k.metrics["gpu__time_duration.sum"] / weight or 1)
      end
      total.metrics[name], total.sources[name] = sum, from
    end
  end
  add_derived(total, source)
  return total
end

-- ptxas counts what the driver does not tell.
local function add_spills(one, built)
  for _, k in ipairs(built.kernels or {}) do
    if k.name == one.kernel then
      add(one, { spill_stores = k.spill_stores, spill_loads = k.spill_loads, registers = k.registers,
                 shared_bytes = k.shared }, "ptxas")
    end
  end
end

local function missing(asked, kernels)
  local list = {}
  for _, name in ipairs(asked) do
    if not in_all(kernels, name) then list[#list + 1] = name end
  end
  return list
end

-- A simulated device's parts of the time, out of the metrics into a table of their own.
local function take_bound(one)
  if not one.metrics.bound_memory then return end
  one.bound = {}
  for _, part in ipairs { "memory", "l2", "l1", "shared", "issue", "latency", "blocks", "launch" } do
    one.bound[part] = one.metrics["bound_" .. part]
    one.metrics["bound_" .. part], one.sources["bound_" .. part] = nil, nil
  end
end

local function source_of(reply)
  local first = reply.kernels[1]
  if first and first.sources.warp_instructions == "simulator" then return "simulator" end
  return reply.passes > 0 and "cupti" or "events"
end

local function name_kernels(reply, steps)
  local launches, names = {}, {}
  for _, s in ipairs(steps) do
    if s.kernel or s.kind then launches[#launches + 1] = s end
  end
  for i, k in ipairs(reply.kernels) do
    names[k.kernel] = launches[i] and (launches[i].kernel or launches[i].kind) or k.kernel
  end
  return names
end

--- A worker's answer, made whole: { source = "cupti", "events" or "simulator", metrics =,
--- sources = by metric, kernels = one for each launch, seconds = on the device, passes =, note =,
--- missing = metrics that this device has not, took = { setup =, count = }, sampling = as
--- lines.digest returns it, lines = its lines }.
function M.digest(reply, steps, built, asked, text)
  local names, static, source = name_kernels(reply, steps), ptx.read(built.ptx), source_of(reply)
  for _, k in ipairs(reply.kernels) do
    add(k, static[k.kernel] or {}, "ptx")
    k.kernel = names[k.kernel]
    add_derived(k, source)
    add_spills(k, built)
  end
  local all = #reply.kernels == 1 and reply.kernels[1]
    or #reply.kernels > 1 and whole(reply.kernels, source) or { metrics = {}, sources = {} }
  for _, k in ipairs(reply.kernels) do take_bound(k) end
  take_bound(all)
  local sampling = reply.sampling and lines.digest(reply.sampling, text or "", names)
  return { ok = true, source = source, modelled = source == "simulator", bound = all.bound,
    metrics = all.metrics, sources = all.sources, kernels = reply.kernels,
    seconds = all.metrics.seconds, passes = reply.passes, note = reply.note,
    missing = source == "cupti" and missing(asked, reply.kernels) or nil,
    sampling = sampling, lines = sampling and sampling.lines,
    took = { setup = reply.setup, count = reply.seconds } }
end

-- The last rung: nothing was executed.
local function static(task, candidate, all, why)
  local built, message, name = execute.build(task, candidate, all)
  if not built or not built.ok then return built, message, name end
  local kernels = {}
  for full, mix in pairs(ptx.read(built.ptx)) do
    local one = { kernel = full, metrics = {}, sources = {} }
    add(one, mix, "ptx")
    add_spills(one, built)
    kernels[#kernels + 1] = one
  end
  table.sort(kernels, function(a, b) return a.kernel < b.kernel end)
  local all = #kernels == 1 and kernels[1] or { metrics = {}, sources = {} }
  return { ok = true, source = "ptx", modelled = true, metrics = all.metrics, sources = all.sources,
    kernels = kernels, passes = 0, note = why .. "; what is left are facts of the compiled text" }
end

-- Where a Python keeps CUPTI; looked up once, and only without a toolkit.
local function packages(device)
  if not device.packages then
    device.packages = core.locate.library "libcupti.so" and "" or python.site_packages()
  end
  return device.packages
end

local known = { set = true, metrics = true, lines = true }

local function chosen(opts)
  options.known(opts, known, "profile", 3)
  if opts.set and opts.metrics then error("profile: give a set or a list of metrics, not both", 3) end
  local which = opts.set or opts.metrics or "default"
  local names = type(which) == "string" and metrics[which] or which
  if type(names) ~= "table" or #names == 0 then
    error(("profile: metrics must be \"default\", \"quick\" or a list of names, got %s")
      :format(type(which) == "string" and ("'%s'"):format(which) or type(which)), 3)
  end
  return names
end

local function request_of(task, candidate, names, lines, all)
  local request = { op = "profile", metrics = names,
                    packages = not task.device.info.modelled and packages(task.device) or nil }
  if not lines then return request end
  local built, message, name = execute.build(task, candidate, all)
  if not built or not built.ok then return nil, built, message, name end
  request.lines, request.ptx, request.cubin = lines, built.ptx, built.cubin
  return request
end

--- What a candidate did on fresh inputs. `all` are the options of a run. `opts`: { set = "default" or "quick" (one pass),
--- metrics = a list of NVIDIA's names instead, lines = true for where the time goes }. Returns
--- { ok = true, source = "cupti", "events", "simulator" or "ptx", metrics = { name = value },
--- sources =, roofline = see roofline.lua, ... }, see digest. A failure as data, or nil,
--- message, name.
function M.profile(task, candidate, all, opts)
  opts = opts or {}
  local names = chosen(opts)
  local request, failure, message, name = request_of(task, candidate, names, opts.lines and all.lines, all)
  if not request then return failure, message, name end
  local ran
  ran, message, name = execute.call(task, candidate, all, request, "profile", all.deadlines.measure)
  if not ran then return nil, message, name end
  local p
  if ran.ok then p = M.digest(ran.profile, ran.steps, ran.built, names, candidate.source)
  elseif ran.name == "unsupported" then p, message, name = static(task, candidate, all, ran.reason)
  elseif ran.name == "invalid" then return nil, ran.reason, ran.name      -- of what was asked for
  else return ran end
  if p and p.ok then p.roofline = roofline.of(task, p) end
  return p, message, name
end

--- The same for a turn that passed, if the option `profile` asks for it: never the reason why
--- a turn fails. Returns the profile, or { ok = false, reason = }, or nothing.
function M.turn(task, candidate, all)
  local set = all.profile
  if set == "none" then return nil end
  local p, message = M.profile(task, candidate, all, { set = set })
  if not p then return { ok = false, reason = message } end
  return p
end

return M

-- profile: what a candidate did on the device, in counts. A real device counts in
-- hardware where it is allowed to (see metrics.lua for what); else there are times and
-- facts of the code, with the reason. A simulated device counts while it executes;
-- its counts are exact for the PTX, its times modelled.

local core = require "cawb.core"
local execute = require "cawb.execute"
local metrics = require "cawb.metrics"
local python = require "cawb.python"

local M = {}

local function ratio(a, b)
  if a and b then return b > 0 and a / b or 0 end
end

-- ---- a simulated device

local function simulated(task, candidate)
  local ran, message, name = execute.run(task, candidate)
  if not ran or not ran.ok then return ran, message, name end
  local m = ran.report
  m.sectors_per_request = ratio(m.global_sectors, m.global_requests)
  m.wavefronts_per_request = ratio(m.shared_wavefronts, m.shared_requests)
  m.lanes_per_instruction = ratio(m.thread_instructions, m.warp_instructions)
  local bound, seconds = m.bound, m.seconds
  m.bound, m.seconds, m.counted = nil, nil, nil
  return { ok = true, source = "simulated", metrics = m, bound = bound, seconds = seconds,
           modelled = true }
end

-- ---- a real device

-- What the simulator counts too, under its names, and what is read off first.
local function derive(m)
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

local function add_derived(one)
  for name, value in pairs(derive(one.metrics)) do
    if not one.metrics[name] then one.metrics[name], one.sources[name] = value, "cupti" end
  end
end

-- How a value of the whole plan comes from those of its launches: sums add up, what
-- is per unit of time counts by time, and other ratios have no whole.
local function additive(name)
  return name:find "%.sum$" or name:find "cycles_elapsed%.max$" or name == "seconds"
end

local function per_time(name) return name:find "%.pct_of_peak" or name:find "%.per_cycle" end

local function in_all(kernels, name)
  for _, k in ipairs(kernels) do
    if not k.metrics[name] then return false end
  end
  return true
end

local function whole(kernels)
  local total, weight = { metrics = {}, sources = {} }, 0.0
  for _, k in ipairs(kernels) do weight = weight + (k.metrics["gpu__time_duration.sum"] or 0) end
  for name, source in pairs(kernels[1].sources) do
    local timed = per_time(name) and weight > 0
    if in_all(kernels, name) and (additive(name) or timed) then
      local sum = 0.0
      for _, k in ipairs(kernels) do
        sum = sum + k.metrics[name] * (timed and k.metrics["gpu__time_duration.sum"] / weight or 1)
      end
      total.metrics[name], total.sources[name] = sum, source
    end
  end
  add_derived(total)
  return total
end

-- ptxas counts what the driver does not tell.
local function add_spills(one, built)
  for _, k in ipairs(built.kernels or {}) do
    if k.name == one.kernel then
      for _, name in ipairs { "spill_stores", "spill_loads" } do
        if k[name] then one.metrics[name], one.sources[name] = k[name], "ptxas" end
      end
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

--- A worker's answer, made whole: { source = "cupti" or "events", metrics =, sources =
--- by metric, kernels = one for each launch, seconds = on the device, passes =, note =,
--- missing = metrics that this device has not, took = { setup =, count = } }.
function M.digest(reply, steps, built, asked)
  local launches = {}
  for _, s in ipairs(steps) do
    if s.kernel then launches[#launches + 1] = s end
  end
  for i, k in ipairs(reply.kernels) do
    k.kernel = launches[i] and launches[i].kernel or k.kernel
    add_derived(k)
    add_spills(k, built)
  end
  local counted = reply.passes > 0
  local all = #reply.kernels == 1 and reply.kernels[1]
    or #reply.kernels > 1 and whole(reply.kernels) or { metrics = {}, sources = {} }
  return { ok = true, source = counted and "cupti" or "events", modelled = false,
    metrics = all.metrics, sources = all.sources, kernels = reply.kernels,
    seconds = all.metrics.seconds, passes = reply.passes, note = reply.note,
    missing = counted and missing(asked, reply.kernels) or nil,
    took = { setup = reply.setup, count = reply.seconds } }
end

-- Where a Python keeps CUPTI; looked up once, and only without a toolkit.
local function packages(device)
  if not device.packages then
    device.packages = core.locate.library "libcupti.so" and "" or python.site_packages()
  end
  return device.packages
end

local function counted(task, candidate, names)
  local request = { op = "profile", metrics = names, packages = packages(task.device) }
  local ran, message, name =
    execute.call(task, candidate, request, "profile", task.options.deadlines.measure)
  if not ran or not ran.ok then return ran, message, name end
  return M.digest(ran.profile, ran.steps, ran.built, names)
end

local function chosen(opts)
  local which = opts and opts.metrics or "default"
  for key in pairs(opts or {}) do
    if key ~= "metrics" then error(("profile: unknown option '%s'"):format(key), 3) end
  end
  local names = type(which) == "string" and metrics[which] or which
  if type(names) ~= "table" or #names == 0 then
    error(("profile: metrics must be \"default\", \"quick\" or a list of names, got %s")
      :format(type(which) == "string" and ("'%s'"):format(which) or type(which)), 3)
  end
  return names
end

--- What a candidate did on fresh inputs. `opts`: { metrics = "default", "quick" (one
--- pass) or a list of names }, for a real device. Returns { ok = true, source =
--- "simulated", "cupti" or "events", metrics = {name = value}, ... }; from a simulated
--- device with bound = {seconds by limit}, from a real one see digest. A failure as
--- data, or nil, message, name.
function M.profile(task, candidate, opts)
  local names = chosen(opts)
  if task.device.info.modelled then return simulated(task, candidate) end
  return counted(task, candidate, names)
end

return M

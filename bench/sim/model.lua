-- cawb bench/sim/model.lua --record FILE [DEVICE] [PATTERN] [BLOCKS]: time and count every kernel of
-- model/corpus.lua, one JSON object a line; on a simulated device with BLOCKS of each grid.
-- cawb bench/sim/model.lua --compare MEASURED MODELLED: two such files, held against each other:
-- rank correlation and errors of the times, of the kernels that the model's constants were
-- fitted to (every second one) and of the others, by class; and the counters.

local core = require "cawb.core"
local cawb = require "cawb"
local here = arg[0]:match "^(.*)/" or "."
local corpus = dofile(here .. "/model/corpus.lua")
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"

local mode, path, name, pattern, blocks = ...
local usage = "usage: cawb bench/sim/model.lua --record FILE [DEVICE] [PATTERN] [BLOCKS], or --compare MEASURED MODELLED"
assert(path and (mode == "--record" or mode == "--compare" and name), usage)
if mode == "--compare" then
  dofile(here .. "/model/compare.lua")(path, name)
  return
end
local all = options.copy(cawb.defaults)
all.simulate.blocks = math.tointeger(tonumber(blocks or 0))
local device <close> = assert(cawb.device(name or "cuda:0", { simulate = all.simulate }))

-- What is counted, in a few passes.
local counters = {
  "gpu__time_duration.sum", "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
  "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
  "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
  "lts__t_sectors.sum", "lts__t_sectors_lookup_hit.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
  "sm__warps_active.avg.pct_of_peak_sustained_active", "smsp__issue_active.avg.pct_of_peak_sustained_active",
}

-- ---- the kernels, task by task: visit(task, candidate, entry)

local root = here .. "/../.."

local function size_words(sizes)
  local names, words = {}, {}
  for key in pairs(sizes) do names[#names + 1] = key end
  table.sort(names)
  for i, key in ipairs(names) do words[i] = key .. "=" .. sizes[key] end
  return table.concat(words, " ")
end

local host = { python.start(120) }
if not host[1] then error(host[2], 0) end

local function open(file, sizes)
  return cawb.task(file, { device = device, task = sizes, seed = "6d6f64656c", host = host })
end

local function wanted(entry) return not pattern or entry.name:find(pattern) end

local function each_rung(visit)
  for _, l in ipairs(corpus.ladders) do
    local task <close> = assert(open(("%s/examples/%s.py"):format(root, l[1]), l[2]))
    local family = assert(families.match(task))
    for n, version in ipairs(family.versions) do
      local entry = { class = "ladder", name = ("%s/%s %s"):format(l[1], version, size_words(l[2])) }
      if not (l[3] and l[3][version]) and wanted(entry) then visit(task, family:rung(n, task), entry) end
    end
  end
end

local function each_kernel(visit)
  local by_size, sizes = {}, {}
  for _, k in ipairs(corpus.kernels) do
    if not by_size[k.n] then
      by_size[k.n] = {}
      sizes[#sizes + 1] = k.n
    end
    table.insert(by_size[k.n], k)
  end
  for _, n in ipairs(sizes) do
    local task <close> = assert(open(here .. "/model/any.py", { n = n }))
    for _, k in ipairs(by_size[n]) do
      local entry = { class = k.class, name = k.name }
      if wanted(entry) then visit(task, cawb.candidate { name = k.name, source = k.source, plan = k.plan }, entry) end
    end
  end
end

-- ---- one kernel

local function look(task, candidate, entry)
  local ran, message = execute.call(task, candidate, cawb.defaults, { op = "time", warmup = 3, samples = 100, budget = 0.2 },
    "bench", 120.0)
  if not ran or not ran.ok then
    entry.failed = ran and ran.reason or message
    return
  end
  entry.time = stats.summary(ran.samples)
  local p, why = cawb.profile(task, candidate, { metrics = counters })
  if p and p.ok then
    entry.source, entry.bound, entry.note = p.source, p.bound, p.note
    entry.metrics = device.info.modelled and p.metrics or {}
    for _, key in ipairs(counters) do entry.metrics[key] = p.metrics[key] end
    if device.info.modelled then entry.kernels = p.kernels end
  else entry.unprofiled = p and p.reason or why end
end

local out = assert(io.open(path, "wb"))
local function record(task, candidate, entry)
  look(task, candidate, entry)
  entry.device = device.info.model
  out:write(core.json.encode(entry), "\n")
  out:flush()
  io.stderr:write(("%-60s %s\n"):format(entry.name, entry.failed or ("%.2f us"):format(entry.time.median * 1e6)))
end
each_kernel(record)
each_rung(record)
out:close()

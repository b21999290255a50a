-- cawb exec ./program: a CUDA C++ program with its main, unchanged, on a simulated device.

local command = require "cawb.door.command"
local core = require "cawb.core"
local display = require "cawb.base.display"
local job = require "cawb.door.job"
local program = require "cawb.sim.program"

local M = { summary = "a CUDA C++ program with its main, unchanged, on a simulated device" }

M.usage = [[
usage: cawb exec [flags] PROGRAM|SOURCE.cu [its arguments]

  --device sim:h100   on which simulated device (sim:h100)
  --json              one JSON object in place of the page, last on standard output
  --quiet             nothing but what was found

A source is compiled first: by nvcc or, where there is none, by NVRTC and the C++ compiler. A program is one of "nvcc
-cudart shared -lineinfo". It calls a CUDA runtime of cawb's own: its kernels run on the simulated device, its events tell modelled times. Races, stray accesses, reads of memory that nothing has written and wrong copies
are told when it has ended, each with its kernel and line.

exit codes: the program's own; where that is 0: 1 something was found, 3 it needs what the simulated device lacks;
2 wrong usage
]]

-- The flags stand before the program; all that follows it is its own.
local function parse(argv)
  local o, i = { device = "sim:h100" }, 1
  while argv[i] and argv[i]:sub(1, 1) == "-" do
    local name, value = argv[i]:match "^(%-%-%l+)=(.*)$"
    name = name or argv[i]
    if name == "--json" or name == "--quiet" then o[name:sub(3)] = true
    elseif name == "--device" then
      if not value then i, value = i + 1, argv[i + 1] end
      o.device = value
    elseif name ~= "--" then command.wrong(("unknown flag '%s'; those of the program stand behind its name"):format(name)) end
    i = i + 1
    if name == "--" then break end
  end
  if not argv[i] or not o.device then command.wrong "a program is needed: cawb exec my.cu, or cawb exec ./program [arguments]" end
  o.program, o.arguments = argv[i], table.move(argv, i + 1, #argv, 1, {})
  return o
end

-- ---- the page, on standard error: standard output is the program's

local function say(...) io.stderr:write(string.format(...), "\n") end

local parts = { memory = "DRAM", l2 = "L2", l1 = "L1", shared = "shared memory", issue = "instructions", latency = "waiting",
  blocks = "starting blocks", launch = "launching" }

local function bounded_by(bound)
  local most
  for part, s in pairs(bound) do
    if not most or s > bound[most] or s == bound[most] and part < most then most = part end
  end
  return most and parts[most] or "-"
end

local function ratio(a, b) return b > 0 and ("%.1f"):format(a / b) or "-" end

local function print_kernels(r)
  local rows = {}
  for i, k in ipairs(r.kernels) do
    rows[i] = { k.name, ("%d"):format(k.launches), display.time(k.seconds / k.launches), bounded_by(k.bound),
      ratio(k.global_sectors, k.global_requests), ratio(k.shared_wavefronts, k.shared_requests),
      ratio(100 * k.divergent_branches, k.branches) }
  end
  local heads = { "kernel", "launches", "a launch", "bound by", "sectors/access", "passes/shared access", "% divergent" }
  for _, line in ipairs(display.table(heads, rows)) do say("%s", line) end
end

local what = { call = "the program calls %s, which cawb's CUDA runtime does not know; docs/howto/exec.md has what it knows",
  code = "%s", device = "%s" }

local function print_end(r, o)
  for _, f in ipairs(r.found) do say("%s: %s", f.kind, f.text) end
  if r.stopped then say("cawb exec: " .. what[r.stopped.kind], r.stopped.text) end
  if r.signal then
    say("cawb exec: the program was ended by signal %d%s", r.signal, r.signal == 11 and
      ": it may have used a pointer of cudaMalloc on the host" or "")
  elseif not r.model then
    say("cawb exec: the program did not call the CUDA runtime; nvcc -cudart shared makes one that can be caught")
  elseif not o.quiet then
    say("%s", #r.found == 0 and not r.stopped and "nothing was found: no race, no stray access, no read of unwritten memory"
      or ("%d found"):format(#r.found))
  end
end

local function print_page(r, o)
  if not o.quiet and r.model and r.kernels[1] then
    say("\n%s; times are modelled, not measured. All that was asked of the device: %s", r.model, display.time(r.seconds))
    print_kernels(r)
  end
  print_end(r, o)
end

local function code_of(r)
  if r.stopped and (r.status == 0 or r.stopped.kind == "call") then return job.codes.missing end
  if r.status ~= 0 then return r.status end
  if not r.model then return job.codes.missing end
  return #r.found > 0 and 1 or 0
end

function M.main(argv)
  local o = parse(argv)
  local name, _, folder = o.program, nil, nil
  if program.is_source(name) then name, _, folder = command.need(program.build(name, o.device)) end
  local r, message, kind = program.run(name, o.arguments, o.device)
  if folder then program.remove(folder) end
  command.need(r, message, kind)
  if o.json then print(core.json.encode(r)) else print_page(r, o) end
  return code_of(r)
end

return M

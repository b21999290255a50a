-- cawb bench/judge/admission.lua FOLDER [DEVICE] [--ids 1:1,2:3] [--part I/N] [--small] [--json]: do
-- KernelBench's tasks tell right from wrong? Each of FOLDER/dev.jsonl (level, problem_id, name,
-- code; one a line) goes through admission, at full size or, with --small, at one that a CPU
-- can afford; and products in TF32 are named by their errors, on inputs of both signs and on
-- positive ones. --json prints one line a task; `--merge FILE ...` makes the tables of such
-- lines.

local admission = require "cawb.judge.verify.admission"
local cawb = require "cawb"
local core = require "cawb.core"
local options = require "cawb.base.options"
local precision = require "cawb.judge.verify.precision"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
local tasks = require "cawb.judge.task.task"

local words, flags = {}, {}
do
  local i, argv = 1, { ... }
  while i <= #argv do
    local word = argv[i]
    if word == "--ids" or word == "--part" then
      i = i + 1
      flags[word:sub(3)] = argv[i]
    elseif word:sub(1, 2) == "--" then flags[word:sub(3)] = true
    else words[#words + 1] = word end
    i = i + 1
  end
end

-- ---- shapes for a CPU

local most = { batch_size = 4, N = 256, M = 256, K = 256, m = 64, n = 64, k = 256, b = 2, i = 16, j = 16, l = 64, dim = 4096,
  dim1 = 16, dim2 = 16, dim3 = 16, height = 20, width = 20, depth = 8, height_in = 16, width_in = 16, D = 8, H = 16,
  W = 16, length = 256, sequence_length = 16, seq_len = 16, seq_length = 64, in_features = 1024, out_features = 1024,
  input_size = 256, hidden_size = 256, output_size = 64, num_heads = 4, embedding_dimension = 64, num_classes = 100,
  features = 64, feature_size = 64, max_seqlen = 64 }

local function number(text)
  local f = load("return " .. text:gsub("#.*", ""), "=", "t", {})
  local ok, value = pcall(f or error)
  return ok and math.type(value) == "integer" and value or nil
end

local function shrunk(code)
  local set = {}
  local function take(name, text)
    local value = number(text)
    if value and most[name] and value > most[name] then set[name] = most[name] end
  end
  for line in code:gmatch "[^\n]+" do
    local left, right = line:match "^([%a_][%w_, =]-)%s*=%s*([^=]+)$"
    local list = {}
    for value in (right or ""):gsub("#.*", ""):gmatch "[^,]+" do list[#list + 1] = value end
    local at = 0
    for name in (left or ""):gmatch "[%a_][%w_]*" do
      at = at + 1
      take(name, left:find(",", 1, true) and list[at] or right)
      if name == "input_shape" and number(right:match "^%((%d+),%)" or "") then set[name] = { 1024 } end
      if name == "layer_sizes" then set[name] = { 256, 256 } end
      if name == "hidden_layer_sizes" then set[name] = { 128, 128, 128, 128 } end
    end
  end
  return set
end

-- ---- one task

local function named(task, all, case)
  local reply = task:ask { op = "mutants", seed = task.next_seed "bench", case = case, names = { "tf32", "bf16" } }
  if not (reply and reply.mutants.tf32) then return nil end
  local eager, found = reply.mutants.eager[1].nrms, {}
  for _, kind in ipairs { "eager", "tf32", "bf16" } do
    local e = reply.mutants[kind] and reply.mutants[kind][1].nrms
    if e then found[kind] = { nrms = e, class = precision.named(task, case, e, eager, all.verify) or "unnamed" } end
  end
  return found
end

local function look(entry, path, device, host, batch)
  local all = options.copy(cawb.defaults)
  all.deadlines.task = 300
  local task <close>, message, name = tasks.open(path, { device = device, options = all, host = host,
    task = flags.small and shrunk(entry.code) or batch and { batch_size = batch } or {} })
  if not task then return { admitted = false, reason = message, failed = name } end
  local r
  r, message, name = admission.examine(task, all)
  if not r then return { admitted = false, reason = message, failed = name } end
  r.batch = batch
  r.named = { own = named(task, all), mixed = named(task, all, "mixed"), positive = named(task, all, "positive") }
  return r
end

-- At full size; where that does not fit the memory, with half of the batch, and so on.
local function fit(entry, path, device, host)
  local r = look(entry, path, device, host)
  local batch = number(entry.code:match "\nbatch_size%s*=%s*([^\n]+)" or "")
  while batch and batch > 1 and not flags.small and tostring(r.reason):find "out of memory" do
    batch = batch // 2
    r = look(entry, path, device, host, batch)
  end
  return r
end

local function chosen(entry, number_of_line)
  local id = ("%d:%d"):format(entry.level, entry.problem_id)
  if flags.ids and not ("," .. flags.ids .. ","):find("," .. id .. ",", 1, true) then return false end
  local part, parts = (flags.part or "1/1"):match "(%d+)/(%d+)"
  return number_of_line % tonumber(parts) == tonumber(part) - 1
end

-- A folder for the tasks' files, gone with its value.
local function scratch_folder()
  local path = os.tmpname()
  os.remove(path)
  assert(core.fs.mkdir(path))
  return setmetatable({ path = path }, { __close = function() os.execute("rm -rf '" .. path .. "'") end })
end

local function examine_all(folder, device_name, each)
  local device <close> = assert(cawb.device(device_name or "sim:h100"))
  local scratch <close>, line_number = scratch_folder(), 0
  local host
  for line in io.lines(folder .. "/dev.jsonl") do
    local entry = core.json.decode(line)
    line_number = line_number + 1
    if chosen(entry, line_number) then
      if not (host and host[1]:alive()) then host = { assert(python.start(60)) } end
      local path = ("%s/level%d_%d.py"):format(scratch.path, entry.level, entry.problem_id)
      local f = assert(io.open(path, "wb"))
      f:write(entry.code)
      f:close()
      local from = core.clock.now()
      local r = fit(entry, path, device, host)
      r.id, r.name, r.task = ("%d:%d"):format(entry.level, entry.problem_id), entry.name, nil
      r.seconds, r.device, r.small = core.clock.now() - from, device.info.model or device.info.name, flags.small
      each(r)
    end
  end
  if host then host[1]:close() end
end

-- ---- tables

local function by_id(a, b)
  local x, y, z, w = a.id:match "^%d+", a.id:match "%d+$", b.id:match "^%d+", b.id:match "%d+$"
  if x ~= z then return tonumber(x) < tonumber(z) end
  return tonumber(y) < tonumber(w)
end

local function row(r)
  local cells = { r.id, (r.name:gsub("^%d+_", "")):sub(1, 40) }
  for _, protocol in ipairs(admission.protocols) do
    local p = r.protocols and r.protocols[protocol]
    cells[#cells + 1] = p and ("%d of %d"):format(p.killed, p.mutants) or "-"
  end
  local alive = {}
  for _, name in ipairs(admission.mutants) do
    if r.protocols and r.protocols.paper.alive[name] then alive[#alive + 1] = name end
  end
  cells[#cells + 1] = table.concat(alive, " ")
  cells[#cells + 1] = r.admitted and "admitted" .. (r.batch and (", batch %d"):format(r.batch) or "") or (r.reason or "refused"):gsub("^.*%.py:%d+: ", ""):sub(1, 60)
  return cells
end

local function print_naming(list)
  local matrix, lines = 0, {}
  local right = {}
  for _, r in ipairs(list) do
    local n = r.named
    if n and n.mixed and n.mixed.tf32 then
      matrix = matrix + 1
      for _, case in ipairs { "own", "mixed", "positive" } do
        for kind, want in pairs { eager = "float32", tf32 = "tf32", bf16 = "bf16" } do
          local got = n[case] and n[case][kind]
          local key = kind .. " " .. case
          right[key] = right[key] or { 0, 0 }
          right[key][2] = right[key][2] + 1
          if got and got.class == want then right[key][1] = right[key][1] + 1
          elseif kind ~= "bf16" then lines[#lines + 1] = ("  %s %s: %s on %s inputs is called %s (%s)"):format(r.id, r.name, kind, case,
            got and got.class or "nothing", got and ("%.2g"):format(got.nrms) or "no result") end
        end
      end
    end
  end
  print(("\nproducts of %d tasks in TF32, named by their errors (of how many that could be tried):"):format(matrix))
  local rows = {}
  for _, kind in ipairs { "eager", "tf32", "bf16" } do
    local cells = { kind == "eager" and "float32" or kind }
    for _, case in ipairs { "own", "mixed", "positive" } do
      local x = right[kind .. " " .. case] or { 0, 0 }
      cells[#cells + 1] = ("%d of %d"):format(x[1], x[2])
    end
    rows[#rows + 1] = cells
  end
  for _, line in ipairs(display.table({ "named right", "the task's own inputs", "both signs", "positive" }, rows)) do print(line) end
  table.sort(lines)
  for _, line in ipairs(lines) do print(line) end
end

local function print_tables(list)
  table.sort(list, by_id)
  local rows, passing, admitted = {}, { zeros = {}, mean = {}, drop_last = {}, tf32 = {} }, 0
  local totals = {}
  for _, r in ipairs(list) do
    rows[#rows + 1] = row(r)
    admitted = admitted + (r.admitted and 1 or 0)
    for name, ids in pairs(passing) do
      if r.protocols and r.protocols.paper.alive[name] then ids[#ids + 1] = r.id end
    end
    for protocol, p in pairs(r.protocols or {}) do
      totals[protocol] = totals[protocol] or { 0, 0 }
      totals[protocol][1], totals[protocol][2] = totals[protocol][1] + p.killed, totals[protocol][2] + p.mutants
    end
  end
  print(("%d tasks on %s%s, %d admitted; mutants found out of how many, by tolerance"):format(#list, list[1].device,
    list[1].small and " at reduced shapes" or "", admitted))
  for _, line in ipairs(display.table({ "id", "task", "strict", "kernelbench", "paper", "pass at 1e-2", "" }, rows)) do print(line) end
  for _, protocol in ipairs(admission.protocols) do
    local t = totals[protocol] or { 0, 0 }
    print(("all, %s: %d of %d mutants found out (%.1f%%)"):format(protocol, t[1], t[2], 100 * t[1] / math.max(1, t[2])))
  end
  print "\non the task's own inputs there pass at 1e-2:"
  for _, name in ipairs { "zeros", "mean", "drop_last", "tf32" } do
    print(("  %-9s on %d tasks: %s"):format(name, #passing[name], table.concat(passing[name], " ")))
  end
  print_naming(list)
end

local list = {}
if flags.merge then
  for _, path in ipairs(words) do
    for line in io.lines(path) do
      if line:sub(1, 1) == "{" then list[#list + 1] = core.json.decode(line) end
    end
  end
else
  assert(words[1], "usage: cawb bench/judge/admission.lua FOLDER [DEVICE] [--ids 1:1,2:3] [--part I/N] [--small] [--json]")
  examine_all(words[1], words[2], function(r)
    list[#list + 1] = r
    if flags.json then
      print(core.json.encode(r))
      io.stdout:flush()
    else
      io.stderr:write(table.concat(row(r), "  "), ("  %.1f s\n"):format(r.seconds))
    end
  end)
end
if not flags.json then print_tables(list) end

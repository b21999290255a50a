-- compare: two recordings of bench/sim/model.lua against each other, as text.

local core = require "cawb.core"

local function read(path)
  local list, by_name = {}, {}
  for line in assert(io.open(path, "rb")):lines() do
    local entry = core.json.decode(line)
    list[#list + 1], by_name[entry.name] = entry, entry
  end
  return list, by_name
end

-- ---- statistics

local function ranks(values)
  local order, rank = {}, {}
  for i = 1, #values do order[i] = i end
  table.sort(order, function(a, b) return values[a] < values[b] or values[a] == values[b] and a < b end)
  for r, i in ipairs(order) do rank[i] = r end
  return rank
end

local function spearman(x, y)
  local a, b, n, sum = ranks(x), ranks(y), #x, 0
  for i = 1, n do sum = sum + (a[i] - b[i]) ^ 2 end
  return 1 - 6 * sum / (n * (n * n - 1))
end

local function quantile(list, q)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return sorted[math.max(1, math.ceil(q * #sorted))]
end

local function describe(pairs_)
  local measured, modelled, errors = {}, {}, {}
  for i, p in ipairs(pairs_) do
    measured[i], modelled[i], errors[i] = p.measured, p.modelled, math.abs(p.modelled / p.measured - 1)
  end
  return #pairs_, #pairs_ > 2 and spearman(measured, modelled) or 0 / 0, quantile(errors, 0.5), quantile(errors, 0.9)
end

-- ---- times

local function print_row(what, list)
  local n, rho, middle, most = describe(list)
  print(("%-24s %4d   %8s   %6.1f%%   %6.1f%%"):format(what, n,
    n > 2 and ("%.4f"):format(rho) or "-", 100 * middle, 100 * most))
end

local function print_times(list)
  local halves, classes, names = { {}, {} }, {}, {}
  for i, p in ipairs(list) do
    table.insert(halves[1 + (i + 1) % 2], p)
    if not classes[p.class] then
      classes[p.class] = {}
      names[#names + 1] = p.class
    end
    table.insert(classes[p.class], p)
  end
  print "times                       n   Spearman   median |error|   90% of them"
  print_row("all", list)
  print_row("fitted to", halves[1])
  print_row("not fitted to", halves[2])
  for _, class in ipairs(names) do print_row("  " .. class, classes[class]) end
end

-- Measured across, modelled up, both from 2 us to 12 ms, six columns or three rows to a doubling.
local function print_plot(list)
  local least, doublings, cells = 2e-6, 12.6, {}
  local function at(seconds, per) return math.floor(math.log(seconds / least, 2) * per + 0.5) end
  for d = 0, doublings * 6 // 1 do cells[d // 2] = cells[d // 2] or {} end
  for d = 0, doublings * 6 // 1 do cells[d // 2][d] = "." end
  for _, p in ipairs(list) do
    local y, x = at(p.modelled, 3), at(p.measured, 6)
    if cells[y] then cells[y][x] = (cells[y][x] == "o" or cells[y][x] == "O") and "O" or "o" end
  end
  print "\nmodelled, up, against measured, across; o one kernel, O several, the dots are where both are equal"
  for y = doublings * 3 // 1, 0, -1 do
    local row = {}
    for x = 0, doublings * 6 // 1 do row[#row + 1] = cells[y] and cells[y][x] or " " end
    print(("%8.3g us |%s"):format(least * 2 ^ (y / 3) * 1e6, (table.concat(row):gsub("%s+$", ""))))
  end
end

local function parts(bound)
  local list, words = {}, {}
  for part, s in pairs(bound or {}) do list[#list + 1] = { part, s } end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  for i = 1, math.min(3, #list) do words[i] = ("%s %.3g"):format(list[i][1], list[i][2] * 1e6) end
  return table.concat(words, ", ")
end

local function print_kernels(list)
  table.sort(list, function(a, b) return a.modelled / a.measured < b.modelled / b.measured end)
  print(("\n%-58s %-10s %10s %10s %6s  %s"):format("kernel", "class", "measured", "modelled", "ratio", "the longest parts, us"))
  for _, p in ipairs(list) do
    print(("%-58s %-10s %10.1f %10.1f %6.2f  %s"):format(p.name, p.class, p.measured * 1e6, p.modelled * 1e6,
      p.modelled / p.measured, parts(p.bound)))
  end
end

-- ---- counters

local function get(name) return function(m) return m[name] end end
local function per(a, b)
  return function(m) return m[a] and m[b] and m[b] > 0 and m[a] / m[b] or nil end
end
local function plus(a, b) return function(m) return m[a] and m[b] and m[a] + m[b] end end

-- The counter has a percent or two of the wavefronts where no two lanes meet in a bank.
local function conflicts(m, of)
  local n, waves = m["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"], of["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
  local all = of["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
  return n and waves and all > 0.03 * waves and n or nil
end

-- name, how it is read, below what it is not compared, and what is close enough
local counters = {
  { "instructions executed", get "smsp__inst_executed.sum", 1, 0.10 },
  { "the same, by active lanes", get "smsp__thread_inst_executed.sum", 1, 0.10 },
  { "sectors per load", per("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 0, 0.02 },
  { "sectors per store", per("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 0, 0.02 },
  { "bank conflicts (> 3% of wavefronts)", conflicts, 10000, 0.10 },
  { "L1 hits of loads (> 10000)", get "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", 10000, 0.10 },
  { "L2 sectors (> 100000)", get "lts__t_sectors.sum", 100000, 0.15 },
  { "bytes read from DRAM (> 50 MB)", get "dram__bytes_read.sum", 50e6, 0.15 },
  { "bytes of DRAM (> 50 MB)", plus("dram__bytes_read.sum", "dram__bytes_write.sum"), 50e6, 0.15 },
}

local function print_counters(measured, modelled)
  print(("\n%-34s %4s   %14s   %10s   %s"):format("counters", "n", "median |error|", "close", "furthest off"))
  for _, c in ipairs(counters) do
    local errors, close, worst, most = {}, 0, "", -1
    for _, entry in ipairs(measured) do
      local other = modelled[entry.name]
      local a = entry.metrics and c[2](entry.metrics, entry.metrics)
      local b = other and other.metrics and entry.metrics and c[2](other.metrics, entry.metrics)
      if a and b and a > c[3] then
        local e = math.abs(b / a - 1)
        errors[#errors + 1] = e
        if e <= c[4] then close = close + 1 end
        if e > most then most, worst = e, ("%s (%.2f)"):format(entry.name, b / a) end
      end
    end
    if #errors > 0 then
      print(("%-36s %4d   %13.1f%%   %4d <= %2d%%   %s"):format(c[1], #errors, 100 * quantile(errors, 0.5), close,
        math.floor(100 * c[4] + 0.5), worst))
    end
  end
end

-- ---- instructions: of the machine code, as it is counted, and of the PTX

local executed = "smsp__inst_executed.sum"

local function instruction_ratios(measured, modelled)
  local list = {}
  for _, entry in ipairs(measured) do
    local a, b = (entry.metrics or {})[executed], (modelled[entry.name] or {}).metrics or {}
    if a and b[executed] then
      list[#list + 1] = { name = entry.name, class = entry.class, machine = b[executed] / a,
        ptx = (b.warp_instructions or 0) / a }
    end
  end
  return list
end

local function close(list, key, limit)
  local n = 0
  for _, r in ipairs(list) do if math.abs(r[key] - 1) <= limit then n = n + 1 end end
  return n
end

local function print_instructions(list)
  local classes, names = {}, { "all" }
  for _, r in ipairs(list) do
    if not classes[r.class] then
      classes[r.class] = {}
      names[#names + 1] = r.class
    end
    table.insert(classes[r.class], r)
  end
  classes.all = list
  print "\ninstructions, against CUPTI      n   within 0.1%     2%    10%   those of the PTX within 10%"
  for _, name in ipairs(names) do
    local c = classes[name]
    print(("%-28s %6d   %11d %6d %6d   %d"):format(name == "all" and name or "  " .. name, #c, close(c, "machine", 0.001),
      close(c, "machine", 0.02), close(c, "machine", 0.1), close(c, "ptx", 0.1)))
  end
  print(("\n%-58s %-10s %8s %8s"):format("more than 2% off", "class", "counted", "PTX"))
  table.sort(list, function(x, y) return x.machine < y.machine end)
  for _, r in ipairs(list) do
    if math.abs(r.machine - 1) > 0.02 then print(("%-58s %-10s %8.3f %8.2f"):format(r.name, r.class, r.machine, r.ptx)) end
  end
end

return function(measured_path, modelled_path)
  local measured = read(measured_path)
  local _, modelled = read(modelled_path)
  local list = {}
  for _, entry in ipairs(measured) do
    local other = modelled[entry.name]
    if entry.time and other and other.time then
      list[#list + 1] = { name = entry.name, class = entry.class, measured = entry.time.median,
        modelled = other.time.median, bound = other.bound }
    else
      print(("left out: %s: %s"):format(entry.name, entry.failed or other and other.failed or "not modelled"))
    end
  end
  print(("%s (measured) and %s (modelled)\n"):format(measured[1].device, modelled[measured[1].name].device))
  print_times(list)
  print_plot(list)
  print_counters(measured, modelled)
  print_instructions(instruction_ratios(measured, modelled))
  print_kernels(list)
end

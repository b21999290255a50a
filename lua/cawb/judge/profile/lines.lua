-- lines: where the time of a candidate goes, line by line. A GPU's samples of what its
-- warps wait for, or a simulated device's counts of instructions, in one form.

local M = {}

-- NVIDIA's names of a reason, made short: "long_scoreboard"; samples in which no warp
-- could issue are counted once more under a name that ends so.
local function plain(reason)
  local name = reason:match "issue_stalled_(.+)$" or reason:match "^smsp__pcsamp_(.+)$" or reason
  local short = name:match "^(.*)_not_issued$"
  return short or name, short ~= nil
end

local function texts(source)
  local list = {}
  for line in (source .. "\n"):gmatch "(.-)\r?\n" do list[#list + 1] = line end
  return list
end

local function more(a, b)
  if a.samples ~= b.samples then return a.samples > b.samples end
  return (a.reason or a.line) < (b.reason or b.line)
end

local function digest_line(one, lines, kernel)
  local file = one.file:match "[^/]*$"
  local d = { kernel = kernel, file = file, line = one.line, samples = 0, idle = 0, stalls = {}, traffic = one.traffic,
              text = file == "kernel.cu" and lines[one.line] and lines[one.line]:match "^%s*(.-)%s*$" or nil }
  for reason, samples in pairs(one.reasons) do
    local name, idle = plain(reason)
    if idle then
      d.idle = d.idle + samples
    else
      d.samples = d.samples + samples
      d.stalls[#d.stalls + 1] = { reason = name, samples = samples }
    end
  end
  table.sort(d.stalls, more)
  return d
end

-- Each reason's share of all samples, the largest first.
local function sum_up(lines, total)
  local sums, list = {}, {}
  for _, l in ipairs(lines) do
    for _, s in ipairs(l.stalls) do sums[s.reason] = (sums[s.reason] or 0) + s.samples end
  end
  for reason, samples in pairs(sums) do
    list[#list + 1] = { reason = reason, samples = samples, share = total > 0 and samples / total or 0 }
  end
  table.sort(list, more)
  return list
end

--- A worker's sampling, made whole: { lines = { { kernel =, file =, line =, text =, samples =,
--- share =, traffic = requests to memory, of a simulated device, idle = samples in which no warp issued, stalls = { { reason =, samples = }, ... } },
--- ... } with the most first, stalls = the same over all, samples =, unit =, runs =, dropped =,
--- total = with those of other = code that is nobody's, period = 2 to this power clocks,
--- note = why there are none }. `names` has kernels' names in the source, by those in
--- the compiled text.
function M.digest(sampling, source, names)
  local all, total, text = {}, 0, texts(source)
  for _, one in ipairs(sampling.lines) do
    local d = digest_line(one, text, names[one.kernel] or one.kernel)
    if d.samples > 0 then
      all[#all + 1], total = d, total + d.samples
    end
  end
  table.sort(all, more)
  for _, d in ipairs(all) do d.share = d.samples / total end
  return { lines = all, stalls = sum_up(all, total), samples = total, unit = sampling.unit,
           runs = sampling.runs, dropped = sampling.dropped, total = sampling.total,
           other = sampling.other, period = sampling.period, note = sampling.note }
end

return M

-- stats: order statistics of timing samples. No assumption about their shape.

local M = {}

local function at(sorted, q)             -- linear interpolation between ranks
  local pos = 1 + (#sorted - 1) * q
  local low = math.floor(pos)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (sorted[high] - sorted[low]) * (pos - low)
end

--- The q-quantile of a list, 0 <= q <= 1.
function M.quantile(list, q)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return at(sorted, q)
end

--- { median, lo, hi, samples }: the median and its 95% confidence interval from
--- order statistics: ranks n/2 -+ 0.98 sqrt(n), the normal approximation of the
--- binomial. With fewer than six samples the interval is their whole range.
function M.summary(list)
  local n = #list
  if n == 0 then return nil end
  local sorted = table.move(list, 1, n, 1, {})
  table.sort(sorted)
  local half = 0.98 * math.sqrt(n)
  local lo = n < 6 and 1 or math.max(1, math.floor(n / 2 - half))
  local hi = n < 6 and n or math.min(n, math.ceil(1 + n / 2 + half))
  return { median = at(sorted, 0.5), lo = sorted[lo], hi = sorted[hi], samples = n }
end

--- How many times faster b is than a, from two summaries: { median, lo, hi }.
--- The interval takes the far ends of both, so it covers at least 95%.
function M.speedup(a, b)
  return { median = a.median / b.median, lo = a.lo / b.hi, hi = a.hi / b.lo }
end

return M

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

-- The rank whose order statistics enclose the median with at most this error: the
-- largest k with 2 P(Binomial(n, 1/2) < k) <= error_rate; 0 where n is too small.
local function rank(n, error_rate)
  local k, term, below = 0, 0.5 ^ n, 0.0
  while 2 * (below + term) <= error_rate and 2 * k < n do
    below = below + term
    k = k + 1
    term = term * (n - k + 1) / k
  end
  return k
end

--- The median of paired ratios, one a round, with an interval that misses at most
--- at `error_rate` whatever their distribution: { median, lo, hi, rounds }. With too
--- few rounds for that (eight, for 0.01) lo and hi are 0 and infinity.
function M.paired(ratios, error_rate)
  local sorted = table.move(ratios, 1, #ratios, 1, {})
  table.sort(sorted)
  local n = #sorted
  local k = rank(n, error_rate)
  return { median = at(sorted, 0.5), rounds = n, lo = k > 0 and sorted[k] or 0.0,
           hi = k > 0 and sorted[n + 1 - k] or math.huge }
end

--- How often each of two has to be timed, in turns, so that all times of one lie above all of
--- the other's by chance at most at `error_rate`: 2 / C(2n, n). Five, for 0.01.
function M.apart_needs(error_rate)
  local n, chance = 1, 1.0
  while chance > error_rate do
    n = n + 1
    chance = chance * n / (2 * (2 * n - 1))
  end
  return n
end

--- How many times faster b is than a, from all that was seen of both: { lo, hi }, the far ends
--- of their ranges. It excludes 1 only where no time of one reaches into the other's.
function M.apart(a, b)
  return { lo = M.quantile(a, 0) / M.quantile(b, 1), hi = M.quantile(a, 1) / M.quantile(b, 0) }
end

--- When to look at paired ratios, and what error each look may make, so that all looks
--- together make at most `error_rate`: looking after every round until the answer is
--- welcome would make far more. The first look comes as soon as four fifths of the error
--- allow an interval; then the number of rounds doubles, up to `rounds`. Returns a list of
--- { at = rounds, error = rate }.
function M.looks(rounds, error_rate)
  local first = 1
  while first < rounds and rank(first, 0.8 * error_rate) == 0 do first = first + 1 end
  local list, at = { { at = first, error = 0.8 * error_rate } }, first
  while at < rounds do
    at = math.min(2 * at, rounds)
    list[#list + 1] = { at = at }
  end
  for i = 2, #list do list[i].error = 0.2 * error_rate / (#list - 1) end
  return list
end

--- "faster", "slower", "same" (within 1 +- margin) or "undecided", from an interval.
--- What is nearer to 1 than the margin is never called faster or slower.
function M.verdict(s, margin)
  if not (s.lo <= s.hi) or s.hi == math.huge then return "undecided" end
  if s.lo >= 1 - margin and s.hi <= 1 + margin then return "same" end
  if s.lo > 1 and s.median > 1 + margin / 2 then return "faster" end
  if s.hi < 1 and s.median < 1 - margin / 2 then return "slower" end
  return "undecided"
end

return M

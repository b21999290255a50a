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

-- P(|T| < t) of Student's distribution with a whole number of degrees of freedom (a finite sum).
local function within(t, df)
  local angle = math.atan(t / math.sqrt(df))
  local square, term, sum = math.cos(angle) ^ 2, 1.0, 0.0
  if df % 2 == 0 then
    for k = 0, df - 2, 2 do
      sum, term = sum + term, term * square * (k + 1) / (k + 2)
    end
    return math.sin(angle) * sum
  end
  for k = 1, df - 2, 2 do
    sum, term = sum + term, term * square * (k + 1) / (k + 2)
  end
  return 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * sum)
end

-- The chance of at most `count` of `n`, each with the chance p.
local function at_most(count, n, p)
  local term, sum = n * math.log(1 - p), 0.0
  for k = 0, count do
    sum = sum + math.exp(term)
    term = term + math.log((n - k) / (k + 1)) + math.log(p / (1 - p))
  end
  return sum
end

-- Where a function of 0 to 1 that falls goes through a value.
local function crossing(f, value)
  local lo, hi = 0.0, 1.0
  for _ = 1, 60 do
    local middle = (lo + hi) / 2
    if f(middle) > value then lo = middle else hi = middle end
  end
  return (lo + hi) / 2
end

--- The share that `count` of `n` independent cases make, with an interval that misses at most at `error_rate`
--- whatever the share is (Clopper and Pearson): { share, lo, hi }.
function M.share(count, n, error_rate)
  local rate = (error_rate or 0.05) / 2
  local lo = count == 0 and 0.0 or crossing(function(p) return at_most(count - 1, n, p) end, 1 - rate)
  local hi = count == n and 1.0 or crossing(function(p) return at_most(count, n, p) end, rate)
  return { share = count / n, lo = lo, hi = hi }
end

--- What a mean lies away from the truth at most, in its own estimated deviations, but for this share
--- of cases: Student's quantile. Infinity without a degree of freedom.
function M.student(error_rate, df)
  if df < 1 then return math.huge end
  local lo, hi = 0.0, 1e9
  for _ = 1, 200 do
    local mid = (lo + hi) / 2
    if within(mid, df) < 1 - error_rate then lo = mid else hi = mid end
  end
  return hi
end

--- How many times faster the second of two groups of processes is, each process given by all that
--- was seen of it: { median, lo, hi, processes }. A process has a speed of its own (where its memory
--- lies, which processor it had), so that the processes are what was drawn, not their calls. `others`
--- are groups that say how much processes differ, too. Without two of any kind nothing is known.
function M.between(a, b, error_rate, others)
  local function logs(group)
    local list, mean = {}, 0.0
    for i, times in ipairs(group) do list[i] = math.log(M.quantile(times, 0.5)) end
    for _, y in ipairs(list) do mean = mean + y / #list end
    return list, mean
  end
  local squares, df, means = 0.0, 0, {}
  for i, group in ipairs { a, b, table.unpack(others or {}) } do
    local list, mean = logs(group)
    means[i], df = mean, df + #list - 1
    for _, y in ipairs(list) do squares = squares + (y - mean) ^ 2 end
  end
  local ratio = math.exp(means[1] - means[2])
  local wide = df > 0 and M.student(error_rate, df) * math.sqrt(squares / df * (1 / #a + 1 / #b)) or math.huge
  return { median = ratio, lo = ratio * math.exp(-wide), hi = ratio * math.exp(wide), processes = math.min(#a, #b) }
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

--- A speed-up of this much more than 1 counts in rewards, reports and promotions; 5%, as in "CUDA Agent". A modelled time
--- can hardly tell less apart.
M.margin = 0.05

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

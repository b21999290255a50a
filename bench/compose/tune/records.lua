-- Records of what was drawn (bench/compose/tune.lua): for each kernel of a task's own schedule its options and its time, as a share of
-- that with none. Only schedules of the same kernels count: what a cut or a rewrite changes is another kernel.

local compose = require "cawb.compose"
local core = require "cawb.core"
local records = require "cawb.compose.tune.records"

local LEAST = 0.002        -- what changes less is the same kernel, or as good as that

local function rounded(x) return math.floor(x * 1000 + 0.5) / 1000 end

-- The results of one way of drawing in a task, added to those of each kernel by its number.
local function add(tried, line, asked, seen)
  local first = asked[1][3]
  for k = 2, #asked do
    local s, times = compose.schedule.parse(asked[k][1]), asked[k][3]
    if times and not s.cuts and not s.skip and #times == #first then
      for n, kernel in ipairs(line.kernels or {}) do
        local own = (s.kernels or {})[kernel.key] or {}
        local key = n .. records.text(own)
        local tells = first[n] > 0 and math.abs(math.log(times[n] / first[n])) > LEAST
        if next(own) and not seen[key] and tells then
          seen[key] = true
          tried[n] = tried[n] or {}
          table.insert(tried[n], { own = own, change = rounded(math.log(times[n] / first[n])) })
        end
      end
    end
  end
end

return function(paths)
  for _, path in ipairs(paths) do
    for text in io.lines(path) do
      local line, seen, tried = core.json.decode(text), {}, {}
      for _, name in ipairs { "random", "uniform" } do
        for _, asked in ipairs(line[name]) do add(tried, line, asked, seen) end
      end
      for n, kernel in ipairs(line.kernels or {}) do
        if tried[n] then io.write(records.line(kernel.about, tried[n], line.task)) end
      end
    end
  end
end

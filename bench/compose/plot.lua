-- plot: speed-up against error over a suite, a dot a task, as an SVG, out of the tables that `cawb report --markdown` printed.
--   cawb bench/compose/plot.lua bench/results/compose/compose_h200.md bench/results/compose/compose_h200.svg
-- Nothing is typed in: dots, counts, the mean and the words about the machine come from that file.

local file = require "cawb.base.file"

local wide, high = 760, 420
local left, right, top, bottom = 92, 744, 64, 364
local colours = { ["1"] = "#2f6fbf", ["2"] = "#c2571a", ["3"] = "#3d8b40" }

-- "1.37x +-0.009" is 1.37.
local function times(cell) return tonumber((cell:match "^([%d.e+-]+)x")) end

-- A long name is cut where the report tells what is suspicious.
local function told(names, name)
  for _, one in ipairs(names) do if name:sub(1, #one) == one then return true end end
  return false
end

--- The rows of tasks that passed: { name, level, speedup = over the better of eager and compile, error, suspicious }; and how
--- many tasks the tables have.
local function read(text)
  local suspicious, rows, all = {}, {}, 0
  for name in text:gmatch "%*%*Suspicious, in no average:%*%* ([^:]+):" do suspicious[#suspicious + 1] = name end
  for name, verdict, eager, compile, err in text:gmatch "\n| ([123]/[^|]-) | [^|]- | ([^|]-) | [^|]- | ([^|]-) | ([^|]-) | ([^|]-) |" do
    all = all + 1
    local a, b = times(eager), times(compile)
    if verdict == "pass" and a and b then
      rows[#rows + 1] = { name = name, level = name:sub(1, 1), speedup = math.min(a, b), error = tonumber(err),
        suspicious = told(suspicious, name) }
    end
  end
  return rows, all
end

local function scale(from, to, low, high_)
  local a, b = math.log(low), math.log(high_)
  return function(v) return from + (math.log(math.min(math.max(v, low), high_)) - a) / (b - a) * (to - from) end
end

local least = 1e-8                                     -- errors below it, 0 among them, stand at the left edge
local x = scale(left, right, least, 1e-5)
local y = scale(bottom, top, 0.25, 16)

local function escaped(text) return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;")) end

local function text(at_x, at_y, words, more)
  return ('<text x="%.1f" y="%.1f" %s>%s</text>'):format(at_x, at_y, more or "", escaped(words))
end

local function axes(out)
  for _, v in ipairs { 0.25, 0.5, 1, 2, 4, 8, 16 } do
    out[#out + 1] = ('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" class="%s"/>'):format(left, right, y(v), y(v), v == 1 and "one" or "grid")
    out[#out + 1] = text(left - 8, y(v) + 4, (v == 16 and "%gx and more" or "%gx"):format(v), 'text-anchor="end"')
  end
  for power = -8, -5 do
    out[#out + 1] = text(x(10.0 ^ power), bottom + 18, power == -8 and "1e-8 or less" or ("1e%d"):format(power), 'text-anchor="middle"')
  end
  out[#out + 1] = text((left + right) / 2, bottom + 38, "error against float64 (root mean square, relative)", 'text-anchor="middle"')
end

local function dot(row)
  local look = row.suspicious and ('fill="none" stroke="%s"'):format(colours[row.level]) or ('fill="%s" fill-opacity="0.75"'):format(colours[row.level])
  return ('<circle cx="%.1f" cy="%.1f" r="3.6" %s><title>%s: %.2fx, error %s</title></circle>'):format(x(row.error or 0), y(row.speedup),
    look, escaped(row.name), row.speedup, row.error and ("%.1e"):format(row.error) or "none, it is an index")
end

local function legend(out, rows)
  local at, some = left, false
  for _, level in ipairs { "1", "2", "3" } do
    local n = 0
    for _, row in ipairs(rows) do if row.level == level then n = n + 1 end end
    out[#out + 1] = ('<circle cx="%d" cy="46" r="4" fill="%s"/>'):format(at + 4, colours[level])
    out[#out + 1] = text(at + 14, 50, ("level %s (%d)"):format(level, n))
    at = at + 100
  end
  for _, row in ipairs(rows) do some = some or row.suspicious end
  if some then
    out[#out + 1] = ('<circle cx="%d" cy="46" r="4" fill="none" stroke="#777"/>'):format(at + 4)
    out[#out + 1] = text(at + 14, 50, "hollow: suspicious, in no mean")
  end
end

-- Over those that are not suspicious, and how many they are.
local function mean(rows)
  local sum, n = 0.0, 0
  for _, row in ipairs(rows) do
    if not row.suspicious then sum, n = sum + math.log(row.speedup), n + 1 end
  end
  return math.exp(sum / n), n
end

local style = [[<style>text{font:12px sans-serif;fill:#666}.head{font-size:14px;font-weight:bold}.grid{stroke:#999;stroke-opacity:.25}
.one{stroke:#999;stroke-width:1.5}@media (prefers-color-scheme:dark){text{fill:#aaa}}</style>]]

--- The picture of a result file's text.
local function draw(source)
  local rows, all = read(source)
  assert(#rows > 0, "the file has no table of tasks that passed")
  local out = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">'):format(wide, high), style }
  out[#out + 1] = text(left, 24, "times as fast as the better of eager PyTorch and torch.compile", 'class="head"')
  out[#out + 1] = text(left, high - 2, ("%d of %d tasks; geometric mean %.2fx of %d"):format(#rows, all, mean(rows)))
  legend(out, rows)
  axes(out)
  for _, row in ipairs(rows) do out[#out + 1] = dot(row) end
  local machine = source:match "\ncawb [^,]*,? ?%b()[^,]*, (.-), driver" or source:match "\ncawb (.-), driver" or ""
  out[#out + 1] = text(right, high - 2, machine, 'text-anchor="end"')
  out[#out + 1] = "</svg>\n"
  return table.concat(out, "\n")
end

local from, to = ...
if not from or not to then
  io.stderr:write "usage: cawb bench/compose/plot.lua RESULT.md PICTURE.svg\n"
  return 2
end
local source, message = file.read(from)
if not source then
  io.stderr:write(message, "\n")
  return 2
end
assert(file.write(to, draw(source)))

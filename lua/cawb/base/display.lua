-- display: times, speed-ups and tables as a person reads them.

local M = {}

local units = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" } }

-- Three digits; a whole number from a thousand on, where %g would begin to speak of powers.
local function digits(x) return (x >= 999.5 and "%.0f" or "%.3g"):format(x) end

--- Seconds as a person reads them: "4.21 us".
function M.time(s)
  if not s then return "-" end
  for _, u in ipairs(units) do
    if s >= u[1] or u[1] == 1e-9 then return digits(s / u[1]) .. " " .. u[2] end
  end
end

--- "4.21 [4.18, 4.25] us", in the unit of the median; "4.21 us" of a single value,
--- which has no interval.
function M.interval(t)
  if not t then return "-" end
  if t.samples == 1 then return M.time(t.median) end
  for _, u in ipairs(units) do
    if t.median >= u[1] or u[1] == 1e-9 then
      return ("%s [%s, %s] %s"):format(digits(t.median / u[1]), digits(t.lo / u[1]), digits(t.hi / u[1]), u[2])
    end
  end
end

--- A number with one digit, never less than it was: 0.034 is "0.04".
function M.round_up(x)
  if not (x > 0) or x == math.huge then return tostring(x) end
  local step = 10.0 ^ math.floor(math.log(x, 10))
  return ("%.1g"):format(math.ceil(x / step - 1e-9) * step)
end

--- "1.32x +-0.03": the far side of the interval, so that it is never too narrow;
--- "1.32x" where both times are single values; "1.32x (too few rounds)" without an interval.
function M.speedup(s)
  if not s then return "-" end
  local text = (s.median < 0.1 and "%.2gx" or "%.2fx"):format(s.median)
  if not s.hi then return text .. " (too few rounds)" end
  if s.lo == s.hi then return text end
  return ("%s +-%s"):format(text, M.round_up(math.max(s.median - s.lo, s.hi - s.median)))
end

--- `text` in at most `width` characters, with "..." where some are missing.
function M.shorten(text, width)
  if #text <= width then return text end
  return text:sub(1, math.max(1, width - 3)) .. "..."
end

--- `text` as UTF-8 without NULs, which records and endpoints want: any other byte is '?'.
function M.utf8(text)
  if not text:find("\0", 1, true) and utf8.len(text) then return text end
  return (text:gsub("[\0\128-\255]", "?"))
end

--- Rows of text under headings, columns as wide as their widest cell.
function M.table(headings, rows)
  local widths = {}
  for _, row in ipairs { headings, table.unpack(rows) } do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
  end
  local lines = {}
  for _, row in ipairs { headings, table.unpack(rows) } do
    local cells = {}
    for i, cell in ipairs(row) do
      cells[i] = cell .. (" "):rep(widths[i] - (utf8.len(cell) or #cell))
    end
    lines[#lines + 1] = (table.concat(cells, "  "):gsub("%s+$", ""))
  end
  return lines
end

return M

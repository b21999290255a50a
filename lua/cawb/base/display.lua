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

--- "1 turn", "2 turns".
function M.count(n, one, many) return ("%d %s"):format(n, n == 1 and one or many or one .. "s") end

--- "1 reply, 0.5k tokens": what was had of a model.
function M.replies(n, tokens) return ("%s, %.4gk tokens"):format(M.count(n, "reply", "replies"), tokens / 1000) end

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

--- `text` as lines of at most `width` characters, broken between words; further lines begin with `indent`. A word that
--- is wider is broken within.
function M.wrap(text, width, indent)
  if #text <= width then return { text } end
  local lines, line = {}, ""
  local function push()
    lines[#lines + 1] = line:gsub("%s+$", "")
    line = indent
  end
  for gap, word in text:gmatch "(%s*)(%S+)" do
    if #line + #gap + #word > width and line:find "%S" then
      push()
      gap = ""
    end
    line = line .. gap .. word
    while #line > width do
      local most = width
      while most > #indent + 1 and line:byte(most + 1) >= 0x80 and line:byte(most + 1) < 0xC0 do most = most - 1 end
      lines[#lines + 1] = line:sub(1, most)
      line = indent .. line:sub(most + 1)
    end
  end
  if line:find "%S" then push() end
  return lines
end

local function widest(lines)
  local most = 0
  for _, line in ipairs(lines) do most = math.max(most, utf8.len(line) or #line) end
  return most
end

-- A row as a title and lines "heading  cell", for what is too narrow for a table. What says nothing is left out.
local function record(headings, row, width, lines)
  for i, cell in ipairs(row) do
    local heading = i > 1 and cell ~= "-" and cell ~= "" and ("  %s  %s"):format(headings[i], cell)
    if i == 1 then lines[#lines + 1] = M.shorten((("%s %s"):format(headings[1], cell):gsub("^%s+", "")), width)
    elseif heading then table.move(M.wrap(heading, width, "    "), 1, width, #lines + 1, lines) end
  end
end

--- Rows as a table where `width` (nil: any) has room for it, at first with the cells of column `long` shortened, to no
--- less than 16 characters; else each row as a few lines.
function M.records(headings, rows, width, long)
  local lines = M.table(headings, rows)
  local over = width and widest(lines) - width or 0
  if over <= 0 then return lines end
  local most = #headings[long]
  for _, row in ipairs(rows) do most = math.max(most, #row[long]) end
  if most - over >= 16 then
    local shorter = {}
    for i, row in ipairs(rows) do
      shorter[i] = table.move(row, 1, #row, 1, {})
      shorter[i][long] = M.shorten(row[long], most - over)
    end
    return M.table(headings, shorter)
  end
  lines = {}
  for _, row in ipairs(rows) do record(headings, row, width, lines) end
  return lines
end

return M

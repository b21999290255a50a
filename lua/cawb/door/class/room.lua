-- room: who is in a class, and what each has done: turns in the order in which they ended, told as a scoreboard. They are kept in a file of
-- JSON Lines, from which a room that was closed goes on.

local core = require "cawb.core"

local M = {}

local Room = {}
Room.__index = Room

local longest_name = 24

--- A name that can stand on the board; or nil and why not.
function M.name(text)
  text = type(text) == "string" and text:gsub("%c", " "):gsub("^%s+", ""):gsub("%s+$", "") or ""
  if text == "" then return nil, "a name is needed: --name NAME" end
  if #text > longest_name then return nil, ("a name has at most %d bytes"):format(longest_name) end
  return text
end

local function student(self, name)
  local s = self.by[name]
  if s then return s end
  s = { name = name, turns = 0, races = 0, solved = {}, cheats = {}, passed = 0 }
  self.by[name], self.list[#self.list + 1] = s, s
  return s
end

-- What a turn changes on the board. Of a solved exercise the shortest time stays.
local function count(self, turn)
  local s, key = student(self, turn.name), tostring(turn.exercise)
  s.turns, s.last = s.turns + 1, turn.headline
  if turn.races then s.races = s.races + 1 end
  if turn.cheat then
    if turn.caught then table.insert(s.cheats, { exercise = turn.exercise, rule = turn.caught }) else s.passed = s.passed + 1 end
  elseif turn.solved and (not s.solved[key] or turn.seconds < s.solved[key]) then
    s.solved[key] = turn.seconds
  end
end

local function number_of(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

--- Enter a turn: { name =, exercise =, headline =, races = were any found?, solved =, seconds =, or cheat = true and caught = by what }.
function Room:enter(turn)
  count(self, turn)
  if self.file then self.file:write(core.json.encode(turn), "\n") self.file:flush() end
end

--- The board: students in the order of exercises solved, then of cheats that were caught by different rules, then of races.
function Room:board()
  local rows = core.json.array {}
  for i, s in ipairs(self.list) do
    rows[i] = { name = s.name, turns = s.turns, races = s.races, solved = next(s.solved) and s.solved or nil, count = number_of(s.solved),
                cheats = core.json.array { table.unpack(s.cheats) }, passed = s.passed, last = s.last }
  end
  table.sort(rows, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    if #a.cheats ~= #b.cheats then return #a.cheats > #b.cheats end
    return a.name < b.name
  end)
  return rows
end

--- A room that keeps its turns in the file at `path`, and knows those that are there; or nil, message, name.
function M.open(path)
  local self = setmetatable({ by = {}, list = {} }, Room)
  if not path then return self end
  local old = io.open(path)
  for line in old and old:lines() or function() end do
    local turn = core.json.decode(line)
    if turn then count(self, turn) end
  end
  if old then old:close() end
  local file, message = io.open(path, "a")
  if not file then return nil, message, "io" end
  self.file = file
  return self
end

return M

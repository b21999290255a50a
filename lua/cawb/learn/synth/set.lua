-- set: a set of synthesised tasks in a store. A row for each draw, added when all is known of it, so that
-- any end of the process loses at most the draw under way. A row's number is the draw's; what is
-- drawn follows from the set's seed and that number alone.

local core = require "cawb.core"

local M = {}

local Set = {}
Set.__index = Set

local decode, encode = core.json.decode, core.json.encode

-- Which of two descriptions differ, as words.
local function differences(was, now)
  local list = {}
  for key, value in pairs(now) do
    if encode { value } ~= encode { was[key] } then list[#list + 1] = ("%s (%s there, %s now)"):format(key, tostring(was[key]), tostring(value)) end
  end
  table.sort(list)
  return table.concat(list, ", ")
end

--- The set in a folder: { store =, id =, about = }, or nil, message, name. `about` says what it is drawn from; a folder holds one
--- set. Without `about` the one that is there.
function M.open(folder, about)
  local store, message, name = core.store.open(folder)
  if not store then return nil, message, name end
  local rows = store:query "SELECT id, json FROM synth_sets"
  local self = setmetatable({ store = store, folder = folder }, Set)
  if not about then
    if not rows[1] then return nil, folder .. ": there is no set of tasks in it", "usage" end
    self.id, self.about = rows[1].id, decode(rows[1].json)
    return self
  end
  self.id, self.about = core.hash.sha256(encode(about)):sub(1, 16), about
  for _, row in ipairs(rows) do
    if row.id ~= self.id then
      return nil, ("%s holds a set that is drawn otherwise: %s; take another --out, or the flags that it was begun with")
        :format(folder, differences(decode(row.json), about)), "usage"
    end
  end
  local ok
  ok, message, name = store:insert("synth_sets", { id = self.id, json = encode(about) })
  if not ok then return nil, message, name end
  return self
end

function Set:close() self.store:close() end
Set.__close = Set.close

--- The numbers that have a row, as a set.
function Set:numbers()
  local there = {}
  for _, row in ipairs(self.store:query("SELECT number FROM synth_draws WHERE synth = ?", self.id)) do there[row.number] = true end
  return there
end

--- Add the row of a draw: { status =, reason =, graph =, code = text, data = }. Returns true, or nil, message, name.
function Set:add(number, row)
  local hash, message, name
  if row.code then
    hash, message, name = self.store:artifact(row.code)
    if not hash then return nil, message, name end
  end
  return self.store:insert("synth_draws", { synth = self.id, number = number, status = row.status, reason = row.reason,
    graph = row.graph, code = hash, json = encode(row.data or {}) })
end

--- Whether a kept task has this graph: its number, or nil.
function Set:graph(key)
  local row = self.store:query("SELECT min(number) AS n FROM synth_draws WHERE synth = ? AND status = 'kept' AND graph = ?",
    self.id, key)[1]
  return row and row.n
end

--- All rows in the order of their numbers, `data` decoded. Of kept tasks with the same graph, as two shards may have
--- them, the first is kept; the others have the status "duplicate".
function Set:rows()
  local list, seen = self.store:query("SELECT * FROM synth_draws WHERE synth = ? ORDER BY number", self.id), {}
  for _, row in ipairs(list) do
    row.data = decode(row.json or "{}")
    if row.status == "kept" then
      if seen[row.graph] then row.status, row.reason = "duplicate", ("of draw %d"):format(seen[row.graph]) end
      seen[row.graph] = seen[row.graph] or row.number
    end
  end
  return list
end

--- How many tasks are kept.
function Set:kept()
  return self.store:query("SELECT count(DISTINCT graph) AS n FROM synth_draws WHERE synth = ? AND status = 'kept'", self.id)[1].n
end

--- What teaches the kept tasks, by number, decoded.
function Set:texts()
  local found = {}
  for _, row in ipairs(self.store:query("SELECT number, json FROM synth_texts WHERE synth = ?", self.id)) do found[row.number] = decode(row.json) end
  return found
end

--- Numbers of tasks that have been taught, as a set.
function Set:taught()
  local there = {}
  for _, row in ipairs(self.store:query("SELECT number FROM synth_texts WHERE synth = ?", self.id)) do there[row.number] = true end
  return there
end

--- Add what teaches a task. Returns true, or nil, message, name.
function Set:teach(number, data) return self.store:insert("synth_texts", { synth = self.id, number = number, json = encode(data) }) end

--- The text of a kept row's file.
function Set:code(row) return self.store:read(row.code) end

return M

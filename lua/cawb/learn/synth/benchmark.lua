-- benchmark: the tasks that a set must have nothing in common with: their operator graphs, and their sources for
-- comparing syntax trees. Reading the graphs of a few hundred takes a minute, so they are kept in the cache.

local cache = require "cawb.base.cache"
local core = require "cawb.core"
local file = require "cawb.base.file"
local graphs = require "cawb.learn.synth.graphs"
local suite = require "cawb.suite.suite"
local wire = require "cawb.base.wire"

local M = {}

-- Graphs of one task, or why it has none.
local function graph_of(maker, task, folder)
  local path = ("%s/%s.py"):format(folder, task.hash:sub(1, 16))
  local ok, message, name = file.write(path, task.code)
  if not ok then return nil, message, name end
  local sketch
  sketch, message, name = maker:ask { op = "sketch", path = wire.path(path), overrides = task.overrides or {}, init_seed = 42 }
  os.remove(path)
  if sketch then return graphs.of(sketch).key end
  return nil, message, name
end

local function read_all(maker, list, folder, say)
  local found = { graphs = {}, unreadable = 0 }
  for i, task in ipairs(list) do
    local key, message, name = graph_of(maker, task, folder)
    if name == "interrupted" or name == "missing" then return nil, message, name end
    if key then found.graphs[key] = found.graphs[key] or task.key
    else found.unreadable = found.unreadable + 1 end
    if i % 50 == 0 then say(("%d of %d graphs of the benchmark"):format(i, #list)) end
  end
  return found
end

local function sources_of(list, path)
  local lines = {}
  for i, task in ipairs(list) do lines[i] = core.json.encode { name = task.key, code = task.code } end
  return file.replace(path, table.concat(lines, "\n") .. "\n")
end

--- A benchmark from a suite's file: { graphs = { key = task }, unreadable = tasks without a graph, tasks = how many, hash =,
--- sources = path of its sources for the host }, or nil, message, name. `maker` asks the task host.
function M.open(path, maker, folder, torch, say)
  local list, message, name = suite.load(path)
  if not list then return nil, message, name end
  local hashes = {}
  for i, task in ipairs(list) do hashes[i] = task.hash end
  local hash = core.hash.sha256(table.concat(hashes, " "))
  local key = core.hash.sha256("graphs 1 " .. torch .. " " .. hash)
  local found = cache.get("synth", key)
  if not found then
    found, message, name = read_all(maker, list, folder, say)
    if not found then return nil, message, name end
    cache.put("synth", key, found)             -- a cache that cannot be written costs a minute the next time
  end
  found.hash, found.tasks, found.sources = hash:sub(1, 16), #list, folder .. "/benchmark.jsonl"
  local ok
  ok, message, name = sources_of(list, found.sources)
  if not ok then return nil, message, name end
  return found
end

--- A task beside a benchmark: { status, reason } of the filter that it does not pass, or without these; similarity and nearest, where syntax
--- trees were compared. Or nil, message, name. `key`: of its graph, `code`: its file's text, `most`: a similarity that is too much.
function M.check(found, maker, key, code, most)
  if found.graphs[key] then return { status = "benchmark", reason = found.graphs[key] } end
  local near, message, name = maker:ask { op = "synth_nearest", code = code, sources = found.sources }
  if not near then return nil, message, name end
  local similar = not (near.ratio < most)
  return { status = similar and "similar" or nil, reason = similar and ("%.2f, %s"):format(near.ratio, near.name) or nil,
           similarity = near.ratio, nearest = near.name }
end

--- The same of all kept rows of a set that was drawn without a benchmark: those that have something in common with it are kept no more.
--- Returns true, or nil, message, name.
function M.leave_out(found, maker, set, rows, most, say)
  for i, row in ipairs(rows) do
    if row.status == "kept" then
      local r, message, name = M.check(found, maker, row.graph, set:code(row), most)
      if not r then return nil, message, name end
      row.status, row.reason = r.status or row.status, r.reason
      row.data.ast_similarity, row.data.nearest = r.similarity, r.nearest
      if r.status then say(("draw %d  %s: %s"):format(row.number, r.status, r.reason)) end
    end
    if core.clock.interrupted() then return nil, "interrupted", "interrupted" end
    if i % 1000 == 0 then say(("%d of %d draws are compared with the benchmark"):format(i, #rows)) end
  end
  return true
end

--- A set's description (`about` in set.lua) with what it says of the benchmark.
function M.noted(found, about)
  about.benchmark, about.benchmark_tasks, about.benchmark_unreadable = found.hash, found.tasks, found.unreadable
  return about
end

return M

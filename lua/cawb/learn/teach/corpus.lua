-- corpus: texts for all kept tasks of a set, one row of the store for each task, and the files of them:
--   texts.jsonl, texts.parquet    a row for each text: what a model is asked, what it is to answer, how fast that is
--   taught.jsonl                  a row for each task at the sizes that are taught: a suite that cawb serve reads
--   texts.md                      the data card

local core = require "cawb.core"
local card = require "cawb.learn.teach.card"
local export = require "cawb.learn.synth.export"
local file = require "cawb.base.file"
local lists = require "cawb.base.lists"
local split = require "cawb.learn.teach.split"
local teacher = require "cawb.learn.teach.teacher"

local M = {}

--- Columns of texts.jsonl, in order.
M.columns = { "prompt", "completion", "task", "split", "ops", "number", "graph", "time_s", "eager", "compile", "of_best", "schedule",
              "data_source", "licence" }

--- Columns of taught.jsonl, in order.
M.task_columns = { "name", "id", "ops", "data_source", "code", "prompt", "split", "number", "graph", "texts", "best_s", "default_s",
                       "compile_s", "eager_s" }

-- What the host of a maker or the machine may do that is not the task's fault.
local worlds = { interrupted = true, missing = true, io = true }

-- How many texts a task has, at all of its sizes.
local function counted(data) return #(data.texts or {}) + (data.beside and counted(data.beside) or 0) end

--- Teach one kept task of a set: `row` = { number =, code = text }. `maker` has the task host, the device and the folder; `how` and
--- `options` are the teacher's. Returns how many texts there are, and why there is none; or nil, message, name.
function M.teach(set, maker, row, how, options)
  local ok, message, name = maker:begin()
  if not ok then return nil, message, name end
  local data
  data, message, name = teacher.teach { code = row.code, path = ("%s/%06d-taught.py"):format(maker.folder, row.number), device = maker.device,
    host = { maker.host, maker.hello }, options = options, how = how, seed = row.number,
    fitted = maker.fitted and maker.fitted.number == row.number and maker.fitted or nil }
  os.remove(("%s/%06d-taught.py"):format(maker.folder, row.number))
  if not data then
    if worlds[name] then return nil, message, name end
    maker:close()
    if core.clock.interrupted() then return nil, message, "interrupted" end       -- a broken answer is its doing, too
    data = { refused = message }
  end
  ok, message, name = set:teach(row.number, data)
  if not ok then return nil, message, name end
  return counted(data), data.refused
end

-- ---- files

local function name_of(number, ops) return (("%s_%s"):format(number, table.concat(ops, "+")):gsub("[^%w_.+-]+", "_"):sub(1, 80)) end

local function told(role, text) return core.json.array { { role = role, content = text } } end

local function least(texts, key)
  local best
  for _, text in ipairs(texts) do best = math.min(best or text[key], text[key]) end
  return best
end

--- A taught task as a row of taught.jsonl. `known`: what its columns have besides, name and split at least. `data`: the teacher's.
function M.task_row(known, data)
  local first = data.texts[1]
  local row = { code = data.code, prompt = data.prompt, texts = #data.texts, best_s = least(data.texts, "time_s"), default_s = first.time_s,
    compile_s = first.compile and first.compile * first.time_s, eager_s = first.eager and first.eager * first.time_s }
  for key, value in pairs(known) do row[key] = value end
  return row
end

-- What is known of a drawn task.
local function drawn(row, data, how, letter)
  local ops = row.data.ops
  return { name = name_of(row.number .. letter, ops), id = row.number, ops = core.json.encode(ops), data_source = row.data.data_source,
    split = split.of(ops, data.shape, how), number = row.number, graph = row.graph, licence = row.data.licence }
end

--- A text of such a row as a row of texts.jsonl.
function M.text_row(of, text)
  return { prompt = told("user", of.prompt), completion = told("assistant", text.message), task = of.name, split = of.split, ops = of.ops,
    number = of.number, graph = of.graph, time_s = text.time_s, eager = text.eager, compile = text.compile,
    of_best = of.best_s / text.time_s, schedule = text.schedule, data_source = of.data_source, licence = of.licence }
end

-- The task at each of its sizes, with what is taught of it. Where some of the sizes are held out, the others are left out: what is held out
-- has no graph that is learnt.
local function lessons_of(row, data, how)
  local list = {}
  for _, part in ipairs { { "", data }, { "b", data.beside or {} } } do
    if part[2].texts then list[#list + 1] = { task = M.task_row(drawn(row, part[2], how, part[1]), part[2]), data = part[2] } end
  end
  local function held(one) return one.task.split == "sizes" end
  return lists.any(list, held) and lists.filter(list, held) or list
end

--- All rows: { tasks =, texts =, refused = { { number, why } } }. A text that two tasks have, with the same message before it, is there once.
function M.rows(set, rows, how)
  local found, seen = { tasks = {}, texts = {}, refused = {} }, {}
  local all = set:texts()
  for _, row in ipairs(rows) do
    local data = row.status == "kept" and all[row.number]
    if data and data.refused then found.refused[#found.refused + 1] = { row.number, data.refused } end
    for _, one in ipairs(data and lessons_of(row, data, how) or {}) do
      if not seen[one.data.prompt] then
        seen[one.data.prompt] = true
        found.tasks[#found.tasks + 1] = one.task
        for _, text in ipairs(one.data.texts) do found.texts[#found.texts + 1] = M.text_row(one.task, text) end
      end
    end
  end
  return found
end

--- Write the files; `program` is the Python of the task host. Returns M.rows, with `parquet` = why there is no Parquet; or nil, message, name.
function M.write(set, rows, how, program)
  local found = M.rows(set, rows, how)
  for name, columns in pairs { tasks = M.task_columns, texts = M.columns } do
    local path = ("%s/%s.jsonl"):format(set.folder, name == "tasks" and "taught" or name)
    local ok, message, kind = export.lines(path, found[name], columns)
    if not ok then return nil, message, kind end
  end
  local ok, message, kind = file.replace(set.folder .. "/texts.md", card.markdown(set, found) .. "\n")
  if not ok then return nil, message, kind end
  if #found.texts > 0 then ok, message = export.parquet(set.folder, "texts", M.columns, program) end
  found.parquet = not ok and message or nil
  return found
end

return M

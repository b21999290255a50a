-- export: the kept tasks of a set as rows of a data set: JSON Lines, and Parquet where pyarrow is.

local core = require "cawb.core"
local file = require "cawb.base.file"
local python = require "cawb.base.python"
local shell = require "cawb.base.shell"

local M = {}

--- The columns, in order: those of the CUDA-Agent set first. What is measured on a GPU has the device's name behind it.
M.columns = { "ops", "data_source", "code", "number", "seed", "graph", "eager_modelled_s", "compile_modelled_s", "target_s", "batch", "bytes",
              "flops", "ast_similarity", "nearest", "licence", "generator", "kernels", "not_lowered", "mutants_killed", "mutants",
              "device", "eager_s", "compile_s", "max_autotune_s" }

local encode = core.json.encode

-- A row of the store as one of the data set.
local function row_of(set, row, times)
  local d, code, message = row.data, nil, nil
  code, message = set:code(row)
  if not code then return nil, message end
  local compose, mutants = d.compose or {}, d.mutants or {}
  return { ops = encode(d.ops), data_source = d.data_source, code = code, number = row.number, seed = d.seed, graph = row.graph,
    eager_modelled_s = d.eager_modelled_s, compile_modelled_s = d.compile_modelled_s, target_s = d.target_s, batch = d.batch,
    bytes = d.bytes, flops = d.flops, ast_similarity = d.ast_similarity, nearest = d.nearest, licence = d.licence,
    generator = d.generator, kernels = compose.kernels, not_lowered = compose.refused, mutants_killed = mutants.killed,
    mutants = mutants.of, device = times.device, eager_s = times.eager, compile_s = times.compile, max_autotune_s = times.max_autotune }
end

-- One line, columns in their order: the same row is the same bytes.
local function line_of(row, columns)
  local parts = {}
  for _, column in ipairs(columns) do
    if row[column] ~= nil then parts[#parts + 1] = ("%s: %s"):format(encode(column), encode(row[column])) end
  end
  return "{" .. table.concat(parts, ", ") .. "}\n"
end

--- Rows as lines of JSON in the file `path`: true, or nil, message, name.
function M.lines(path, rows, columns)
  local lines = {}
  for i, row in ipairs(rows) do lines[i] = line_of(row, columns) end
  return file.replace(path, table.concat(lines))
end

-- Times of a set on GPUs, by number.
local function times_of(set)
  local times = {}
  for _, row in ipairs(set.store:query("SELECT * FROM synth_times WHERE synth = ? ORDER BY device", set.id)) do
    local found = core.json.decode(row.json)
    found.device = row.device
    times[row.number] = times[row.number] or found
  end
  return times
end

--- NAME.parquet of NAME.jsonl in a folder: true, or nil and why there is none. To ask which Python serves starts a task host, so one
--- that is known already is given.
function M.parquet(folder, file_name, columns, known)
  local program, message, kind = known, nil, nil
  if not program then program, message, kind = python.path() end
  if not program then return nil, message, kind end
  local pipe = assert(io.popen(("%s %s %s %s %s 2>&1"):format(shell.quoted(program), shell.quoted(python.host_folder() .. "/judge/task/parquet_writer.py"),
    shell.quoted(("%s/%s.jsonl"):format(folder, file_name)), shell.quoted(("%s/%s.parquet"):format(folder, file_name)), table.concat(columns, " "))))
  local said = pipe:read "a"
  if pipe:close() then return true end
  return nil, said:match "([^\n]+)%s*$" or "it cannot be written", "missing"
end

--- Write tasks.jsonl and tasks.parquet beside the store; `program`, if known, is the Python of the task host. Returns { tasks =, parquet = nil or why there is none }, or nil,
--- message, name.
function M.write(set, rows, program)
  local list, times = {}, times_of(set)
  for _, row in ipairs(rows) do
    if row.status == "kept" then
      local made, message = row_of(set, row, times[row.number] or {})
      if not made then return nil, message, "io" end
      list[#list + 1] = made
    end
  end
  local ok, message, name = M.lines(set.folder .. "/tasks.jsonl", list, M.columns)
  if not ok then return nil, message, name end
  local why
  if #list > 0 then ok, why = M.parquet(set.folder, "tasks", M.columns, program) end
  return { tasks = #list, parquet = not ok and why or nil }
end

return M

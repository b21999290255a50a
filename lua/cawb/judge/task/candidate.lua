-- candidate: what is proposed. Tier 1: device source and a launch plan; with tunables, a
-- family of which one member is chosen at a time. Tier 2: a Python file with a ModelNew, and the files that go with it.

local core = require "cawb.core"
local file = require "cawb.base.file"
local folders = require "cawb.judge.task.folder"
local place = require "cawb.base.place"

local M = {}

---@class cawb.Candidate
local Candidate = {}
Candidate.__index = Candidate
Candidate.__name = "cawb.candidate"

local types = { python = "string", files = "table", source = "string", plan = "string", name = "string", note = "string",
                defines = "table", options = "table", tunables = "table", own = "table" }

local function check(spec)
  for key, value in pairs(spec) do
    if not types[key] then error(("candidate: unknown field '%s'"):format(tostring(key)), 3) end
    if type(value) ~= types[key] then
      error(("candidate: '%s' must be a %s, got %s"):format(key, types[key], type(value)), 3)
    end
  end
  if spec.python and (spec.source or spec.plan or spec.tunables) then
    error("candidate: 'python' goes without source, plan and tunables", 3)
  end
  if spec.own and (spec.python or not M.is(spec.own)) then
    error("candidate: 'own' is a candidate of kernels, beside another one", 3)
  end
  if spec.files and not spec.python then error("candidate: 'files' go with 'python'", 3) end
  local why = spec.files and folders.refusal(spec.files)
  if why then error("candidate: " .. why, 3) end
  for _, key in ipairs(spec.python and {} or { "source", "plan" }) do
    if not spec[key] then error(("candidate: '%s' must be a string, got nil"):format(key), 3) end
  end
end

-- Of everything that makes it what it is; the texts may hold any bytes.
local function digest(c)
  if c.files then
    local all = { "python files\0", string.pack("<s8", c.python) }
    for _, name in ipairs(folders.names(c.files)) do all[#all + 1] = string.pack("<s8s8", name, c.files[name]) end
    return core.hash.sha256(table.concat(all))
  end
  if c.python then return core.hash.sha256("python\0" .. c.python) end
  return core.hash.sha256(string.pack("<s8s8s8", c.source, c.plan,
    core.json.encode { defines = c.defines, options = core.json.array { table.unpack(c.options) } }) .. (c.own and c.own.hash or ""))
end

-- The text for the task's own sizes that candidate.json tells of, out of { ["own/kernel.cu"] =, ["own/plan.lua"] = }; or nil.
local function own_of(more, texts, name)
  if not more.own then return nil end
  return M.new { source = texts["own/kernel.cu"], plan = texts["own/plan.lua"], name = name, defines = more.own.defines, options = more.own.options }
end

-- "kernels/softmax/v1": that .cu and .lua. A folder: its kernel.cu, plan.lua and, where
-- a run left one, candidate.json with defines, options and chosen tunables; or its
-- model_new.py, with the other sources there. "solution.py": that file.
local function from_path(word)
  local path = place.candidate(word)
  local folder = core.fs.kind(path) == "folder"
  local python = folder and core.fs.kind(path .. "/model_new.py") == "file" and path .. "/model_new.py"
    or path:match "%.py$" and path
  if python then
    local text, why, kind = file.read(python)
    if not text then return nil, why, kind end
    local files
    if folder then
      files, why, kind = folders.read(path)
      if not files then return nil, why, kind end
    end
    return { python = text, files = files, name = path:match "([^/]+)/*$":gsub("%.py$", "") }
  end
  path = folder and path or path:gsub("%.cu$", "")
  local source, message, name = file.read(folder and path .. "/kernel.cu" or path .. ".cu")
  if not source then return nil, message, name end
  local plan
  plan, message, name = file.read(folder and path .. "/plan.lua" or path .. ".lua")
  if not plan then return nil, message, name end
  local spec = { source = source, plan = plan, name = path:match "[^/]+/[^/]+$" or path }
  local text = folder and file.read(path .. "/candidate.json")
  if not text then return spec end
  local more
  more, message, name = core.json.decode(text)
  if not more then return nil, path .. "/candidate.json: " .. message, name end
  spec.defines, spec.options, spec.tunables = more.defines, more.options, more.tunables
  if more.own then
    local texts = {}
    for _, part in ipairs { "own/kernel.cu", "own/plan.lua" } do
      texts[part], message, name = file.read(path .. "/" .. part)
      if not texts[part] then return nil, message, name end
    end
    spec.own = own_of(more, texts, spec.name)
  end
  return spec
end

-- A text without the mark that some editors put in front of it.
local function text_of(text) return text and (text:gsub("^\xEF\xBB\xBF", "")) end

--- A candidate from { source =, plan =, name =, note =, defines = {NAME = value},
--- options = {...}, tunables = {name = value} }; from a path without its ending
--- ("kernels/softmax/v1_naive" reads that .cu and .lua); or from the folder that a run
--- left its best in. { python = text, files = { ["ops.py"] = text } or nil }, a folder with model_new.py, or a path that ends in .py: a Python file with the
--- class ModelNew, as KernelBench has it, which runs in a jail (see run/python_candidate.lua). Returns the candidate, or nil, message, name when a file cannot
--- be read. `own` = a candidate whose text is for the task's own sizes, where kernels are for one size: --scale both times that one.
function M.new(spec)
  if type(spec) == "string" then
    local message, name
    spec, message, name = from_path(spec)
    if not spec then return nil, message, name end
  end
  if type(spec) ~= "table" then error("candidate: a table or a path is expected", 2) end
  check(spec)
  local c = setmetatable({
    python = text_of(spec.python), files = spec.files and next(spec.files) and spec.files or nil, source = text_of(spec.source), plan = text_of(spec.plan), name = spec.name or "candidate",
    note = spec.note, defines = spec.defines or {}, options = spec.options or {},
    tunables = spec.tunables and next(spec.tunables) and spec.tunables or nil, own = spec.own,
  }, Candidate)
  c.hash = digest(c)
  return c
end

--- A candidate of kernels from the texts that a record keeps of it (run/ledger.lua), with fields of a record beside.
function M.restored(texts, fields)
  local more = core.json.decode(texts["candidate.json"] or "{}") or {}
  return M.new { source = texts["kernel.cu"], plan = texts["plan.lua"], name = fields.name, note = fields.note, defines = more.defines,
                 options = more.options, tunables = fields.tunables, own = own_of(more, texts, fields.name) }
end

--- Whether a value is a candidate, or a member of one.
function M.is(value)
  return type(value) == "table" and type(value.hash) == "string"
    and type(value.python or value.source) == "string"
end

--- The member of the family with these values, such as { block = 256 }.
function Candidate:with(tunables)
  return setmetatable({ tunables = tunables }, { __index = self })
end

--- All defines of this member, or of another one: its own, and its tunables with
--- upper-case names.
function Candidate:all_defines(tunables)
  local all = {}
  for name, value in pairs(self.defines) do all[name] = tostring(value) end
  for name, value in pairs(tunables or self.tunables or {}) do
    all[name:upper()] = tostring(value)
  end
  return all
end

--- "BLOCK=256 VEC=4", or "" without tunables. With `declared`, those that had a
--- choice: a plan may use a tunable of one value to compile a fact in.
function Candidate:label(declared)
  local one = {}
  for _, t in ipairs(declared or {}) do one[t.name] = #t.values == 1 end
  local words = {}
  for name, value in pairs(self.tunables or {}) do
    if not one[name] then words[#words + 1] = ("%s=%s"):format(name:upper(), value) end
  end
  table.sort(words)
  return table.concat(words, " ")
end

function Candidate:__tostring()
  return ("cawb.candidate (%s, %s)"):format(self.name, self.hash:sub(1, 8))
end

return M

-- families: the ladders in kernels/. Each folder has a family.lua that says which
-- operator graphs it serves and names its versions, from naive to fast.

local candidate = require "cawb.judge.task.candidate"
local core = require "cawb.core"

local M = {}

local Family = {}
Family.__index = Family

local function load(dir, name)
  local path = ("%s/%s/family.lua"):format(dir, name)
  if not core.fs.kind(path) then return nil end
  local chunk, message = loadfile(path, "t")
  if not chunk then error(message, 0) end
  local family = chunk()
  family.dir = dir .. "/" .. name
  return setmetatable(family, Family)
end

--- All families, by name. `dir` defaults to the kernels/ that cawb came with.
function M.list(dir)
  dir = dir or core.home .. "/kernels"
  local list = {}
  for _, name in ipairs(core.fs.list(dir) or {}) do
    list[#list + 1] = load(dir, name)
  end
  return list
end

-- The rungs that can serve a graph: `except` names those that cannot.
local function fitting(family, graph)
  local skip, list = family.except and family.except(graph) or {}, {}
  for _, version in ipairs(family.versions) do
    if not skip[version] then list[#list + 1] = version end
  end
  return list
end

-- The kernels read the task's inputs whole and in their order.
local function seen_otherwise(graph)
  for _, op in ipairs(graph) do
    for _, x in ipairs(op.inputs) do
      if x.view and x.source:find "^input:" then
        return ("it takes inputs as they lie in memory, not through %s"):format(x.view)
      end
    end
  end
end

--- The family that serves a task's graph, with the rungs that do. Returns nil and each family's reason
--- when none does.
function M.match(task, dir)
  local why = {}
  for _, family in ipairs(M.list(dir)) do
    local serves, reason = family.serves(task.graph)
    local otherwise = serves and seen_otherwise(task.graph)
    if serves and not otherwise then
      family.versions = fitting(family, task.graph)
      return family
    end
    why[#why + 1] = ("  %s: %s"):format(family.name, otherwise or reason or "serves other graphs")
  end
  return nil, "no kernel family serves this task:\n" .. table.concat(why, "\n")
    .. "\nthe strategy compose lowers any operator: cawb TASK.py"
end

-- What a family tells its plans of the graph, on their first line: "local name = value; ".
local function preamble(constants)
  local names, words = {}, {}
  for name in pairs(constants) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do words[i] = ("local %s = %q; "):format(name, constants[name]) end
  return table.concat(words)
end

-- What stands before a plan, and the defines of a kernel, on a task's graph.
local function told(family, graph)
  return family.constants and preamble(family.constants(graph)) or "", family.defines and family.defines(graph) or nil
end

local function files_of(family, n) return assert(candidate.new(("%s/%s"):format(family.dir, family.versions[n]))) end

--- The n-th version as a candidate for a task, or nil when the ladder ends. What it is told of sizes is told of the task's own
--- sizes apart, where smaller ones are verified.
function Family:rung(n, task)
  local version = self.versions[n]
  if not version then return nil end
  local c = files_of(self, n)
  local before, defines = told(self, task.graph)
  return candidate.new { source = c.source, plan = before .. c.plan, name = self.name .. "/" .. version,
    note = self:note(version, c.source), defines = defines, own = task.own and self:rung(n, task.own) or nil }
end

--- What the family of this name tells its kernels and plans of a task's graph: text before the plan, defines. Nothing where it
--- does not serve the graph.
function M.told(name, graph)
  for _, family in ipairs(M.list()) do
    if family.name == name and family.serves(graph) then return told(family, graph) end
  end
  return "", nil
end

-- The version of a family that a candidate is, for a task: { name =, source =, plan = with more before it or not }; or nil.
local function version_of(c, task)
  for _, family in ipairs(M.list()) do
    for n = 1, c.name:find(family.name .. "/", 1, true) == 1 and family.serves(task.graph) and #family.versions or 0 do
      local files = files_of(family, n)
      if c.name == family.name .. "/" .. family.versions[n] and files.source == c.source and c.plan:sub(-#files.plan) == files.plan then
        return family:rung(n, task)
      end
    end
  end
end

--- A candidate for a task. A version of a family that serves the task's graph, named by its file, gets what the family
--- tells its kernels and plans of the graph, as in a ladder; every other candidate stays as it is.
function M.fitted(c, task)
  if c.python or next(c.defines or {}) then return c end
  return version_of(c, task) or c
end

--- The same of a version that was told of another task's graph, such as the same task's at other sizes.
function M.moved(c, task)
  local version = version_of(c, task)
  return version and c.tunables and version:with(c.tunables) or version or c
end

--- The comment lines that open a version: what changed, why it should help.
function Family:note(_, source)
  local lines = {}
  for line in source:gmatch "[^\n]+" do
    local text = line:match "^//%s*(.*)"
    if not text then break end
    lines[#lines + 1] = text
  end
  return table.concat(lines, "\n")
end

return M

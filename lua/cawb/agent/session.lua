-- session: what tools work on: a run, a workspace of its own, and the files that may be
-- read beside it. Paths are those that a model writes: "kernel.cu", "task/softmax.py".

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local suggest = require "cawb.base.suggest"
local feedback = require "cawb.agent.feedback"

local M = {}

---@class cawb.Session
local Session = {}
Session.__index = Session

local most_bytes = 1 << 20                 -- of a file that is written or read

-- What can be read, by the first part of its path: the folder behind it and, of the task, the
-- only file.
local function roots_of(run)
  local folder, file = run.task.path:match "^(.*)/([^/]+)$"
  local all = { task = { folder or ".", file or run.task.path }, kernels = { core.home .. "/kernels" },
                skills = { core.home .. "/skills" }, harness = { core.home .. "/lua" } }
  local roots = {}
  for _, name in ipairs(run.options.agent.readable) do
    if not all[name] then
      local names = {}
      for key in pairs(all) do names[#names + 1] = key end
      return nil, ("agent.readable: there is no '%s'%s"):format(name, suggest.hint(name, names))
    end
    roots[name] = all[name]
  end
  return roots
end

local function check_name(path)
  if path == "" then return nil, "an empty path" end
  if path:find "^/" or path:find "^~" then return nil, path .. ": write paths without a leading /, as kernel.cu" end
  if path:find "[%c\\]" or not utf8.len(path) or #path > 200 then return nil, "a path of ordinary characters, at most 200" end
  for part in path:gmatch "[^/]+" do
    if part:sub(1, 1) == "." and part ~= "." then return nil, path .. ": no part may begin with a dot" end
  end
  return true
end

-- Where a path leads once links are followed, if that lies within `folder`.
local function within(folder, path)
  local real, root = core.fs.realpath(path), core.fs.realpath(folder)
  return real and root and (real == root or real:sub(1, #root + 1) == root .. "/") and real or nil
end

--- The real path behind one of the session's, to be read; or nil and why not.
function Session:readable(path)
  path = path:gsub("^%./", ""):gsub("/+$", "")
  if path == "" or path == "." then return self.folder end
  local ok, why = check_name(path)
  if not ok then return nil, why end
  local root, rest = path:match "^([^/]+)/?(.*)$"
  local known = self.roots[root]
  if known and known[2] and rest ~= "" and rest ~= known[2] then
    return nil, ("%s: there is only %s/%s"):format(path, root, known[2])
  end
  local folder = known and known[1] or self.folder
  local full = known and (rest == "" and folder or folder .. "/" .. rest) or folder .. "/" .. path
  if not core.fs.kind(full) then return nil, path .. ": there is no such file; `list` shows what there is" end
  return within(folder, full) or nil, path .. " lies elsewhere"
end

-- Nothing on the way from the workspace to a path leads out of it: a link made by the tool
-- shell could, and one to nowhere would be written through.
local function stays(folder, path)
  local at = folder
  for part in path:gmatch "[^/]+" do
    local names = core.fs.list(at) or {}
    at = at .. "/" .. part
    if core.fs.kind(at) then
      if not within(folder, at) then return false end
    else
      for _, name in ipairs(names) do if name == part then return false end end
      return true
    end
  end
  return true
end

--- The real path of one to be written, in the workspace; or nil and why not.
function Session:writable(path)
  path = path:gsub("^%./", "")
  local ok, why = check_name(path)
  if not ok then return nil, why end
  local root = path:match "^([^/]+)"
  if self.roots[root] or root == "task" then return nil, root .. "/ can be read, and not written" end
  local full = self.folder .. "/" .. path
  if not stays(self.folder, path) then return nil, path .. " lies elsewhere" end
  local parent = full:match "^(.*)/"
  local made, message = core.fs.mkdir(parent)
  if not made then return nil, message end
  local kind = core.fs.kind(full)
  if kind and kind ~= "file" then return nil, ("%s is a %s"):format(path, kind == "folder" and kind or "special file") end
  return full
end

--- The text of a file, or nil and why not.
function Session:read(path)
  local full, why = self:readable(path)
  if not full then return nil, why end
  if core.fs.kind(full) ~= "file" then return nil, path .. " is no file" end
  local f, message = io.open(full, "rb")
  if not f then return nil, message end
  local text = f:read(most_bytes + 1) or ""
  f:close()
  if #text > most_bytes then return nil, ("%s has more than %d bytes"):format(path, most_bytes) end
  return text
end

--- Write a file. Returns true, or nil and why not.
function Session:write(path, text)
  if #text > most_bytes then return nil, ("at most %d bytes, these are %d"):format(most_bytes, #text) end
  local full, why = self:writable(path)
  if not full then return nil, why end
  local f, message = io.open(full, "wb")
  if not f then return nil, message end
  local ok = f:write(text)
  if not (f:close() and ok) then return nil, "cannot write " .. path end
  return true
end

local function walk(list, folder, shown, depth)
  for _, name in ipairs(core.fs.list(folder) or {}) do
    local kind = core.fs.kind(folder .. "/" .. name)
    if kind == "folder" and depth < 6 then walk(list, folder .. "/" .. name, shown .. name .. "/", depth + 1)
    elseif kind == "file" then list[#list + 1] = shown .. name end
  end
end

--- The files under a path, as the session names them; all of them without one.
function Session:files(path)
  local list = {}
  if path and path ~= "" and path ~= "." then
    local full, why = self:readable(path)
    if not full then return nil, why end
    if core.fs.kind(full) == "file" then return { path } end
    local root = self.roots[path]
    if root and root[2] then return { path .. "/" .. root[2] } end
    walk(list, full, path:gsub("/+$", "") .. "/", 1)
    return list
  end
  walk(list, self.folder, "", 1)
  for name, root in pairs(self.roots) do
    list[#list + 1] = root[2] and name .. "/" .. root[2] or name .. "/"
  end
  table.sort(list)
  return list
end

--- The workspace's candidate, or nil and what is missing.
function Session:candidate(note)
  for _, name in ipairs { "kernel.cu", "plan.lua" } do
    if core.fs.kind(self.folder .. "/" .. name) ~= "file" then
      return nil, ("there is no %s yet: write it with write_file"):format(name)
    end
    local full, why = self:readable(name)
    if not full then return nil, why end
  end
  local ok, c, message = pcall(candidates.new, self.folder)
  if not ok or not c then return nil, tostring(ok and message or c) end
  c.name, c.note = self.name, note ~= "" and note or nil
  return c
end

--- The earlier turn with the same candidate, or nil.
function Session:seen(candidate)
  for _, turn in ipairs(self.run.turns) do
    if turn.candidate.hash == candidate.hash then return turn end
  end
end

-- The best so far, beside the work.
local function keep_best(self)
  local best = self.run.best.candidate
  self:write("best/kernel.cu", best.source)
  self:write("best/plan.lua", best.plan)
end

--- Evaluate the workspace's candidate as a turn, unless it was one. Returns text and whether
--- it failed.
function Session:evaluate(note)
  local c, why = self:candidate(note)
  if not c then return why, true end
  local before = self:seen(c)
  if before then
    return ("The same candidate as turn %d.\n%s"):format(before.number, feedback.turn(self.run, before)), not before.ok, before
  end
  local turn, message = self.run:evaluate(c)
  if not turn then return "not evaluated: " .. message, true end
  if self.run.best == turn then keep_best(self) end
  self.turn = turn
  return feedback.turn(self.run, turn), not turn.ok, turn
end

--- A session on a run. `opts`: { name = of its candidates, folder = under the run's own }.
--- Returns it, or nil, message, name.
function M.new(run, opts)
  opts = opts or {}
  local roots, why = roots_of(run)
  if not roots then return nil, why, "usage" end
  local folder = ("%s/%s"):format(run.ledger.folder, opts.folder or "workspace")
  local ok, message, name = core.fs.mkdir(folder)
  if not ok then return nil, message, name end
  return setmetatable({ run = run, task = run.task, folder = folder, roots = roots,
    name = opts.name or run.strategy.name }, Session)
end

return M

-- arguments: a task and a candidate as somebody names them on a command line: which word is which,
-- and what a path to a candidate may be.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local place = require "cawb.base.place"

local M = {}

local function is_file(path) return core.fs.kind(path) == "file" end

local plan_hint = [[
%s has no plan beside it: no file %s. A plan says how the kernels are launched, as in
  local n = inputs[1].numel
  launch("my_kernel", { grid = (n + 255) // 256, block = 256 }, outputs[1], inputs[1], n)
(docs/reference/plan.md)]]

-- Where the files of the candidate are: a folder, a Python file, or a path without its ending.
local function find(word)
  local path = place.candidate((word:gsub("%.lua$", ""):gsub("%.cu$", "")))
  if core.fs.kind(path) == "folder" or word:match "%.py$" then return path end
  if path:match "[^/]+$" == "kernel" or path:match "[^/]+$" == "plan" then
    local folder = path:match "^(.*)/[^/]+$" or "."
    if is_file(folder .. "/kernel.cu") and is_file(folder .. "/plan.lua") then return folder end
  end
  return path
end

--- The candidate that a path names: a folder with kernel.cu and plan.lua, or with model_new.py; NAME.cu with NAME.lua
--- beside it, with or without the ending; a Python file with ModelNew; or kernels/FAMILY/NAME of those that cawb comes
--- with. Returns it, or nil and a message.
function M.candidate(path)
  local found = find(path)
  if is_file(found .. ".cu") and not is_file(found .. ".lua") then
    return nil, plan_hint:format(found .. ".cu", found .. ".lua")
  end
  return candidates.new(found)
end

--- Whether a word where a strategy is expected names a kernel.
function M.is_candidate(word)
  if word:match "%.lua$" then return false end
  local path = find(word)
  return is_file(path .. ".cu") or is_file(path .. "/kernel.cu")
end

--- What to do with a kernel, for somebody who gave it where a strategy is expected.
function M.a_kernel(word, task)
  return ("%s is a kernel; is it right, and is it fast? cawb judge %s %s"):format(word, task or "TASK.py", word)
end

-- Some of the Python files in a folder, for somebody who named the folder.
local function python_files(folder)
  local found = {}
  for _, name in ipairs(core.fs.list(folder) or {}) do
    if name:match "%.py$" and #found < 4 then found[#found + 1] = folder .. "/" .. name end
  end
  return found
end

--- Why a path names no task's file, or nil.
function M.no_task(path)
  local kind = core.fs.kind(place.file(path))
  if kind == "file" then return nil end
  if kind ~= "folder" then
    return ("%s: there is no such file; a task is one Python file, as %s/examples/softmax.py is"):format(path, core.home)
  end
  local files = python_files((path:gsub("/+$", "")))
  if #files == 0 then return ("%s is a folder without Python files; a task is one Python file"):format(path) end
  return ("%s is a folder; a task is one Python file, such as %s. A suite of all of them: cawb bench STRATEGY %s")
    :format(path, table.concat(files, ", "), path)
end

local function has_class(path, class)
  local text = path:match "%.py$" and file.read(path)
  return text and ("\n" .. text):find("\nclass " .. class .. "%W") ~= nil
end

-- Whether the first word is the candidate and the second one the task.
local function swapped(first, second)
  if not second:match "%.py$" then return false end
  if not first:match "%.py$" then return true end
  return has_class(first, "ModelNew") and not has_class(first, "Model") and has_class(second, "Model")
end

--- Which of two words is the task and which the candidate: both orders are understood. Returns task, candidate.
function M.order(first, second)
  if swapped(first, second) then return second, first end
  return first, second
end

return M

-- versions: a candidate as it is here, or as it was in a commit: "kernels/my.cu", "main:kernels/my.cu", "HEAD~1:my_kernel".

local arguments = require "cawb.door.arguments"
local core = require "cawb.core"
local shell = require "cawb.base.shell"

local M = {}

-- What a command printed; nil where it failed, with its last line.
local function said(command)
  local pipe = assert(io.popen(command .. " 2>&1", "r"))
  local out = pipe:read "a"
  if pipe:close() then return out end
  return nil, (out:match "([^\n]+)\n*$" or command):gsub("^fatal: ", "")
end

-- Commit and path of such a word; nil where it names a file that is there, or no commit.
local function split(word)
  local commit, path = word:match "^([^:]+):(.+)$"
  if not commit or core.fs.kind(word) then return nil end
  return commit, path
end

-- The paths that a candidate may consist of.
local function parts(path)
  local stem = path:gsub("%.cu$", ""):gsub("/+$", "")
  return path:match "%.py$" and { path } or { stem .. ".cu", stem .. ".lua", stem }
end

-- Copy what there is of a commit's `path` below `folder`. True, or nil and a message.
local function copied(commit, path, folder)
  if not said(("git rev-parse --verify --quiet %s"):format(shell.quoted(commit .. "^{commit}"))) then
    return nil, ("%s: there is no such commit, and no such file as %s:%s"):format(commit, commit, path)
  end
  local have = {}
  for _, part in ipairs(parts(path)) do
    if said(("git cat-file -e %s"):format(shell.quoted(commit .. ":./" .. part))) then have[#have + 1] = shell.quoted(part) end
  end
  if #have == 0 then return nil, ("commit %s has no %s here"):format(commit, path) end
  return said(("git archive %s -- %s | tar -x -C %s"):format(shell.quoted(commit), table.concat(have, " "), shell.quoted(folder)))
end

--- The candidate that a word names, or nil and a message.
function M.candidate(word)
  local commit, path = split(word)
  if not commit then return arguments.candidate(word) end
  local folder, found = assert(said "mktemp -d"):match "[^\n]+", nil
  local ok, message = copied(commit, path, folder)
  if ok then found, message = arguments.candidate(folder .. "/" .. path) end
  said("rm -rf " .. shell.quoted(folder))
  return found, message
end

return M

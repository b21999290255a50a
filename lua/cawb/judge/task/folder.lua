-- folder: a Python solution of several files. Its model_new.py stands for itself; the other sources of the folder, at any
-- depth, go with it by their names from there: { ["ops/rows.py"] = text }.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

-- What a solution is written in. What was built, and what a run left there, is none of it.
local endings = { py = true, cu = true, cuh = true, c = true, cc = true, cpp = true, cxx = true, h = true, hpp = true, hxx = true,
                  inl = true, inc = true, ptx = true, triton = true }
local passed_over = { __pycache__ = true, build = true, workspace = true }
local MOST, BYTES, DEEPEST = 256, 8 << 20, 8

local function too_much(root)
  return ("%s: a solution has at most %d sources of %d MiB together, in folders at most %d deep"):format(root, MOST, BYTES >> 20, DEEPEST)
end

local function take(found, root, name)
  local text, message, kind = file.read(root .. "/" .. name)
  if not text then return nil, message, kind end
  found.count, found.bytes = found.count + 1, found.bytes + #text
  if found.count > MOST or found.bytes > BYTES then return nil, too_much(root), "usage" end
  found.files[name] = text
  return true
end

local function walk(found, root, below, depth)
  if depth > DEEPEST then return nil, too_much(root), "usage" end
  local names, message, kind = core.fs.list(root .. "/" .. below)
  if not names then return nil, message, kind end
  for _, entry in ipairs(names) do
    local name = below .. entry
    local what, ok = core.fs.kind(root .. "/" .. name), true
    if what == "folder" and not passed_over[entry] then ok, message, kind = walk(found, root, name .. "/", depth + 1)
    elseif what == "file" and endings[entry:match "%.(%w+)$" or ""] and name ~= "model_new.py" then
      ok, message, kind = take(found, root, name)
    end
    if not ok then return nil, message, kind end
  end
  return true
end

--- The sources beside a folder's model_new.py, by name, or nothing where there are none; or nil, message, name.
function M.read(root)
  local found = { files = {}, count = 0, bytes = 0 }
  local ok, message, kind = walk(found, root, "", 1)
  if not ok then return nil, message, kind end
  return found.files
end

local function name_is_odd(name)
  return type(name) ~= "string" or #name > 1024 or name:find "^/" or name:find "[%c\\]" or ("/" .. name .. "/"):find "/%.?%.?/"
end

--- Why a table cannot be the files of a candidate, or nil.
function M.refusal(files)
  for name, text in pairs(files) do
    if name_is_odd(name) or name == "model_new.py" then
      return ("'files': %q is no name of a file beside model_new.py, as ops/rows.py is"):format(tostring(name))
    end
    if type(text) ~= "string" then return ("'files': %s must be a string, got %s"):format(name, type(text)) end
  end
end

--- The names of such files, sorted.
function M.names(files)
  local names = {}
  for name in pairs(files) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- All texts of a candidate as one, for rules that look for words.
function M.joined(text, files)
  local all = { text }
  for _, name in ipairs(M.names(files or {})) do all[#all + 1] = files[name] end
  return table.concat(all, "\n")
end

--- What a record holds of a Python candidate, back: { python =, files = } from texts by name, where there is a model_new.py.
function M.restored(texts)
  local files = {}
  for name, text in pairs(texts) do if name ~= "model_new.py" then files[name] = text end end
  return { python = texts["model_new.py"], files = next(files) and files or nil }
end

return M

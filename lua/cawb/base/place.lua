-- place: names that people give to files. What is there as it was typed is meant; else what cawb comes with, so that
-- examples/softmax.py, kernels/softmax/v3_shuffle and configs/reward-wide.lua are known in any folder.

local core = require "cawb.core"

local M = {}

local function some(path, endings)
  for _, ending in ipairs(endings) do if core.fs.kind(path .. ending) then return path end end
end

--- The path that a word means: itself, or one below cawb's own folder. A word that names neither comes back as it is.
--- `endings` are what the path may leave out, "" among them.
function M.file(word, endings)
  endings = endings or { "" }
  if word:sub(1, 1) == "/" then return word end
  return some(word, endings) or some(("%s/%s"):format(core.home, word), endings) or word
end

--- A candidate: a folder, a file, or a path without .cu.
function M.candidate(word) return M.file(word, { "", ".cu" }) end

--- A table of options: a file, or one of configs/ by its name without the ending.
function M.config(word)
  local path = M.file(word)
  if core.fs.kind(path) or not word:match "^[%w-]+$" then return path end
  local own = ("%s/configs/%s.lua"):format(core.home, word)
  return core.fs.kind(own) and own or path
end

--- The names of configs/.
function M.configs()
  local list = {}
  for _, name in ipairs(core.fs.list(core.home .. "/configs") or {}) do list[#list + 1] = name:match "^(.*)%.lua$" end
  return list
end

return M

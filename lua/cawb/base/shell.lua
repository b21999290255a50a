-- shell: words of a command line.

local M = {}

--- A word as the shell takes it, whatever is in it.
function M.quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

return M

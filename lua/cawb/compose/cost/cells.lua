-- cells: seconds of recurrent layers whose weights stay in registers. The chip comes first.

local M = {}

local STEP, EACH = 1980, 594      -- clocks of a step, and of each sequence in it, as an H100 had them

--- Seconds of so many steps, of `sequences` of a group at a time.
function M.steps(chip, count, sequences) return count * (STEP + EACH * sequences) / chip.clock end

return M

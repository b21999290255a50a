-- apart: which mutants that were not rejected count apart: those that are explained, and those that are bit by bit what they were
-- made of, but for kinds of mistakes that inputs may well hide.

local explained = require "mutants.explained"

-- What a simulator executes in an order of its own may be the same by luck, and these others because no kind of inputs
-- shows the difference (of a maximum all elements but one are idle): such a mutant is explained, or counts.
local doubted = { ["missing synchronisation"] = true, ["initial value"] = true, ["wrong identity"] = true }

local function is_doubted(row)
  if row.kind ~= "skipped element" then return doubted[row.kind] end
  for _, word in ipairs { "max", "min", "arg", "pool", "choice", "place" } do
    if row.says:find(word, 1, true) then return true end
  end
end

--- "explained", "same", or nil of one that was rejected, or counts.
return function(row)
  if row.rejected then return nil end
  return explained(row.says) and "explained" or row.same and not is_doubted(row) and "same" or nil
end

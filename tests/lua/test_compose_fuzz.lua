-- A few of the random tasks of tests/fuzz/graphs.lua, composed with random choices and judged.

local composed = dofile "tests/lua/composed.lua"
local graphs = dofile "tests/fuzz/graphs.lua"

for seed = 300, 323 do
  composed.check.test(("random task %d"):format(seed), function()
    local fine, why, text = graphs.try(composed, seed)
    if not fine then error(text .. "\n" .. why, 0) end
  end)
end

return composed.check.done()

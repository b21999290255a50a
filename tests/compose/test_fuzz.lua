-- A few of the random tasks of tests/fuzz/graphs.lua, composed with random choices and judged.

local composed = dofile "tests/support/composed.lua"
local graphs = dofile "tests/fuzz/graphs.lua"

local function try(seed)
  composed.check.test(("random task %d"):format(seed), function()
    local fine, why, text = graphs.try(composed, seed)
    if not fine then error(text .. "\n" .. why, 0) end
  end)
end

for seed = 300, 323 do try(seed) end
for _, seed in ipairs { 1000228, 1020426 } do try(seed) end        -- slices of a concatenation that other kernels' fusion made late
try(311091)                -- the sum of a layer norm's results, which cancels, where the mean is rounded
try(501696)                -- rows of a causal softmax, and one number that is tiny beside its column's others
try(501857)                -- a layer norm of equal elements, by parts
try(502229)                -- a logarithm of sums that are 1: nothing but its terms has a size
try(2318)                  -- a float16 product of one kernel, and its bias in another
try(820116)                -- float16, a quarter of the elements the same
try(840190)                -- bfloat16 on a grid that the result has, too
try(820568)                -- one number in 16 bits, where eager PyTorch's error is small by chance
try(830057)                -- numbers that are nearly equal: the same
try(831670)                -- a relu of a bfloat16 sum that rounding takes across zero
try(831842)                -- a bfloat16 running sum of attention: all of it shares the roundings of few probabilities

return composed.check.done()

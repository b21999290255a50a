-- lift: tensor cores cut each sum off towards zero, so all results are too small by a like share. The last part of a factor is made larger by
-- that share (`lifted`, parts/tensor.cuh).

-- A share for each 16 terms, of either factor. On a Hopper sums of 16, 32 and 64 terms come out too small by 3e-8, 5.5e-8 and 9e-8 where they are of
-- normal numbers, and by 3e-8, 8e-8 and 18e-8 where they are of positive ones.
local SHARE = 1.35e-8

--- By which share the last part of either factor is larger where sums leave the tensor cores after so many terms, as C.
return function(terms) return ("%.2ef"):format(SHARE * ((terms + 15) // 16)) end

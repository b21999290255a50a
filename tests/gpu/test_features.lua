-- What a plan can say, on a real device.
return dofile "tests/lua/features.lua" "cuda:0"

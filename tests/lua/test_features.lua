-- What a plan can say, on the simulated device.
return dofile "tests/lua/features.lua" "sim:h100"

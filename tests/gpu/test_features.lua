-- What a plan can say, on the simulated device.
return dofile "tests/support/features.lua" "sim:h100"

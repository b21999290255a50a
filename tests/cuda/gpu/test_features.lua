-- What a plan can say, on a real device.
return dofile "tests/support/features.lua" "cuda:0"

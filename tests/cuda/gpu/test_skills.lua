-- What the pages of skills/ show computes what their tasks ask for, on a GPU.

local cawb = require "cawb"
local device <close> = assert(cawb.device "cuda:0")
return dofile "tests/support/skills.lua" (device).done()

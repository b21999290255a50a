-- The default: errors against float64, measured by eager PyTorch's own (lua/cawb/init.lua has
-- every number).
return { tolerance = { protocol = "errors" } }

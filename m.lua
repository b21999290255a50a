local core = require "cawb.core"

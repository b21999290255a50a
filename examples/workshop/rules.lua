-- What a candidate must not be, besides wrong: a set of rules, configs/rules-NAME.lua.
return { rules = "off" }

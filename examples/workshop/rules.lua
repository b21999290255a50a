-- What a candidate must not be, besides wrong: a set of rules, by its file or by its name (strict, paper, off).
return { rules = "examples/workshop/no_shuffles.lua" }

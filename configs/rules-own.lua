-- For code of one's own, as in tests: the strict rules, but PyTorch, its compiler and NVIDIA's libraries may do the work. They ask
-- whether it is right. For a kernel that somebody else says to have written, take the strict ones.
local set = dofile(require "cawb.core".home .. "/configs/rules-strict.lua")
for _, name in ipairs { "python_work", "python_fallback", "python_dynamic", "python_handlers", "python_base", "python_no_kernel" } do
  set.rules[name] = nil
end
return set

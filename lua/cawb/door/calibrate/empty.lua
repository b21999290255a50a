local t = tunables { count = { 1, 50 } }
for _ = 1, t.count do launch("empty", { grid = 1, block = 32 }) end

-- The boundaries of the design, as searches over the sources: rooms, which may use what lies below
-- them, and what one file or folder alone may know.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

-- Every file below `dir` whose name matches.
local function walk(dir, pattern, list)
  list = list or {}
  for _, name in ipairs(assert(core.fs.list(dir))) do
    local path = dir .. "/" .. name
    if core.fs.kind(path) == "folder" then
      if name ~= "__pycache__" then walk(path, pattern, list) end
    elseif name:match(pattern) then list[#list + 1] = path end
  end
  return list
end

local function sources() return walk("core", "%.[ch]$") end

local function read(path)
  local f = assert(io.open(path))
  local text = f:read "a"
  f:close()
  return text
end

-- ---- rooms

local rooms = {
  ["core"] = { "base", "process", "jail", "record", "net", "serve", "ptx", "compile", "device", "plan", "cuda", "sim", "cudart", "worker",
               "lua" },
  ["python/cawb_host"] = { "wire", "graph", "task", "baselines", "judge", "synth" },
  ["core/sim"] = { "memory", "exec", "watch", "access", "isa", "read", "sass", "time", "cores", "library" },
  ["lua/cawb"] = { "base", "device", "graph", "task", "judge", "time", "look", "compose", "agent", "run", "suite", "serve", "synth", "door" },
}

-- What a file names of its own house: the first part of each path behind the house's name.
local function named(house, path, text)
  local found = {}
  local function all(pattern)
    for room, rest in text:gmatch(pattern) do found[#found + 1] = { room = room, name = room .. rest } end
  end
  if house == "core/sim" then all '#include%s*"sim/([%w_]+)([/.][%w_/.]+)"'
  elseif path:match "%.[ch]$" then all '#include%s*"([%w_]+)(/[%w_/.]+)"'
  elseif path:match "%.lua$" then all '"cawb%.([%w_]+)(%.[%w_.]+)"'
  else all "from host%.([%w_]+)(.-) import" end
  return found
end

-- Edges that go up in a house, as "FILE uses NAME".
local function upward(house, path, text)
  local place, found = {}, {}
  for i, room in ipairs(rooms[house]) do place[room] = i end
  local own = place[path:sub(#house + 2):match "^([%w_]+)/"]
  for _, use in ipairs(own and named(house, path, text) or {}) do
    local above = house == "core/sim" and #rooms[house] + 1          -- files beside the rooms see all of them
    if (place[use.room] or above or 0) > own then found[#found + 1] = path .. " uses " .. use.name end
  end
  return found
end

check.test("a room uses what lies below it, and nothing above", function()
  local seen = 0
  for house, pattern in pairs { ["core"] = "%.[ch]$", ["core/sim"] = "%.[ch]$", ["python/cawb_host"] = "%.py$", ["lua/cawb"] = "%.lua$" } do
    for _, path in ipairs(walk(house, pattern)) do
      local text = read(path)
      seen = seen + #named(house, path, text)
      check.equal(table.concat(upward(house, path, text), "; "), "")
    end
  end
  assert(seen > 500, "the test finds the edges")
end)

check.test("an edge upward is named with its two files", function()
  check.equal(upward("core", "core/base/err.c", '#include "plan/plan.h"\n')[1], "core/base/err.c uses plan/plan.h")
  check.equal(upward("core/sim", "core/sim/exec/block.c", '#include "sim/watch/race.h"\n')[1],
              "core/sim/exec/block.c uses watch/race.h")
  check.equal(upward("core/sim", "core/sim/read/decode.c", '#include "sim/launch.h"\n')[1],
              "core/sim/read/decode.c uses launch.h")
  check.equal(upward("lua/cawb", "lua/cawb/judge/task/scale.lua", 'local run = require "cawb.run.run"')[1],
              "lua/cawb/judge/task/scale.lua uses run.run")
  check.equal(upward("python/cawb_host", "python/cawb_host/base/channel.py", "from host.judge.judge import Judge\n")[1],
              "python/cawb_host/base/channel.py uses judge.judge")
end)

check.test("every file has a room, and every room is in the plan", function()
  for house, list in pairs(rooms) do
    local planned = {}
    for _, room in ipairs(list) do planned[room] = true end
    for _, name in ipairs(assert(core.fs.list(house))) do
      local is_room = core.fs.kind(house .. "/" .. name) == "folder" and name ~= "__pycache__"
      -- The Python sides, and what both sides read.
      local other = house == "core" and (name == "host" or name == "jailed" or name == "protocol")
      assert(not is_room or planned[name] or other, house .. "/" .. name .. " is not in the plan")
    end
  end
end)

check.test("the jailed side knows the judge's wire alone", function()
  for _, path in ipairs(walk("python/cawb_host/judge/jailed", "%.py$")) do
    for room in read(path):gmatch "from host%.([%w_]+)" do check.equal(room, "wire", path) end
  end
end)

-- What each Lua file requires of the workbench, at once or later.
local function requires()
  local uses = {}
  for _, path in ipairs(walk("lua/cawb", "%.lua$")) do
    local list = {}
    for name in read(path):gmatch 'require *%(?"(cawb%.[%w_.]+)"' do list[#list + 1] = name end
    uses[path:match "^lua/(.*)%.lua$":gsub("/", ".")] = list
  end
  return uses
end

-- A circle that begins at a file, as "a -> b -> a", or nil. `state` holds who was looked at: true is done.
local function circle(uses, name, state, trail)
  if state[name] then return state[name] == "open" and trail .. " -> " .. name or nil end
  state[name] = "open"
  for _, other in ipairs(uses[name] or {}) do
    local found = circle(uses, other, state, trail .. " -> " .. other)
    if found then return found end
  end
  state[name] = true
end

check.test("no file of the workbench requires itself by way of others", function()
  local uses, state = requires(), {}
  for name in pairs(uses) do check.equal(circle(uses, name, state, name), nil) end
  assert(circle({ a = { "b" }, b = { "a" } }, "a", {}, "a"), "a circle is seen")
end)

-- ---- what one file or folder alone may know

-- Every file that includes `header` must match one of the patterns.
local function only(header, ...)
  local found = 0
  for _, path in ipairs(sources()) do
    if read(path):find('#include%s*[<"]' .. header:gsub("%.", "%%.") .. '[>"]') then
      found = found + 1
      local allowed = false
      for _, pattern in ipairs { ... } do allowed = allowed or path:find(pattern) end
      assert(allowed, path .. " includes " .. header)
    end
  end
  return found
end

check.test("Lua is seen by the bindings, the sandbox, the plan and main only", function()
  for _, header in ipairs { "lua.h", "lauxlib.h", "lualib.h", "lua/util.h" } do
    assert(only(header, "^core/door/bindings/", "^core/gpu/plan/", "^core/door/main%.c$") > 0)
  end
end)

check.test("CUDA is seen by its own room only", function()
  assert(only("cuda.h", "^core/cuda/") > 0)
end)

check.test("CUPTI is seen by its own files only", function()
  for _, header in ipairs { "cupti_result.h", "cupti_profiler_host.h", "cupti_profiler_target.h",
                            "cupti_range_profiler.h", "cupti_target.h" } do
    assert(only(header, "^core/cuda/cupti/[%w_]+%.[ch]$") > 0)
  end
end)

check.test("NVIDIA's libraries of operations have one file each, and need none of its headers", function()
  for _, header in ipairs { "cublasLt.h", "cublas_v2.h", "cudnn_v9.h", "cudnn_backend.h" } do
    check.equal(only(header), 0, header)
  end
  assert(only("cuda/vendor.h", "^core/cuda/vendor%.c$", "^core/cuda/cublaslt%.c$", "^core/cuda/cudnn%.c$") == 3)
  assert(only("cuda/cublaslt.h", "^core/cuda/cublaslt%.c$", "^core/cuda/library%.c$") == 2)
  assert(only("cuda/cudnn.h", "^core/cuda/cudnn%.c$", "^core/cuda/library%.c$") == 2)
end)

check.test("NVRTC, SQLite, libcurl and civetweb have one file each", function()
  check.equal(only("civetweb.h", "^core/base/server/connection%.h$"), 1)
  check.equal(only("curl/curl.h", "^core/base/http/http%.c$"), 1)
  check.equal(only("nvrtc.h", "^core/gpu/compile/nvrtc%.c$"), 1)
  check.equal(only("sqlite3.h", "^core/base/store/store%.c$"), 1)
end)

-- But for what kernels print, into the file that they are given.
check.test("nothing below main exits or prints", function()
  for _, path in ipairs(sources()) do
    local text = read(path)
    if path ~= "core/door/main.c" then
      assert(not text:find "[^%w_]exit%s*%("  , path .. " calls exit")
      assert(path == "core/sim/access/print.c" or not text:find "[^%w_]f?printf%s*%(" , path .. " prints")
    end
  end
end)

check.test("public C names begin with cawb_ and their noun", function()
  for _, path in ipairs(sources()) do
    local within = path:match "^core/gpu/plan/record" or path:match "^core/gpu/plan/library" or path:match "^core/cuda/device"
      or path:match "^core/sim/"
    if path:match "%.h$" and not within then
      for name in read(path):gmatch "\n[%w_ ]+[ %*]([%w_]+)%s*%([^%(%)]*%);" do
        assert(name:match "^cawb_" or name:match "^luaopen_cawb_", path .. " declares " .. name)
      end
    end
  end
end)

check.test("options are arguments: no task keeps them", function()
  for _, dir in ipairs { "lua", "bench", "tests/cuda/gpu", "strategies" } do
    for _, path in ipairs(walk(dir, "%.lua$")) do
      assert(not read(path):find "task%.options", path .. " reads options out of a task")
    end
  end
end)

-- Looked at twice, and left as they are.
local long = { ["core/base/store/store.c"] = "SQLite stays in one file" }

check.test("no library file is longer than 400 lines", function()
  for _, dir in ipairs { "core", "lua", "strategies", "configs" } do
    for _, path in ipairs(walk(dir, "%.[chluapy]+$")) do
      local _, lines = read(path):gsub("\n", "")
      assert(lines <= 400 or long[path], ("%s has %d lines"):format(path, lines))
    end
  end
end)

return check.done()

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

-- Floors, from the ground up. A file stands on the floor of the longest path that it begins with.
local rooms = { "base", "gpu", "sim", "cuda", "torch", "judge", "compose", "agent", "run", "suite", "learn", "door" }

local floors = {
  ["core"] = { "base", "base/process", "base/store", "base/http", "base/server", "gpu/ptx", "gpu/compile", "gpu/device", "gpu/plan",
               "sim/memory", "sim/instructions", "sim/exec", "sim/watch", "sim/access", "sim/isa", "sim/parse", "sim/read", "sim/sass",
               "sim/time", "sim/cores", "sim/library", "sim", "sim/cudart", "cuda", "judge/jail", "judge/worker", "door" },
  ["lua/cawb"] = { "base", "gpu", "sim", "torch", "judge/task", "judge/worker", "judge/verify", "judge/rules", "judge/time", "judge/profile",
                   "judge", "compose/ir", "compose/operators", "compose/rewrite", "compose/cost", "compose/emit", "compose/emit/rows", "compose/emit/scan",
                   "compose/emit/order", "compose/emit/segment", "compose/emit/window", "compose/emit/product", "compose/emit/cell", "compose/emit/tensor",
                   "compose/emit/attention", "compose/schedule", "compose/split", "compose/plan", "compose/tune", "compose", "agent", "run",
                   "suite", "learn", "door" },
  ["python/cawb_host"] = { "base", "torch", "judge/task", "judge/time", "judge/inputs", "judge/compare", "judge/candidate", "judge", "learn" },
}

local endings = { ["core"] = "%.[ch]$", ["lua/cawb"] = "%.lua$", ["python/cawb_host"] = "%.py$" }

-- The floor of a path within a house, its number and name; nil of a file that stands beside the rooms, and sees them all.
local function floor_of(house, path)
  local number, longest
  for i, name in ipairs(floors[house]) do
    if path:sub(1, #name + 1) == name .. "/" and #name > #(longest or "") then number, longest = i, name end
  end
  return number, longest
end

-- Paths within the house that a text names: includes, requires, imports.
local function named(house, text)
  local found = {}
  local function all(pattern, ending)
    for name in text:gmatch(pattern) do found[#found + 1] = (name:gsub("%.", ending == "" and "." or "/") .. ending):gsub("/%.lua$", "/") end
  end
  if house == "core" then all('#include%s*"([%w_]+/[%w_/.]+)"', "")
  elseif house == "lua/cawb" then
    all('"cawb%.([%w_]+%.[%w_.]-)"', ".lua")
  else
    for name in text:gmatch "from cawb_host%.([%w_.]+) import" do
      local place = name:gsub("%.", "/")                 -- a module, or a folder of them
      found[#found + 1] = core.fs.kind(house .. "/" .. place) == "folder" and place .. "/" or place .. ".py"
    end
  end
  return found
end

-- C functions by the file, within core/, that defines them.
local function definitions()
  local owner = {}
  for _, path in ipairs(walk("core", "%.c$")) do
    local within = path:sub(#"core/" + 1)
    for name in ("\n" .. read(path)):gmatch "\n[%a_][%w_ *]-[ *](cawb_[%w_]+)%s*%([^;{}]-%)%s*{" do
      if not within:find "^sim/cudart/" then owner[name] = within end
    end
  end
  return owner
end

-- The files that define the functions which a text calls or takes the address of.
local function called(owner, text)
  local found = {}
  for name in text:gmatch "cawb_[%w_]+" do
    if owner[name] then found[#found + 1] = owner[name] end
  end
  return found
end

-- Edges that go up in a house, as "FILE uses NAME".
local function upward(house, path, uses)
  local own, found = floor_of(house, path:sub(#house + 2)), {}
  for _, use in ipairs(own and uses or {}) do
    if (floor_of(house, use) or 0) > own then found[#found + 1] = path .. " uses " .. use end
  end
  return found
end

check.test("a room uses what lies below it, and nothing above: by includes, requires, imports and calls", function()
  local owner, seen = definitions(), 0
  for house, ending in pairs(endings) do
    for _, path in ipairs(walk(house, ending)) do
      local text = read(path)
      local uses = named(house, text)
      if house == "core" then table.move(called(owner, text), 1, 10000, #uses + 1, uses) end
      seen = seen + #uses
      check.equal(table.concat(upward(house, path, uses), "; "), "")
    end
  end
  assert(seen > 3000, "the test finds the edges: " .. seen)
end)

check.test("an edge upward is named with its two files", function()
  local function seen(house, path, text) return upward(house, path, named(house, text))[1] end
  check.equal(seen("core", "core/base/err.c", '#include "gpu/plan/plan.h"\n'), "core/base/err.c uses gpu/plan/plan.h")
  check.equal(seen("core", "core/sim/exec/block.c", '#include "sim/watch/race.h"\n'), "core/sim/exec/block.c uses sim/watch/race.h")
  check.equal(seen("core", "core/sim/read/decode.c", '#include "sim/launch.h"\n'), "core/sim/read/decode.c uses sim/launch.h")
  check.equal(seen("lua/cawb", "lua/cawb/judge/task/scale.lua", 'local run = require "cawb.run.run"'),
              "lua/cawb/judge/task/scale.lua uses run/run.lua")
  check.equal(seen("lua/cawb", "lua/cawb/compose/emit/pack.lua", 'require("cawb.compose.schedule." .. name)'),
              "lua/cawb/compose/emit/pack.lua uses compose/schedule/")
  check.equal(seen("python/cawb_host", "python/cawb_host/base/channel.py", "from cawb_host.judge.compare.gpu import Judge\n"),
              "python/cawb_host/base/channel.py uses judge/compare/gpu.py")
  check.equal(upward("core", "core/gpu/device/device.c", called(definitions(), "return cawb_device_open_sim(out);"))[1],
              "core/gpu/device/device.c uses sim/device.c")
end)

check.test("every folder is a room of the one list, and has a floor", function()
  local room = {}
  for _, name in ipairs(rooms) do room[name] = true end
  for house, ending in pairs(endings) do
    for _, path in ipairs(walk(house, ending)) do
      local within = path:sub(#house + 2)
      local first = within:match "^([%w_]+)/"
      assert(not first or room[first], path .. " stands in no room of the list")
      assert(not first or floor_of(house, within) or within:find "^judge/jailed/" or within:find "^judge/statistics/" or within:find "^judge/watch/",
        path .. " has no floor")
    end
  end
  local beside = { support = true, fuzz = true }
  for _, name in ipairs(assert(core.fs.list "tests")) do
    assert(core.fs.kind("tests/" .. name) ~= "folder" or room[name] or beside[name], "tests/" .. name .. " is no room")
  end
end)

check.test("core holds no Python, and no folder has more than 25 files", function()
  check.equal(table.concat(walk("core", "%.py$"), " "), "")
  local function count(dir)
    local files = 0
    for _, name in ipairs(assert(core.fs.list(dir))) do
      local kind = core.fs.kind(dir .. "/" .. name)
      if kind == "folder" and name ~= "__pycache__" then count(dir .. "/" .. name) elseif kind == "file" then files = files + 1 end
    end
    assert(files <= 25, ("%s has %d files"):format(dir, files))
  end
  for _, dir in ipairs { "bench", "cluster", "cmake", "configs", "core", "docs", "examples", "kernels", "lua", "prompts", "python", "skills",
                         "strategies", "tests" } do count(dir) end
end)

check.test("the jailed side knows the judge's wire alone", function()
  for _, path in ipairs(walk("python/cawb_host/judge/jailed", "%.py$")) do
    for room in read(path):gmatch "from cawb_host%.([%w_.]+) import" do
      assert(room:find "^base" or room:find "^judge%.jailed", path .. " imports " .. room)
    end
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
  for _, header in ipairs { "lua.h", "lauxlib.h", "lualib.h", "door/bindings/util.h" } do
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

check.test("Python's functions are seen by the launcher's calls only", function()
  check.equal(only("Python.h"), 0)
  check.equal(only("cuda/launcher/python.h", "^core/cuda/launcher/call%.h$"), 1)
  check.equal(only("cuda/launcher/call.h", "^core/cuda/launcher/call%.c$"), 1)
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
      or path:match "^core/sim/" or path == "core/cuda/launcher/python.h"      -- Python's own names
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

check.test("a file of the library that begins with a name begins with its own", function()
  local seen = 0
  for _, path in ipairs(walk("lua/cawb", "%.lua$")) do
    local name = path ~= "lua/cawb/init.lua" and read(path):match "^%-%- ([%l_]+): "
    if name then
      seen = seen + 1
      check.equal(name, path:match "([%w_]+)%.lua$", path)
    end
  end
  assert(seen > 200, seen)
end)

-- Looked at twice, and left as they are.
local long = { ["core/base/store/store.c"] = "SQLite stays in one file", ["lua/meta/cawb.lua"] = "annotations of one module" }

check.test("no library file is longer than 400 lines", function()
  for _, dir in ipairs { "core", "lua", "strategies", "configs" } do
    for _, path in ipairs(walk(dir, "%.[chluapy]+$")) do
      local _, lines = read(path):gsub("\n", "")
      assert(lines <= 400 or long[path], ("%s has %d lines"):format(path, lines))
    end
  end
end)

return check.done()

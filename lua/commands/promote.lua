-- cawb promote RUN --into DIR: a candidate that passes every check, as an operator of PyTorch that
-- runs without cawb.

local command = require "cawb.door.command"
local core = require "cawb.core"
local device = require "cawb.gpu.device"
local options = require "cawb.base.options"
local promote = require "cawb.door.promote"

local M = { summary = "a checked candidate as a PyTorch operator: cawb promote RUN --into DIR" }

M.usage = [[
usage: cawb promote RUN --into DIR [--package NAME] [--shape rows=64..4096/64,cols=128]...
       [--otherwise reference|warn|refuse] [--name NAME] [--speedup 1.05] [--out STORE]
       [--turn N] [--device NAME] [--task FILE] [--trust] [--modelled] [--json]
       [--set deadlines.NAME=seconds]...

Checks the task's own shape and every --shape (constants of the task): the strict judge on ten
fresh inputs, 5% over eager and over torch.compile with confidence, the incumbent where DIR has
one; and the sanitizer. Of a range FIRST..LAST, or FIRST..LAST/STEP, the ends are checked so, and
every size between them is judged once. Writes a Python package, or nothing: the folder DIR, or
DIR/NAME with a pyproject.toml for pip. Its Module takes the place of the task's Model; what was
not verified runs the reference, or as --otherwise says. RUN is what `cawb` printed as kept,
or a name in --out. Exit code 0: promoted; 1: refused. --modelled accepts modelled times, to try
it out. The judge's options are the run's; --set changes deadlines alone, such as deadlines.run=60.
]]

local own = { ["--into"] = "value", ["--package"] = "value", ["--otherwise"] = "value", ["--name"] = "value",
  ["--speedup"] = "value", ["--out"] = "value", ["--turn"] = "value", ["--device"] = "value", ["--task"] = "value",
  ["--trust"] = "flag", ["--shape"] = "list", ["--set"] = "list", ["--modelled"] = "flag", ["--json"] = "flag" }

local most_shapes = 1024

local need, wrong = command.need, command.wrong

-- The values of `64`, `64..256` or `64..256/64`: a list, and whether each is an end of it.
local function values_of(text)
  local first, last, step = text:match "^(%d+)%.%.(%d+)$"
  if not first then first, last, step = text:match "^(%d+)%.%.(%d+)/(%d+)$" end
  if not first then return { { math.tointeger(tonumber(text)) or tonumber(text) or text, true } } end
  local from, to, by, list = tonumber(first), tonumber(last), tonumber(step or 1), {}
  if from > to or by < 1 then return nil end
  for v = from, to, by do
    if #list == most_shapes then return nil end
    list[#list + 1] = { v, v == from or v + by > to }
  end
  return list
end

-- Every combination of one more name with what there is.
local function combined(shapes, name, values)
  local list = {}
  for _, shape in ipairs(shapes) do
    for _, value in ipairs(values) do
      local overrides = {}
      for k, v in pairs(shape.overrides) do overrides[k] = v end
      overrides[name] = value[1]
      list[#list + 1] = { overrides = overrides, quick = shape.quick or not value[2] }
    end
  end
  return list
end

local wrong_shape = "--shape '%s': write NAME=value, NAME=first..last or NAME=first..last/step, with commas between"

-- The shapes that one --shape means.
local function shapes_of(text)
  local shapes = { { overrides = {}, quick = false } }
  for part in text:gmatch "[^,]+" do
    local name, value = part:match "^([%w_]+)=(.+)$"
    local values = name and values_of(value)
    if not values then wrong(wrong_shape:format(text)) end
    shapes = combined(shapes, name, values)
    if #shapes > most_shapes then
      wrong(("--shape '%s' means more than %d shapes; a larger step takes fewer"):format(text, most_shapes))
    end
  end
  return shapes
end

local function all_shapes(texts)
  local shapes = {}
  for _, text in ipairs(texts) do
    local more = shapes_of(text)
    table.move(more, 1, #more, #shapes + 1, shapes)
  end
  return shapes
end

-- Names that Python or PyTorch have already.
local taken = {}
for word in ([[False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return try while with yield torch aten prim prims numpy]]):gmatch "%S+" do
  taken[word] = true
end

-- Where the package goes and what it is called: { folder, package, project }.
local function place_of(given)
  local into = given.into:gsub("(.)/+$", "%1")
  local package = given.package or (core.fs.realpath(into) or into):match "([^/]+)$"
  if not package:match "^[%a_][%w_]*$" or taken[package] then
    wrong(("%s is no name for a Python package: letters, digits and _, no word of Python's, nor PyTorch's own; "
      .. "%s"):format(package, given.package and "choose another --package" or "choose another folder, or --package NAME"))
  end
  return { folder = given.package and into .. "/" .. package or into, package = package, project = given.package and into }
end

local function show(r)
  if r.remark then print("note: " .. r.remark) end
  for _, c in ipairs(r.checks) do print(("%s  %s%s"):format(c.ok and "passed" or "FAILED", c.what,
    c.detail ~= "" and ": " .. c.detail or "")) end
  if not r.ok then return print "refused: nothing was written" end
  print(("promoted into %s"):format(r.folder))
  local function word(path) return path:find " " and "'" .. path .. "'" or path end      -- to be pasted
  print(("try it: %s %s; then, in a Python with PyTorch and with %s on its path: from %s import Module"):format(
    word(r.python), word(r.folder .. "/test_promoted.py"), r.project or (r.folder:match "^(.*)/[^/]+$" or "."), r.package))
end

-- Which of many shapes is under way, for who waits at a terminal.
local function progress(i, n)
  if n > 2 and core.fs.columns(2) then io.stderr:write(("\r  shape %d of %d%s"):format(i, n, i == n and "\n" or "")) end
end

local function how_of(was, given, shapes, place)
  local stem = was.run.task:match "([^/]+)%.py$" or "operator"
  return { folder = place.folder, package = place.package, project = place.project, shapes = shapes,
    otherwise = given.otherwise or "reference", speedup = tonumber(given.speedup or promote.speedup), modelled = given.modelled,
    name = given.name or (stem:gsub("[^%w_]", "_"):gsub("^%d", "_%0")) .. "_" .. was.candidate.hash:sub(1, 8),
    say = not given.json and progress or nil }
end

local choices = { reference = true, warn = true, refuse = true }

local function check(given, words)
  if #words > 1 then wrong(("one run at a time, not %d: %s"):format(#words, table.concat(words, " "))) end
  if #words ~= 1 or words[1]:sub(1, 1) == "-" or not given.into then
    wrong "a run and a folder are needed: cawb promote RUN --into DIR"
  end
  if given.name and not given.name:match "^[%a_][%w_]*$" then wrong "--name: letters, digits and _" end
  if given.speedup and not tonumber(given.speedup) then wrong "--speedup needs a number" end
  if given.otherwise and not choices[given.otherwise] then
    wrong(("--otherwise %s: it is reference, warn or refuse"):format(given.otherwise))
  end
end

local function set(all, assignments)
  for key, value in pairs(all.deadlines) do all.deadlines[key] = value + 0.0 end      -- a record has 10.0 as 10
  for _, assignment in ipairs(assignments) do
    if not assignment:match "^deadlines%." then
      wrong(("--set %s: what was recorded is judged again by its own options; only deadlines.NAME=seconds can be set"):format(assignment))
    end
    command.sound(options.set(all, assignment))
  end
end

function M.main(argv)
  local given, words = command.take(argv, own)
  local shapes = all_shapes(given.shape)
  check(given, words)
  local place = place_of(given)
  local store <close>, was = command.turn(words[1], given)
  set(was.options, given.set)
  local dev <close> = need(device.open(given.device or was.run.device, { deadlines = was.options.deadlines }))
  local r = promote.run(was, dev, how_of(was, given, shapes, place))
  if given.json then print(core.json.encode(r)) else show(r) end
  return r.ok and 0 or 1
end

return M

-- live: the last line of a terminal, which says what goes on while nothing has ended yet: the turn, its stage, what is
-- waited for and for how long, and about how long it will take. What a narrow terminal has no room for is left out,
-- the least important part first. Elsewhere than on a terminal nothing is drawn. The same words go to a file in the store
-- for `cawb watch`.

local activity = require "cawb.base.activity"
local core = require "cawb.core"
local display = require "cawb.base.display"
local file = require "cawb.base.file"
local loop = require "cawb.base.loop"

local M = {}

local Live = {}
Live.__index = Live

-- ---- words

local requests = {
  ["task host"] = { hello = "starting Python", prepare = "starting PyTorch", load = "loading the task",
    sketch = "looking at the task", inputs = "making secret inputs", compare = "comparing with the reference",
    mark = "comparing bits", mutants = "trying wrong kernels on the task", relation = "making related inputs",
    baselines = "compiling and timing PyTorch", python_open = "loading the Python candidate", python_round = "running the Python candidate",
    ahead = "compiling PyTorch", set_up = "compiling PyTorch", python_shared = "looking whether somebody else uses the GPU",
    room = "making room on the device", kernels = "looking at the kernels of torch.compile", picture = "drawing the error" },
  worker = { open = "opening the device", load = "loading the kernel", run = "running", time = "timing", profile = "profiling",
    tunables = "reading the plan" },
  compiler = { version = "starting the compiler", compile = "compiling" },
  ["jail host"] = { probe = "looking what confines", spawn = "starting a confined process",
    build = "building the candidate's extensions" },
}
local simulated = { run = "simulating", time = "simulating", profile = "simulating" }
local baselines = { eager = "timing eager PyTorch", compile = "compiling a baseline with torch.compile",
                    max_autotune = "compiling a baseline with max-autotune" }

local function words_of(a, modelled)
  if a.what then return a.what end
  local order = a.request and a.request.order
  if a.op == "baselines" and type(order) == "table" and #order == 1 and baselines[order[1]] then return baselines[order[1]] end
  if a.process == "worker" and modelled and simulated[a.op] then return simulated[a.op] end
  return (requests[a.process] or {})[a.op]
end

--- Seconds as one glances at them: "4 s", "3 min".
function M.glance(s)
  if s < 90 then return ("%.0f s"):format(s) end
  return s < 5400 and ("%.0f min"):format(s / 60) or ("%.1f h"):format(s / 3600)
end

--- What goes on now: { doing = words, since = wall clock, part = "3 of 21", left = seconds }; empty where nothing does. The
--- time left is that of the outermost of which it is known.
function M.now(modelled)
  local state = {}
  for _, a in ipairs(activity.list()) do
    local words = words_of(a, modelled)
    if words then state.doing, state.since = words, a.wall end
    if a.total and a.total > 1 and not a.told then state.part = ("%d of %d"):format(math.min(a.done + 1, a.total), a.total) end
    state.left = state.left or a.total and a:left()
  end
  return state
end

--- That as texts, the most important first: { { text, rank } } in the order in which they are read.
function M.parts(state, now)
  local list, since = {}, state.since and now - state.since or 0
  local function add(text, rank) if text then list[#list + 1] = { text, rank } end end
  add(state.part, 5)
  add(state.doing, 2)
  add(since >= 1 and M.glance(since) or nil, 3)
  add(state.left and state.left >= 1 and ("about %s left"):format(M.glance(state.left)) or nil, 4)
  return list
end

--- What another process wrote that it does (`Live:tell`), as such parts; none where it wrote nothing.
function M.told(path)
  local text, now = file.read(path), core.clock.wall()
  local state = text and core.json.decode(text)
  if type(state) ~= "table" then return {} end
  state.left = state.ends and state.ends - now
  local list = M.parts(state, now)
  if (state.said or "") ~= "" then table.insert(list, 1, { state.said, 1 }) end
  return list
end

local function joined(list)
  local texts = {}
  for i, part in ipairs(list) do texts[i] = part[1] end
  return table.concat(texts, "  ")
end

--- Texts with ranks as one line of at most `width`: the highest ranks are left out first, or cut where enough of them
--- would stay.
function M.fit(list, width)
  list = table.move(list, 1, #list, 1, {})
  while #list > 1 and #joined(list) > width do
    local worst = 1
    for i, part in ipairs(list) do if part[2] >= list[worst][2] then worst = i end end
    local text, rank = table.unpack(list[worst])
    local room = #text - (#joined(list) - width)
    if room >= 12 and rank < 3 then list[worst] = { display.shorten(text, room), rank }
    else table.remove(list, worst) end
  end
  return display.shorten(joined(list), width)
end

-- ---- the line

--- Whether something can be drawn, and how wide: a terminal may have changed its width.
function Live:width() return not self.quiet and core.fs.columns(self.fd) or nil end

--- Take the line away: something else is to be written.
function Live:clear()
  self.last = core.clock.now()
  if not self.drawn then return end
  self.drawn = false
  self.out:write "\r\27[K"
  self.out:flush()
end

-- What was said last and what goes on: a list of { text, rank }.
local function all_of(self)
  local list = table.move(self.said, 1, #self.said, 1, {})
  for _, part in ipairs(M.parts(M.now(self.modelled), core.clock.wall())) do list[#list + 1] = part end
  return table.move(self.after, 1, #self.after, #list + 1, list)
end

-- Where there is no terminal: a line, where none was printed for so long.
local function print_line(self)
  self.last = self.last or core.clock.now()
  if self.quiet or not self.lines or self.lines <= 0 or core.clock.now() - self.last < self.lines then return end
  local list = all_of(self)
  if #list == 0 then return end
  self.last = core.clock.now()
  self.out:write("  ", joined(list), "\n")
  self.out:flush()
end

--- Draw it anew, from what was said last and from what goes on.
function Live:draw()
  local width = self:width()
  if not width then return print_line(self) end
  local list = all_of(self)
  if #list == 0 then return end
  self.out:write("\r\27[K", M.fit(list, width - 1))
  self.out:flush()
  self.drawn = true
end

--- What stands before and after what goes on: lists of { text, rank }.
function Live:say(said, after)
  self.said, self.after = said, after or {}
  self:draw()
end

-- For the readers of the store: written where it has changed.
local function tell(self)
  if not self.path then return end
  local state = M.now(self.modelled)
  local said = {}
  for i, part in ipairs(self.said) do said[i] = part[1] end
  state.said = table.concat(said, "  ")
  state.ends = state.left and math.floor(core.clock.wall() + state.left + 0.5)
  state.left = nil
  local text = core.json.encode(state)
  if text ~= self.told and file.replace(self.path, text) then self.told = text end
end

--- From here on what goes on is written to this file, too; nil: no longer, and the file is gone.
function Live:tell(path)
  if self.path and path ~= self.path then os.remove(self.path) end
  self.path, self.told = path, nil
end

--- Draw every `seconds` while anything is waited for, until it is closed; without a terminal print a line after `lines` without one.
function Live:begin(seconds, lines)
  self.lines = lines
  loop.pulse(function()
    self:draw()
    tell(self)
  end, seconds)
  return self
end

function Live:close()
  loop.pulse(nil)
  self:tell(nil)
  self:clear()
  self.said, self.after = {}, {}
end
Live.__close = Live.close

local known = {}

--- The line of a file handle, one for each descriptor.
function M.of(out, fd, quiet)
  local live = known[fd] or setmetatable({ fd = fd, said = {}, after = {} }, Live)
  known[fd], live.out, live.quiet = live, out, quiet
  return live
end

--- Before something is written past them all.
function M.clear()
  for _, live in pairs(known) do live:clear() end
end

return M

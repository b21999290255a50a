-- make: one draw of a set, from a number to a row: it is composed, sized, and put through the filters. Nothing here
-- depends on the clock, so the same number gives the same row.

local admission = require "cawb.judge.verify.admission"
local benchmark = require "cawb.learn.synth.benchmark"
local compose = require "cawb.compose.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local filters = require "cawb.learn.synth.filters"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local scale = require "cawb.judge.task.scale"
local seeds = require "cawb.base.seeds"
local sizes = require "cawb.learn.synth.sizes"
local tasks = require "cawb.judge.task.task"
local wire = require "cawb.base.wire"

local M = {}

M.batch = 4                            -- of the small sizes, at most
M.draws = 500                          -- of one task host: Dynamo keeps some of what it traces, half a megabyte a draw

local Maker = {}
Maker.__index = Maker

-- The host is of no use any more.
local lost = { timeout = true, died = true, protocol = true, io = true, memory = true, device = true }

-- "1:4,2:80" as { ["1"] = 4, ["2"] = 80 }, or nil and why not.
local function weights(text, option)
  local found, any = {}, false
  for part in (text .. ","):gmatch "([^,]*)," do
    local key, weight = part:match "^%s*([%w_]+)%s*:%s*([%d.]+)%s*$"
    if not tonumber(weight) then return nil, ("synth.%s '%s': write pairs, such as 1:4,2:80"):format(option, text) end
    found[key], any = tonumber(weight), any or tonumber(weight) > 0
  end
  if not any then return nil, ("synth.%s '%s': one weight at least must be above 0"):format(option, text) end
  return found
end

-- Keys of a table of weights that mean nothing.
local function unknown(found, known, option)
  for key in pairs(found) do
    if not known:find("|" .. key .. "|", 1, true) then
      return ("synth.%s: '%s' is none of %s"):format(option, key, known:gsub("^|", ""):gsub("|$", ""):gsub("|", ", "))
    end
  end
end

--- What options `synth` mean: the same, with tables for texts of weights; or nil and what is wrong.
function M.read(how)
  local read = setmetatable({}, { __index = how })
  for option, known in pairs { ops = "|1|2|3|4|5|", shares = "|nn|torch|F|transformers|", ranks = "|2|3|4|5|" } do
    local message
    read[option], message = weights(how[option], option)
    message = message or unknown(read[option], known, option)
    if message then return nil, message end
  end
  for _, option in ipairs { "without", "only" } do
    read[option] = core.json.array {}
    for name in how[option]:gmatch "%S+" do table.insert(read[option], name) end
  end
  if not (how.from > 0 and how.to >= how.from) then return nil, "synth.from and synth.to: times above 0, the second no shorter" end
  return read
end

--- A maker: `spec` = { device =, seed = text, options = all of them, how = of M.read, folder = for files of tasks,
--- set =, benchmark = of benchmark.lua or nil, propose = function(maker, number) for a text of somebody else's, or nil }.
function M.new(spec)
  return setmetatable(spec, Maker)
end

function Maker:close()
  if self.host then self.host:close() end
  self.host = nil
end
Maker.__close = Maker.close

-- The task host, started when there is none: true, or nil, message, name.
local function ready(self)
  if self.host and self.host:alive() then return true end
  self:close()
  local host, hello, name = python.start(self.options.deadlines.start)
  if not host then return nil, hello, name end
  self.host, self.hello = host, hello
  return true
end

--- Have a task host at hand: `host`, `hello`. Returns true, or nil, message, name.
function Maker:begin() return ready(self) end

--- One question to the task host.
function Maker:ask(request)
  local ok, message, name = ready(self)
  if not ok then return nil, message, name end
  return self.host:call(request, { timeout = self.how.seconds })
end

-- A number for a purpose of a draw.
function Maker:number_of(number, purpose)
  return tonumber(core.hash.sha256(("%s:%d:%s"):format(self.seed, number, purpose)):sub(1, 13), 16)
end

--- The time that a draw's task is to take, in seconds.
function Maker:target(number)
  local share = self:number_of(number, "time") / 2.0 ^ 52
  return self.how.from * (self.how.to / self.how.from) ^ share
end

local function composed(self, number)
  if self.propose then return self.propose(self, number) end
  local reply, message, name = self:ask { op = "synth_draw", seed = self:number_of(number, "draw"), counts = self.how.ops,
    shares = self.how.shares, ranks = self.how.ranks, without = self.how.without, only = self.how.only }
  if not reply then return nil, message, name end
  if not reply.code then return { status = "draw" } end
  return { code = reply.code, ops = reply.ops, source = ("%s#%d"):format(reply.source, #reply.ops), licence = reply.licence,
           generator = "compose" }
end

-- ---- the steps; each fills in the row, and returns true where the task goes on, false where it is rejected, or nil,
-- message, name where the machine cannot go on.

local function rejected(row, status, reason)
  row.status, row.reason = status, reason and tostring(reason):sub(1, 400) or nil
  return false
end

-- A failure of the host: the world's, or the task's own.
local function failed(row, status, message, name)
  if name == "interrupted" or name == "missing" then return nil, message, name end
  return rejected(row, lost[name] and "crashed" or status, message)
end

-- The file's text says BATCH where the batch is to stand.
local function sized(self, row)
  local path = ("%s/%06d.py"):format(self.folder, row.number)
  local ok, message, name = file.write(path, (row.template:gsub("BATCH", "64")))
  if not ok then return nil, message, name end
  row.path = path
  local found
  found, message, name = sizes.fit(self.host, path, row.target, self.device.info, self.how)
  if not found then return failed(row, "sketch", message, name) end
  row.found = found
  row.code = row.template:gsub("BATCH", ("%d"):format(found.batch))
  ok, message, name = file.write(path, row.code)
  if not ok then return nil, message, name end
  if not found.eager_s then return rejected(row, "sketch", "there is no operator in it") end
  local within = found.eager_s >= self.how.from and found.eager_s <= self.how.to
    and found.largest <= self.how.tensor and found.bytes <= self.how.bytes
  if not within then
    return rejected(row, "time", ("%.3g ms with a batch of %d, a tensor of %.3g GB"):format(found.eager_s * 1e3, found.batch, found.largest / 1e9))
  end
  return true
end

local function compared(self, row)
  local key = row.found.graph.key
  local earlier = self.set:graph(key)
  if earlier then return rejected(row, "duplicate", ("of draw %d"):format(earlier)) end
  if not self.benchmark then return true end
  local r, message, name = benchmark.check(self.benchmark, self, key, row.code, self.how.similar)
  if not r then return failed(row, "crashed", message, name) end
  row.similarity, row.nearest = r.similarity, r.nearest
  return not r.status or rejected(row, r.status, r.reason)
end

-- Options of the small sizes that the filters run at.
local function small(self, row)
  local all = options.copy(self.options)
  all.scale.memory, all.scale.operations = self.how.memory, self.how.operations
  local batch = math.min(row.found.batch, M.batch)
  local quick = sizes.shrink(self.host, row.path, row.found.constants, batch, self.how)
  all.task = quick or { batch_size = batch }
  if not quick then
    local fitted, message, name = scale.fit(self.host, row.path, self.device, all)
    if not fitted then return nil, message, name end
  end
  all.scale.mode = "none"
  self.fitted = { number = row.number, task = all.task, memory = self.how.memory, operations = self.how.operations }
  return all
end

local function examined(self, row)
  local all, message, name = small(self, row)
  if not all then return failed(row, "eager", message, name) end
  row.small = all
  local facts
  facts, message, name = self:ask { op = "synth_examine", path = wire.path(row.path), overrides = all.task,
    seed = self:number_of(row.number, "inputs") }
  if not facts then return failed(row, "eager", message, name) end
  row.facts = facts
  local filter, why = filters.of_facts(facts, self.how)
  if filter then return rejected(row, filter, why) end
  return true
end

-- Into kernels, or why not. A fault of compose's is no reason against the task.
local function lowered(self, task)
  local info = self.device.info
  local good, made, why = pcall(compose.make, task, { arch = info.arch, memory = info.memory })
  if not good then return { refused = "compose failed: " .. tostring(made):match "[^\n]*" } end
  if not made then return { refused = tostring(why) } end
  return { kernels = #made.kernels }
end

local function admitted(self, row)
  local task <close>, message, name = tasks.open(row.path, { device = self.device, options = row.small,
    seed = core.hash.sha256(("%s:%d:admission"):format(self.seed, row.number)):sub(1, 16), host = { self.host, self.hello } })
  if not task then return failed(row, "admission", message, name) end
  local r
  r, message, name = admission.examine(task, row.small)
  if not r then return failed(row, "admission", message, name) end
  if not r.admitted then return rejected(row, "admission", r.reason) end
  row.mutants = { killed = r.protocols.strict.killed, of = r.protocols.strict.mutants }
  row.compose = lowered(self, task)
  return true
end

local steps = { sized, compared, examined, admitted }

local function data_of(self, row)
  local found, facts = row.found or {}, row.facts or {}
  return { ops = core.json.array(row.ops or {}), data_source = row.source, generator = row.generator, licence = row.licence,
    seed = self.seed, target_s = row.target, batch = found.batch, eager_modelled_s = found.eager_s,
    compile_modelled_s = found.compile_s, bytes = found.bytes, flops = found.flops, graph_text = found.graph and #found.graph.text < 4000 and found.graph.text or nil,
    ast_similarity = row.similarity, nearest = row.nearest, compose = row.compose, mutants = row.mutants,
    largest = facts.largest, idle = facts.idle }
end

-- The task host for one more draw.
local function host_for_draw(self)
  if self.drawn == M.draws then self:close() end
  self.drawn = self.host and (self.drawn or 0) + 1 or 1
  return ready(self)
end

--- A draw's row for the set: { status, reason, graph, code, data }, or nil, message, name.
function Maker:make(number)
  local ok, message, name = host_for_draw(self)
  if not ok then return nil, message, name end
  local drawn
  drawn, message, name = composed(self, number)
  local row = { number = number, target = self:target(number) }
  if not drawn then
    ok, message, name = failed(row, "crashed", message, name)
    if ok == nil then return nil, message, name end
    drawn = {}
  end
  row.template, row.ops, row.source, row.licence, row.generator = drawn.code, drawn.ops, drawn.source, drawn.licence, drawn.generator
  if drawn.status then rejected(row, drawn.status, drawn.reason) end
  for _, step in ipairs(row.status and {} or steps) do
    ok, message, name = step(self, row)
    if ok == nil then return nil, message, name end
    if not ok then break end
  end
  if row.path then os.remove(row.path) end
  if row.status == "crashed" then self:close() end
  return { status = row.status or "kept", reason = row.reason, graph = row.found and row.found.graph.key,
           code = not row.status and row.code or nil, data = data_of(self, row) }
end

return M

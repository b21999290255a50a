-- scale: sizes of a task that fit. The module-level sizes of task.py are divided, step by
-- step, until its tensors and operations stay below the limits of the options `scale`. Each
-- step is tried on a sketch of the task, which has shapes and no data: sizes that do not go
-- together are not taken. Of the steps that help the one is taken that changes operations a
-- byte least for what it saves; where several are alike, the batch goes first.

local core = require "cawb.core"
local loop = require "cawb.base.loop"
local wire = require "cawb.base.wire"

local M = {}

local most_tries, most_seconds = 400, 20   -- an unrolled recurrence takes seconds to sketch

--- How a task is to be opened on a device: "none", "fit", "full" or "both".
function M.mode(device, options)
  local mode, simulated = options.scale.mode, device.info.modelled
  if mode == "auto" then return simulated and "fit" or "none" end
  return (mode == "full" or mode == "both") and not simulated and "none" or mode
end

--- Whether sizes shrink in that mode.
function M.shrinks(mode) return mode == "fit" or mode == "both" end

--- What "full" asks of a simulated device that is about to be opened.
function M.prepare(options)
  if options.scale.mode == "full" and options.simulate.blocks == 0 then
    options.simulate.blocks = options.scale.blocks
  end
end

-- ---- what a task needs

local function limits_of(device, options)
  local how = options.scale
  if M.mode(device, options) == "both" then return how.both.memory, how.both.operations end
  if device.info.modelled or not device.info.memory then return how.memory, how.operations end
  return device.info.memory * how.share, math.huge
end

local function need_of(sketch, memory, operations)
  local flops = 0.0
  for _, op in ipairs(sketch.graph) do flops = flops + op.flops end
  return { bytes = sketch.bytes, flops = flops, intensity = math.max(flops, 1.0) / math.max(sketch.bytes, 1.0),
           over = math.max(sketch.bytes / memory, flops / operations) }
end

-- ---- sizes and steps

-- A size is a whole number of a constant, or one that a list has once or more often.
local function sizes_of(constants, overrides)
  local list = {}
  local function add(name, value, inside)
    value = math.tointeger(value)
    if not value or value < 2 then return end
    list[#list + 1] = { name = name, value = value, inside = inside,
      batch = name:lower():find "batch" ~= nil or name == "B" or name == "b" or name:lower():find "^num_samples" ~= nil }
  end
  for name, value in pairs(constants) do
    if overrides[name] == nil then
      if type(value) == "number" then add(name, value)
      elseif type(value) == "table" then
        local seen = {}
        for _, v in ipairs(value) do
          if type(v) == "number" and not seen[v] then add(name, v, true) end
          seen[v] = true
        end
      end
    end
  end
  table.sort(list, function(a, b) return a.name < b.name or a.name == b.name and a.value > b.value end)
  return list
end

-- What is left of a size after one step: multiples of two stay so as long as they can. A batch need not be a multiple of anything:
-- one that none of these divides is halved all the same.
local function smaller(size, least)
  local value = size.value
  for _, prime in ipairs { 2, 3, 5, 7 } do
    if value % prime == 0 then return value // prime >= least and value // prime or nil end
  end
  return size.batch and value // 2 >= least and value // 2 or nil
end

local function replaced(list, from, to)
  local new = {}
  for i, v in ipairs(list) do new[i] = v == from and to or v end
  return new
end

-- The overrides with one size changed.
local function with(overrides, constants, size, value)
  local new = {}
  for k, v in pairs(overrides) do new[k] = v end
  if size.inside then new[size.name] = replaced(new[size.name] or constants[size.name], size.value, value)
  else new[size.name] = value end
  return new
end

-- Batches and other sizes stay at least so large, in one pass after the other.
local passes = { { 8, 64 }, { 2, 32 }, { 1, 8 } }

local function better(a, b)
  if not b then return true end
  if math.abs(a.score - b.score) > 0.05 then return a.score < b.score end
  if a.size.batch ~= b.size.batch then return a.size.batch end
  return a.size.value > b.size.value
end

-- Whether nothing is left of an output: of a crop whose margins are as wide as the image, say.
local function empty(sketch)
  for _, output in ipairs(sketch.outputs) do
    for _, n in ipairs(output.shape) do if n == 0 then return true end end
  end
  return false
end

-- Tried and understood: what the sketch with one size changed needs, or nil.
local function try(state, size, least)
  local value = smaller(size, least)
  if not value or state.left <= 0 or core.clock.now() > state.ends then return nil end
  state.left = state.left - 1
  local overrides = with(state.overrides, state.constants, size, value)
  local sketch = state.ask(overrides)
  local need = sketch and not empty(sketch) and need_of(sketch, state.memory, state.operations)
  if not need or not (need.over < 0.999 * state.need.over) then return nil end
  local saved = math.log(state.need.over / need.over)
  return { size = size, value = value, need = need, overrides = overrides,
           score = math.abs(math.log(need.intensity / state.need.intensity)) / saved }
end

local function step(state, floors)
  local best
  for _, size in ipairs(state.sizes) do
    local t = try(state, size, floors[size.batch and 1 or 2])
    if t and better(t, best) then best = t end
  end
  if not best then return false end
  best.size.value, state.overrides, state.need = best.value, best.overrides, best.need
  return true
end

local function shrink(state)
  for _, floors in ipairs(passes) do
    while state.need.over > 1 do
      if not step(state, floors) then break end
    end
  end
end

-- ---- words

local function amount(bytes)
  if bytes >= 1e9 then return ("%.3g GB"):format(bytes / 1e9) end
  return ("%.3g MB"):format(bytes / 1e6)
end

local function describe(first, state)
  local words = {}
  for _, size in ipairs(state.sizes) do
    if size.value ~= first[size] then words[#words + 1] = ("%s %d -> %d"):format(size.name, first[size], size.value) end
  end
  return words
end

--- Shrink a task to fit the device: enters what it chose into options.task. Constants that are in `fixed`
--- (options.task, where it is not given) stay as they are. Returns
--- { changes = { "rows 4096 -> 256", ... }, fits =, text = all of it in words, or nil where
--- nothing had to change, before =, after = { bytes, flops }, own = the sketch of the task as it was };
--- or nil and why the task's sizes cannot be known without loading it.
function M.fit(host, path, device, options, fixed)
  local deadline = { timeout = options.deadlines.task }
  local function ask(overrides)
    return loop.call(host, { op = "sketch", path = wire.path(path), overrides = overrides, init_seed = 42 }, deadline)
  end
  local sketch, message = ask(options.task)
  if not sketch then return nil, message end
  local memory, operations = limits_of(device, options)
  local state = { ask = ask, memory = memory, operations = operations, constants = sketch.task.constants,
    sizes = sizes_of(sketch.task.constants, fixed or options.task), overrides = options.task,
    need = need_of(sketch, memory, operations), left = most_tries, ends = core.clock.now() + most_seconds }
  local before, first = state.need, {}
  if before.over <= 1 then return { changes = {}, fits = true, before = before, after = before } end
  for _, size in ipairs(state.sizes) do first[size] = size.value end
  shrink(state)
  local words, fits = describe(first, state), state.need.over <= 1
  options.task = state.overrides
  local text = #words > 0 and ("scaled to fit %s: %s (tensors of %s, were %s)"):format(device.info.name,
    table.concat(words, ", "), amount(state.need.bytes), amount(before.bytes)) or nil
  if not fits then
    text = (text and text .. "; " or "") .. "still larger than the options scale.memory and scale.operations ask for"
  end
  return { changes = words, fits = fits, text = text, before = before, after = state.need, own = sketch }
end

return M

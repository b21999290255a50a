-- candidate: a task, lowered: kernel.cu and plan.lua.

local chips = require "cawb.gpu.chip"
local choices = require "cawb.compose.tune.choices"
local concatenation = require "cawb.compose.schedule.concatenation"
local core = require "cawb.core"
local decisions = require "cawb.compose.decisions"
local file = require "cawb.base.file"
local fusion = require "cawb.compose.schedule.fusion"
local kernels_of = require "cawb.compose.schedule.kernels"
local keys = require "cawb.compose.ir.keys"
local import = require "cawb.compose.operators.import"
local levels = require "cawb.compose.plan.levels"
local library = require "cawb.compose.ir.library"
local limits = require "cawb.compose.plan.limits"
local lists = require "cawb.base.lists"
local merge = require "cawb.compose.plan.merge"
local partial = require "cawb.compose.split.partial"
local partition = require "cawb.compose.schedule.partition"
local plan = require "cawb.compose.plan.plan"
local prepared = require "cawb.compose.ir.prepared"
local records = require "cawb.compose.tune.records"
local repeated = require "cawb.compose.schedule.repeated"
local rewrite = require "cawb.compose.rewrite.rewrite"
local row_pitch = require "cawb.compose.schedule.row_pitch"
local schedule = require "cawb.compose.schedule.schedule"
local search = require "cawb.compose.tune.search"
local show = require "cawb.compose.plan.show"
local split = require "cawb.compose.split.split"
local store = require "cawb.compose.ir.store"
local tensors = require "cawb.compose.schedule.tensor_cores"
local unfused = require "cawb.compose.schedule.unfused"

local M = {}

local function name_of(kernel, number)
  local from = kernel.roots[#kernel.roots].from
  local word = from and from.name or kernel.kind
  return ("k%d_%s"):format(number, (word:gsub("^_+", "")))
end

-- Text and launches of a kernel, under a number that no other one has; or nil and why it cannot be made.
local function generate_one(kernel, number, options, known)
  kernel.name, kernel.reads, kernel.own = name_of(kernel, number), { table.unpack(kernels_of.reads(kernel)) }, kernels_of.inside(kernel)
  local made, why = repeated.generate(kernel, options, known)
  if why then return nil, ("%s: %s"):format(plan.about(kernel), why) end
  kernel.whole, kernel.call = made, not made or nil
  for _, x in ipairs(kernel.call and kernel.roots[1].inputs or {}) do
    local l = library.layout(x)
    if l then kernel.reads[#kernel.reads + 1] = l.node end
  end
  return true
end

-- The same of all kernels that have none, under numbers above `last`. Returns the last number.
local function generate(kernels, options, last)
  local known = {}
  for _, kernel in ipairs(kernels) do
    if not kernel.name then
      last = last + 1
      local fine, why = generate_one(kernel, last, options, known)
      if not fine then return nil, why end
    end
  end
  return last
end

local function part(name)
  return assert(file.read(("%s/lua/cawb/compose/emit/parts/%s.cuh"):format(core.home, name)))
end

local MANY = 150000                   -- bytes of kernels from which on loops that hardly ever run are not unrolled, for a build's sake

-- kernel.cu: a comment about its kernels, headers, shared parts, kernels.
local function source(kernels)
  local headers, needs, texts, about = {}, {}, {}, {}
  for _, kernel in ipairs(kernels) do
    local made = kernel.made
    about[#about + 1] = ("// %s: %s"):format(kernel.call and (kernel.kind == "conv" and "conv" or "gemm") or kernel.name,
      kernel.as and "as " .. kernel.as or plan.about(kernel))
    for header in pairs(made and made.headers or {}) do headers[header] = true end
    for _, need in ipairs(made and made.needs or {}) do needs[need] = true end
    if made and made.text then texts[#texts + 1] = made.text end
  end
  local lines, text = { table.concat(about, "\n"), "" }, table.concat(texts, "\n")
  for _, header in ipairs(keys(headers)) do lines[#lines + 1] = header:find "%.h$" and ("#include <%s>"):format(header) or part(header) end
  if #text > MANY then lines[#lines + 1] = '#define RARE _Pragma("unroll 1")' end
  if #texts > 0 then lines[#lines + 1] = part "unroll" .. "\n" .. part "pack" end
  for _, need in ipairs(keys(needs)) do lines[#lines + 1] = part(need) end
  return table.concat(lines, "\n") .. "\n" .. text
end

-- Whether an operand is read as it lies: kernels of one's own read through any view.
local function strided(x, input) return x.own or library.strided(x, input) end

--- A candidate as the lines of a table; with a profile of it and the device's bandwidth, see show.lua.
M.table = show.lines

--- A candidate at a level of its lowering, "graph", "kernels", "schedule" or "text", as lines: see plan/levels.lua.
M.levels = levels

--- Seconds and launches of each of its kernels, of a profile of it: see show.lua. Schedules, their decisions, and a search among them:
--- schedule.lua, decisions.lua, search.lua; measurements of searches, records.lua, and their choices in earlier runs, choices.lua.
M.times, M.launches, M.schedule, M.decisions, M.tune, M.records, M.choices = show.times, show.launches, schedule, decisions, search, records, choices

local compares = { eq = true, ne = true, lt = true, le = true, gt = true, ge = true }

local function is_computed(x)
  while x.kind == "view" and #x.pieces == 1 do x = x.inputs[1] end
  return x.kind ~= "leaf"
end

-- A computed value that is compared must be the same wherever it is computed. So products and sums are not contracted then: a
-- compiler may contract them in one place and not in another.
local function flags(g)
  local function compares_computed(x)
    return x.kind == "map" and x.from and compares[x.from.name] and #x.inputs == 2 and lists.all(x.inputs, is_computed) and x.cast:find "float"
  end
  return lists.any(g.nodes, compares_computed) and { "-fmad=false" } or {}
end

local LARGEST = 1000000               -- bytes of a kernel.cu: a little below the limit of a candidate

-- Texts that are too long have no comments on lines of their own, and no indentation.
local function shorter(text)
  return (("\n" .. text):gsub("\n[ \t]+", "\n"):gsub("\n//[^\n]*", ""):gsub("\n\n+", "\n"):sub(2))
end

-- The source, the plan and its scratch memory, of generated kernels.
local function assembled(g, kernels, options)
  for _, kernel in ipairs(kernels) do
    kernel.made, kernel.as = kernel.whole and lists.copy(kernel.whole), nil
    if kernel.made then kernel.made.launches = lists.map(kernel.whole.launches, lists.copy) end
  end
  prepared.mark(kernels)
  merge.apply(kernels, options.long)
  local text, scratch = plan.text(g, kernels)
  return { source = source(kernels), plan = text, kernels = kernels, scratch = scratch }
end

-- The same, no longer than a candidate may be: without comments, then with fewer products on tensor cores. `last`: number of a kernel.
local function fitting(g, kernels, options, last)
  local largest, made = options.largest or LARGEST, assembled(g, kernels, options)
  while #made.source > largest do
    made.source = shorter(made.source)
    local excess = #made.source - largest
    local fewer = excess > 0 and unfused.shorter(g, kernels, excess, function(kernel) return kernel.made.text and #shorter(kernel.made.text) or 0 end)
    if not fewer then return made end
    local why
    last, why = generate(fewer, options, last)
    if not last then return nil, why end
    kernels, made = fewer, assembled(g, fewer, options)
  end
  return made
end

local function graph_of(task, options)
  if options.graph then return store.read(options.graph) end
  return import.graph(task, options)
end

local function lowered(task, given)
  local joins = {}
  local options = schedule.options(given, joins)
  local g, why = graph_of(task, options)
  if not g then return nil, why end
  local steps = options.rewrite == false and {} or rewrite.apply(g, options.skip, function(x) return tensors.serves({ kind = "product", roots = { x }, members = {} }, options) end)
  local able = partial.begin(g, options)
  split.long(g, options)
  schedule.label(g)
  for _, x in ipairs(g.nodes) do
    if options.stores[x.label] and x.kind == "map" then x.wanted = true end
  end
  local fuse = options.fuse ~= false
  if fuse and options.concatenate ~= false then concatenation.wish(g) end
  local kernels = partition.kernels(g, strided)
  if fuse then kernels = fusion.apply(kernels, options) end
  row_pitch.apply(kernels, options)
  local last, made
  last, why = generate(kernels, options, 0)
  if last then made, why = fitting(g, kernels, options, last) end
  if not made then return nil, why end
  made.graph, made.rewrites, made.schedule, made.joins, made.begun = g, steps, options.schedule or schedule.default(), joins, able
  made.options = flags(g)
  return made
end

local PAUSE = 1000       -- per cent of its size to which memory grows before it is collected: a quarter of a lowering's time is saved

-- Collects memory less often until the value that is returned is closed.
local function unhurried()
  local before = collectgarbage("setpause", PAUSE)
  return setmetatable({}, { __close = function() collectgarbage("setpause", before) end })
end

--- A task as { source, plan, options of the compiler, kernels, texts = how many texts of kernels were generated }; or nil and what cannot be lowered, why, and where it stands.
--- A text that would be too long gets fewer comments. If that is not enough, products with the fewest operations are left to libraries
--- (schedule/unfused.lua). `options`:
---   graph         text of a graph (ir/store.lua) in place of the task's
---   arch          of the device, as "sm_90a"; without it nothing is made for a special device
---   chip          that it is for (gpu/chip.lua), if not the task's device or one of this architecture
---   memory        bytes of the device
---   tensor_cores  false: none for products, convolutions and attention
---   libraries     false: no calls of libraries
---   gradients     true: it computes gradients, whose convolutions take three bfloat16 parts at once: zeros and tiny numbers are too much for pairs of halves.
---                 Sums of its products leave the tensor cores twice as often (emit/tensor/pack.lua)
---   fuse          false: every node that can have a kernel of its own gets it
---   choice        which kernels may be fused
---   attend        false: no attention in one kernel; a number: the least scores for it
---   rewrite       false: no rewrites (rewrite.lua)
---   schedule      see schedule.lua
---   kernels       options of a kernel
---   long          bytes of kernels from which on kernels that differ only in numbers are one (plan/merge.lua)
function M.make(task, options)
  local _ <close> = unhurried()
  local chip = options and options.chip or chips.wanted(task.device, options and options.arch)
  if options and options.tensor_cores == false then chip = chips.with(chip, { tensor = false, fp8 = false }) end
  local all = setmetatable({ chip = chip, texts = { 0 } }, { __index = options })
  local made, why = lowered(task, all)
  if not made then return nil, why end
  made.texts = all.texts[1]
  local beyond = limits.refusal(made, task, all.memory, plan.about)
  if beyond then return nil, beyond end
  return made
end

return M

-- candidate: a task, lowered: kernel.cu and plan.lua.

local behind = require "cawb.compose.behind"
local choose = require "cawb.compose.choose"
local core = require "cawb.core"
local factors = require "cawb.compose.factors"
local file = require "cawb.base.file"
local import = require "cawb.compose.import"
local library = require "cawb.compose.library"
local partition = require "cawb.compose.partition"
local plan = require "cawb.compose.plan"
local show = require "cawb.compose.show"
local split = require "cawb.compose.split"

local M = {}

local function name_of(kernel, number)
  local from = kernel.roots[#kernel.roots].from
  local word = from and from.name or kernel.kind
  return ("k%d_%s"):format(number, (word:gsub("^_+", "")))
end

-- Text and launches for each kernel; or nil and what cannot be made.
local function generate(kernels, options)
  for number, kernel in ipairs(kernels) do
    kernel.name, kernel.reads, kernel.own = name_of(kernel, number), partition.reads(kernel), {}
    for _, list in ipairs { kernel.roots, kernel.members } do
      for _, x in ipairs(list) do kernel.own[x] = true end
    end
    local made, why = choose.generate(kernel, options)
    if why then return nil, ("%s: %s"):format(plan.about(kernel), why) end
    kernel.made = made
    if not made then
      kernel.call = true
      for _, x in ipairs(kernel.roots[1].inputs) do
        local l = library.layout(x)
        if l then kernel.reads[#kernel.reads + 1] = l.node end
      end
    end
  end
  return true
end

-- Kernels whose texts differ in their name alone are built once, under the first one's name.
local function share(kernels)
  local first = {}
  for _, kernel in ipairs(kernels) do
    local made = kernel.made
    if made then
      local key = made.text:gsub("%f[%w_]" .. kernel.name, "@")
      local name = first[key]
      first[key] = name or kernel.name
      if name then
        made.text, kernel.as = nil, name
        for _, launch in ipairs(made.launches) do launch.kernel = launch.kernel:gsub("^" .. kernel.name, name) end
      end
    end
  end
end

local function part(name)
  return assert(file.read(("%s/lua/cawb/compose/parts/%s.cuh"):format(core.home, name)))
end

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- kernel.cu: what it is, headers, shared parts, kernels.
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
  local lines = { table.concat(about, "\n"), "" }
  for _, header in ipairs(sorted(headers)) do lines[#lines + 1] = ("#include <%s>"):format(header) end
  if #texts > 0 then lines[#lines + 1] = part "pack" end
  for _, need in ipairs(sorted(needs)) do lines[#lines + 1] = part(need) end
  return table.concat(lines, "\n") .. "\n" .. table.concat(texts, "\n")
end

-- Whether an operand is read as it lies: kernels of one's own read through any view.
local function strided(x, input) return x.own or library.strided(x, input) end

local function never() return false end

--- What was made, as the lines of a table.
function M.table(made) return show.lines(made) end

local LARGEST = 1000000               -- bytes of a kernel.cu: a little below what is taken

local function once(task, options)
  local g, why = import.graph(task, options)
  if not g then return nil, why end
  split.long(g, options)
  local fuse = options.fuse ~= false
  local kernels = partition.kernels(g, { choice = not fuse and never or options.choice, strided = strided })
  if fuse then kernels = factors.absorb(behind.join(kernels, options), options) end
  local made
  made, why = generate(kernels, options)
  if not made then return nil, why end
  share(kernels)
  return { source = source(kernels), plan = plan.text(g, kernels), kernels = kernels, graph = g }
end

--- A task as { source, plan, kernels }; or nil and what cannot be lowered, why, and where it stands.
--- Where the text would be too long, products with few operations are left to libraries, until it is not.
--- `options`: arch (of the device, as "sm_90a": without it nothing is made for one), libraries (false: no calls of
--- them), fuse (false: a kernel for whatever can have one), choice (of fusions), kernels (tunes one).
function M.make(task, options)
  local all = setmetatable({}, { __index = options })
  local made, why = once(task, all)
  while made and #made.source > (all.largest or LARGEST) and all.arch and (all.least or 0) < 1 << 40 do
    all.least = all.least and all.least * 4 or 1 << 28
    made, why = once(task, all)
  end
  return made, why
end

return M

-- short: a candidate in one message, without what can be put back: comments, helpers that kernels share, and what a plan expects of
-- its tensors. docs/reference/candidate.md describes the form.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local plans = require "cawb.compose.plan.plan"
local proposals = require "cawb.agent.proposals"

local M = {}

-- Texts of helpers that are put back, each behind those that it needs.
local names = { "kernel", "unroll", "pack", "hold", "join", "join_cluster", "meet", "online" }

local most_bytes = 1 << 16        -- of a message: a reply that repeats itself is not read

-- What a helper's text defines: { functions = names, types = names of types and macros }.
local function defined(text)
  local found = { functions = {}, types = {} }
  for name in text:gmatch "#%s*define ([%w_]+)" do found.types[#found.types + 1] = name end
  for name in text:gmatch "__device__[^\n(]-([%w_]+)%(" do found.functions[#found.functions + 1] = name end
  for name in text:gmatch "struct [^{;\n]-([%w_]+) {" do found.types[#found.types + 1] = name end
  return found
end

local known

--- The helpers: { name =, text =, functions = names, types = names } in the order of a source.
function M.helpers()
  if known then return known end
  known = {}
  for i, name in ipairs(names) do
    local text = assert(file.read(("%s/lua/cawb/compose/emit/parts/%s.cuh"):format(core.home, name)))
    known[i] = defined(text)
    known[i].name, known[i].text = name, text
  end
  return known
end

local function mentions(text, helper)
  for _, name in ipairs(helper.functions) do
    if text:find("%f[%w_]" .. name .. "%s*[<(]") then return true end
  end
  for _, name in ipairs(helper.types) do
    if text:find("%f[%w_]" .. name .. "%f[^%w_]") then return true end
  end
end

-- Whether a source has a definition of its own of one of a helper's names.
local function redefines(source, helper)
  local own = defined(source)
  for _, list in ipairs { "functions", "types" } do
    for _, mine in ipairs(own[list]) do
      for _, name in ipairs(helper[list]) do if mine == name then return true end end
    end
  end
end

-- The helpers that a source needs, directly or through another helper, in order.
local function needed(source)
  local wanted, text = {}, source
  local helpers = M.helpers()
  for i = #helpers, 1, -1 do
    if mentions(text, helpers[i]) and not redefines(source, helpers[i]) then
      table.insert(wanted, 1, helpers[i])
      text = text .. helpers[i].text
    end
  end
  return wanted
end

-- Where a source's own text begins: behind its first lines that include.
local function behind_headers(source)
  local at = 1
  for from, line in source:gmatch "()([^\n]*)\n" do
    if line:match "^%s*#%s*include" then at = from + #line + 1 elseif line:match "%S" then break end
  end
  return at
end

--- A source with the helpers that it uses and does not define.
function M.whole_source(source)
  local texts = {}
  for i, helper in ipairs(needed(source)) do texts[i] = helper.text end
  if #texts == 0 then return source end
  local at = behind_headers(source)
  return source:sub(1, at - 1) .. table.concat(texts, "\n") .. "\n" .. source:sub(at)
end

local function tensors_of(task)
  local list = {}
  local function add(name, t) if t.shape then list[#list + 1] = { name = name, dtype = t.dtype, shape = t.shape, strides = t.strides } end end
  for i, t in ipairs(task.inputs) do add(("inputs[%d]"):format(i), t) end
  for _, t in ipairs(task.params) do add(("params[%q]"):format(t.name), t) end
  return list
end

--- A plan with what it expects of a task's tensors, unless it says so itself.
function M.whole_plan(plan, task)
  if plan:find("expect(", 1, true) then return plan end
  local place = plan:find("place[", 1, true) and not plan:find("local place", 1, true) and "local place = {}\n" or ""
  return plans.expectations(tensors_of(task)) .. "\n\n" .. place .. plan
end

--- What a message holds: { source =, plan = } as they are written; or nil and what to tell its author.
function M.parse(text)
  if #text > most_bytes then
    return nil, ("The message has %d bytes; at most %d are read. Write each block once."):format(#text, most_bytes)
  end
  local found, why = proposals.blocks(text)
  if not found then return nil, why end
  if not found.source:find "%S" then return nil, "The ```cuda block is empty: kernel.cu goes there." end
  if not found.plan:find "%S" then return nil, "The ```lua block is empty: plan.lua goes there." end
  return found
end

--- What was parsed, whole, as a candidate of an open task.
function M.whole(found, task, name)
  return candidates.new { source = M.whole_source(found.source), plan = M.whole_plan(found.plan, task), name = name or "short" }
end

-- Without lines that are comments or empty.
local function bare(text)
  return (("\n" .. text):gsub("\n[ \t]*//[^\n]*", ""):gsub("\n[ \t]*%-%-[^\n]*", ""):gsub("\n%s*\n", "\n"):gsub("^\n", ""):gsub("%s+$", ""))
end

local function without(text, piece)
  local from, to = text:find(piece, 1, true)
  return from and text:sub(1, from - 1) .. text:sub(to + 1) or text
end

-- Kernels as `k1`, without their operator's name, and their first lines by the helpers for these.
local function brief(source, plan)
  for name in plan:gmatch 'launch%("([%w_]+)"' do
    local own, whole = name:match "^k%d+", "%f[%w_]" .. name .. "%f[^%w_]"
    if own then source, plan = source:gsub(whole, own), plan:gsub(whole, own) end
  end
  source = source:gsub('extern "C" __global__ void __launch_bounds__(%b())\n([^\n]*)', function(threads, line)
    line = line:gsub("const ([%w_]+) %*__restrict__ ", "READ(%1) "):gsub("([%w_]+) %*__restrict__ ", "WRITE(%1) ")
    return "KERNEL" .. threads .. " " .. line
  end)
  return source, plan
end

--- A candidate's source and plan, as compose writes them, in the short form.
function M.write(source, plan)
  for _, helper in ipairs(M.helpers()) do source = without(source, helper.text) end
  plan = without(plan, plans.expectations {}):gsub("\nexpect%b()", ""):gsub("^expect%b()", ""):gsub("local place = {}", "")
  source, plan = brief(source, plan)
  return ("```cuda\n%s\n```\n```lua\n%s\n```"):format(bare(source), bare(plan))
end

return M

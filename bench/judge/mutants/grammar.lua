-- grammar: mistakes by kind (places.lua), made in right kernels (subjects.lua). A mutant that does not compile, or
-- compiles to the same code, is drawn again.

local cawb = require "cawb"
local execute = require "cawb.judge.worker.execute"
local places = require "mutants.places"
local subjects = require "mutants.subjects"

local M = { kinds = places.kinds }

-- PTX without what names lines and files, nil where a candidate does not compile.
local function code_of(task, candidate, options)
  local built = execute.build(task, candidate, options)
  if not built or not built.ok then return nil end
  local file <close> = assert(io.open(built.ptx))
  local text = file:read "a"
  return (text:gsub("\n%s*%.loc[^\n]*", ""):gsub("\n%s*%.file[^\n]*", ""):gsub("//[^\n]*", ""):gsub("%.section.*", ""))
end

local function of_kind(list, kind)
  local some = {}
  for _, p in ipairs(list) do if p.kind == kind then some[#some + 1] = p end end
  return some
end

-- A kind that the source has places for, then one of these.
local function drawn(list, pick)
  for _ = 1, 100 do
    local some = of_kind(list, M.kinds[pick(1, #M.kinds)])
    if #some > 0 then return some[pick(1, #some)] end
  end
end

local function with(base, source)
  return cawb.candidate { source = source, plan = base.plan, defines = base.defines, name = base.name }
end

local function mutant(task, base, list, pick, options)
  local p = drawn(list, pick)
  if not p then return nil end
  local changed = with(base, places.apply(base.source, p))
  local code = code_of(task, changed, options)
  if not code or code == code_of(task, base, options) then return nil end
  return { kind = p.kind, base = base, candidate = changed, says = ("%s: %s"):format(base.name, places.says(base.source, p)) }
end

--- A task, its sizes, and what makes the next mutant on it: { kind =, base =, candidate =, says = }, or nil where none can be
--- made.
function M.cell(pick)
  local subject = subjects.draw(pick)
  function subject.make(task, options)
    for _ = 1, 20 do
      local base = subject.candidate(task, pick)
      if not base then return nil end
      local m = mutant(task, base, places.find(base.source), pick, options)
      if m then return m end
    end
  end
  return subject
end

return M

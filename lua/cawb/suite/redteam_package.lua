-- redteam_package: the red team's corpus as JSON lines, for other judges: docs/explain/cheating.md has the fields.

local core = require "cawb.core"
local file = require "cawb.base.file"
local python_fixtures = require "cawb.suite.redteam_python"
local redteam = require "cawb.suite.redteam"

local M = { format = "cawb-redteam-1" }

-- A candidate of kernels by its texts.
local function kernels(given)
  return { source = given.source, plan = given.plan, options = given.options and core.json.array { table.unpack(given.options) } or nil }
end

local function record(f, tier)
  return { format = M.format, name = f.name, tier = tier, class = f.family, class_name = redteam.families[f.family], device = f.device,
           task = { name = f.task, python = file.read(f.path) } }
end

local function of_kernels(f)
  local r = record(f, 1)
  r.what, r.met_by, r.cheat = f.what, f.met_by, kernels(f.cheat)
  r.honest = core.json.array { { what = f.says, candidate = kernels(f.look_alike) } }
  return r
end

local function of_python(f)
  local r = record(f, 2)
  r.what, r.met_by, r.cheat = f.head.what, f.head["met by"], { python = f.python }
  local honest = {}
  for i, h in ipairs(f.look_alikes) do honest[i] = { name = h.name, what = h.head.what, device = h.device, candidate = { python = h.python } } end
  r.honest = core.json.array(honest)
  return r
end

--- A record for each cheat: kernels with plans first, then Python. Nil, message where the corpus cannot be read.
function M.records()
  local list = {}
  for tier, of in ipairs { of_kernels, of_python } do
    local fixtures, message = (tier == 1 and redteam or python_fixtures).fixtures(("%s/tier%d"):format(redteam.folder(), tier))
    if not fixtures then return nil, message end
    for _, f in ipairs(fixtures) do list[#list + 1] = of(f) end
  end
  return list
end

--- A record as a line; or nil and why it is left out: a text that is not UTF-8 is no JSON.
function M.line(r)
  local ok, text = pcall(core.json.encode, r)
  if ok then return text end
  return nil, tostring(text)
end

return M

-- compose: what the compiler makes of the task, by a schedule; its two files go into the workspace, to go on by hand.

local graphs = require "cawb.compose.ir.graph"
local candidate = require "cawb.compose.candidate"
local candidates = require "cawb.judge.task.candidate"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local profile = require "cawb.judge.profile.profile"
local roofline = require "cawb.judge.profile.roofline"
local schedule = require "cawb.compose.schedule.schedule"

local MOST = 60          -- edits that are shown

local function make(session, s)
  local device, options = session.task.device.info, session.run.options.compose
  return candidate.make(session.task, { arch = device.arch, tensor_cores = options.tensor_cores, memory = device.memory,
                                        rewrite = options.rewrites, schedule = s })
end

local function times_of(session, made)
  local c = candidates.new { source = made.source, plan = made.plan, options = made.options, name = "compose" }
  return profile.profile(session.task, c, session.run.options, { set = "quick" })
end

-- The files of what was made; a build's options where it has any.
local function write(session, made)
  local files = { ["kernel.cu"] = made.source, ["plan.lua"] = made.plan }
  if #made.options > 0 or session:readable "candidate.json" then      -- of an earlier one
    files["candidate.json"] = core.json.encode { defines = {}, options = core.json.array { table.unpack(made.options) } }
  end
  for name, text in pairs(files) do
    local ok, why = session:write(name, text)
    if not ok then return nil, why end
  end
  return true
end

-- Legal edits by kernel: "5.2: vector 1 2 4; lanes 16 32".
local function edits(made)
  local lines, at, shown = {}, {}, 0
  for _, e in ipairs(schedule.legal(made)) do
    shown = shown + 1
    if e.kernel and e.value ~= nil and shown <= MOST then
      local key = e.kernel .. " " .. e.name
      if not at[key] then
        lines[#lines + 1] = ("kernels[%q].%s:"):format(e.kernel, e.name)
        at[key] = #lines
      end
      lines[at[key]] = lines[at[key]] .. " " .. tostring(e.value)
    elseif e.cut then lines[#lines + 1] = ("cuts: %q"):format(e.cut)
    elseif e.skip then lines[#lines + 1] = ("skip: %d"):format(e.skip) end
  end
  return lines
end

-- The longest of a kernel's launches, as a profile of its own.
local function alone(list, p)
  local longest = list[1]
  for _, launch in ipairs(list) do
    if (launch.metrics.seconds or 0) > (longest.metrics.seconds or 0) then longest = launch end
  end
  return longest and { ok = true, kernels = { longest }, metrics = longest.metrics, bound = longest.bound, seconds = longest.metrics.seconds,
                       modelled = p.modelled, source = p.source }
end

-- Which kernel of the schedule a step is, and what limits it. What the whole task computes says nothing of one of several kernels.
local function limits(session, made, p)
  local launches, lines = p and p.ok and p.kernels and candidate.launches(made, p) or {}, {}
  local task = #made.kernels == 1 and session.task or setmetatable({ graph = {} }, { __index = session.task })
  for k, kernel in ipairs(made.kernels) do
    local one = launches[k] and alone(launches[k], p)
    local said = one and one.seconds and roofline.of(task, one).sentence
    lines[k] = ("step %d is kernel %q of the schedule%s"):format(k, schedule.key(kernel), said and "; " .. said or "")
  end
  return lines
end

-- The graph: what is computed, by labels of nodes, and where its value goes; views and constants are left out.
local function graph_lines(made)
  local lines, of = {}, {}
  for k, kernel in ipairs(made.kernels) do
    for _, list in ipairs { kernel.members, kernel.roots } do
      for _, x in ipairs(list) do of[x] = of[x] or k end
    end
  end
  for _, x in ipairs(made.graph.nodes) do
    if x.kind ~= "view" and x.kind ~= "leaf" and #lines < MOST then
      lines[#lines + 1] = ("  %s %s%s of %s%s, [%s]%s%s"):format(x.label, x.kind, x.op and " " .. x.op or "", x.from and x.from.name or "?",
        graphs.place(x.from) and (" (%s)"):format(graphs.place(x.from)) or "", table.concat(x.shape, ", "), of[x] and ", step " .. of[x] or "",
        x.stored and ", in memory" or "")
    end
  end
  return lines
end

local function append(lines, more) table.move(more, 1, #more, #lines + 1, lines) end

local function page(session, made)
  local p, known = times_of(session, made), ceilings.of(session.task.device)
  local lines = candidate.table(made, p, known and known.copy)
  append(lines, limits(session, made, p))
  if p and p.ok then lines[#lines + 1] = "limiter of all: " .. p.roofline.sentence end
  if p and not p.ok then lines[#lines + 1] = "it was not timed: " .. tostring(p.reason) end
  lines[#lines + 1] = "graph:"
  append(lines, graph_lines(made))
  lines[#lines + 1] = "schedule = " .. schedule.text(made.schedule)
  lines[#lines + 1] = "what a schedule may say besides:"
  append(lines, edits(made))
  lines[#lines + 1] = "written: kernel.cu, plan.lua; edit them, or call compose with another schedule; measure evaluates them"
  return table.concat(lines, "\n")
end

return {
  description = "What the compiler of this workbench makes of the task: its kernels, their times and what limits each, the graph, the schedule and "
    .. "what else one may say. The result is written to kernel.cu and plan.lua, in place of what was there.",
  parameters = { { "schedule", "string", 'a schedule as text, such as { kernels = { ["5.2"] = { vector = 2 } }, cuts = { "3.1|5.2" } }; '
    .. "without it the compiler's own", optional = true } },
  run = function(session, arguments)
    local s, why = schedule.parse(arguments.schedule or "{}")
    if not s then return why, true end
    local made
    made, why = make(session, s)
    if not made then return "the task cannot be lowered: " .. why, true end
    local ok
    ok, why = write(session, made)
    if not ok then return why, true end
    return page(session, made)
  end,
}

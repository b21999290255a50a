-- profile: what the candidate does, what limits it, and what to try.

local profile = require "cawb.judge.profile.profile"
local feedback = require "cawb.agent.feedback"

local shown = { "registers", "occupancy", "shared_bytes", "blocks", "dram_bytes", "l2_hit_rate", "warp_instructions",
  "load_sectors_per_request", "sectors_per_request", "shared_bank_conflicts", "bank_conflicts", "ptx_bytes_per_load",
  "ptx_barriers", "ptx_shuffles", "spill_loads", "spill_stores" }

local function number(x) return x == math.floor(x) and math.abs(x) < 1e15 and ("%d"):format(x) or ("%.4g"):format(x) end

local function names_of(p, all)
  if not all then return shown end
  local names = {}
  for name in pairs(p.metrics) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function add_metrics(lines, p, all)
  for _, name in ipairs(names_of(p, all)) do
    if p.metrics[name] then lines[#lines + 1] = ("%s %s (%s)"):format(name, number(p.metrics[name]), p.sources[name]) end
  end
end

local function add_lines(lines, p)
  for i, l in ipairs(p.lines or {}) do
    if i <= 8 then lines[#lines + 1] = ("%.0f%% %s:%d  %s"):format(100 * l.share, l.file, l.line, l.text or "") end
  end
end

return {
  description = "Profile the candidate: what limits it, in counts, and which skills promise most.",
  parameters = { { "lines", "boolean", "where the time goes, line by line", optional = true },
    { "details", "boolean", "every metric", optional = true } },
  run = function(session, arguments)
    local c, why = session:candidate()
    if not c then return why, true end
    local p, message = profile.profile(session.task, c, session.run.options, { lines = arguments.lines })
    if not p then return "the machine failed: " .. message, true end
    if not p.ok then return feedback.failure(c, p), true end
    local lines = { p.roofline.sentence .. (p.modelled and " (modelled)" or "") }
    for i, one in ipairs(p.roofline.remedies) do
      lines[#lines + 1] = ("%d. skill %s: %s (%s)"):format(i, one.skill, one.advice, one.why)
    end
    if p.note then lines[#lines + 1] = "note: " .. p.note end
    add_metrics(lines, p, arguments.details)
    add_lines(lines, p)
    return table.concat(lines, "\n")
  end,
}

-- feedback: what happened, in words for a model: first the verdict, then the one thing to look
-- at. Long texts are cut in the middle, where compilers and logs repeat themselves.

local display = require "cawb.base.display"

local M = {}

-- The nearest place at or before `at` where a character begins.
local function boundary(text, at)
  while at > 0 and at < #text and text:byte(at + 1) & 0xc0 == 0x80 do at = at - 1 end
  return at
end

--- At most about `most` bytes of a text: its beginning, a note, its end.
function M.cut(text, most)
  if #text <= most then return text end
  local head, tail = boundary(text, most * 2 // 3), boundary(text, #text - most // 3)
  return ("%s\n[... %d bytes left out ...]\n%s"):format(text:sub(1, head), tail - head, text:sub(tail + 1))
end

local function line_of(source, n)
  local i = 0
  for line in (source .. "\n"):gmatch "(.-)\r?\n" do
    i = i + 1
    if i == n then return line end
  end
end

-- The lines around the first place in kernel.cu or plan.lua that a message names.
local function excerpt(candidate, message)
  for file, text in pairs { ["kernel.cu"] = candidate.source, ["plan.lua"] = candidate.plan } do
    local name = file:gsub("%.", "%%.")
    local at = math.tointeger(tonumber(message:match(name .. "%((%d+)%)") or message:match(name .. ":(%d+)")
      or message:match(name .. ",? line (%d+)")))
    local lines = {}
    for n = at and math.max(1, at - 2) or 1, at and at + 2 or 0 do
      local line = line_of(text, n)
      if line then lines[#lines + 1] = ("%s %4d | %s"):format(n == at and ">" or " ", n, line) end
    end
    if #lines > 0 then return ("\n%s:\n%s"):format(file, table.concat(lines, "\n")) end
  end
  return ""
end

--- A failed candidate: { stage =, reason =, log = }.
function M.failure(candidate, failed)
  return ("FAILED at %s: %s%s"):format(failed.stage, failed.reason, excerpt(candidate, failed.reason))
end

-- What can be counted, in words.
local function counted(t)
  local parts = { display.count(t.turns, "turn") }
  if t.replies then parts[#parts + 1] = display.count(t.replies, "reply", "replies") end
  if t.tokens then parts[#parts + 1] = ("%d tokens"):format(t.tokens) end
  if t.dollars then parts[#parts + 1] = ("$%.2f"):format(t.dollars) end
  if t.no_progress then parts[#parts + 1] = display.count(t.no_progress, "turn") .. " without progress" end
  return table.concat(parts, ", ")
end

--- What a run may spend: "20 turns, 200 replies, 600 s".
function M.budget(run)
  local left = run:left()
  local text = ("%s, %.0f s"):format(counted(left), run.options.seconds)
  return left.device_seconds and ("%s, %.0f s of the device"):format(text, run.options.budget.device_seconds) or text
end

--- What is left: "12 turns, 190 replies left". Time is told when it becomes short, and in no
--- numbers: a run that is replayed takes another time, and shall read the same.
function M.left(run)
  local left = run:left()
  local text = counted(left) .. " left"
  local device = left.device_seconds and left.device_seconds < run.options.budget.device_seconds / 4
  if device or left.seconds < run.options.seconds / 4 then return text .. "; less than a quarter of the time" end
  return text
end

local function speedups(turn)
  local parts = {}
  for _, kind in ipairs { "eager", "compile" } do
    local s = turn.speedup and turn.speedup[kind]
    if s then parts[#parts + 1] = ("%s the speed of %s%s"):format(display.speedup(s), kind == "eager" and "eager PyTorch"
      or "torch.compile", s.verdict and (" (%s)"):format(s.verdict) or "") end
  end
  return table.concat(parts, ", ")
end

--- "The rms error is 8.2e-08, eager PyTorch's 8.4e-08.": as `cawb judge` prints them.
function M.errors(error) return ("The rms error is %.2g, eager PyTorch's %.2g."):format(error.nrms, error.eager.nrms) end

-- "BLOCK=256 is the best of 8 variants."
local function swept(turn)
  local n = #(turn.facts.variants or {})
  if n < 2 then return "" end
  return ("\n%s is the best of %d variants that were tried."):format(
    turn.label ~= "" and turn.label or "the first one", n)
end

--- One line on a turn: "turn 3: pass, 5.2 us modelled, reward 1: what it tried".
function M.turn_line(turn)
  local what = turn.ok and ("pass, %s%s, reward %.3g"):format(display.interval(turn.time_s),
    turn.modelled and " modelled" or "", turn.reward)
    or ("failed at %s: %s"):format(turn.stage, (tostring(turn.reason):gsub("\n.*", "")))
  return ("turn %d: %s%s"):format(turn.number, what, turn.note and ": " .. turn.note:gsub("%s+", " ") or "")
end

--- A turn in full.
function M.turn(run, turn)
  local parts = {}
  if turn.ok then
    parts[1] = ("PASS: %s%s; %s; reward %.3g."):format(display.interval(turn.time_s),
      turn.modelled and " modelled" or "", speedups(turn), turn.reward)
    if turn.error and turn.error.nrms then parts[1] = parts[1] .. " " .. M.errors(turn.error) end
    parts[1] = parts[1] .. swept(turn)
    local p = turn.facts.profile
    if p and p.ok then parts[#parts + 1] = "Profile: " .. p.roofline.sentence end
  else
    parts[1] = M.failure(turn.candidate, turn) .. ("\nreward %.3g"):format(turn.reward)
  end
  parts[#parts + 1] = run.best == turn and "This is the best so far."
    or run.best and "The best so far is " .. M.turn_line(run.best) or "Nothing has passed yet."
  parts[#parts + 1] = M.left(run) .. "."
  return table.concat(parts, "\n")
end

return M

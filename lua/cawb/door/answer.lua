-- answer: one judged candidate as an answer: is it right, is it faster, what holds it back, what is next. From a run
-- with one turn, and the profile of that turn's candidate where there is one.

local baseline_names = require "cawb.base.baseline_names"
local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local display = require "cawb.base.display"
local fidelity = require "cawb.sim.fidelity"
local file = require "cawb.base.file"
local result = require "cawb.run.result"

local M = {}

--- The exit status of `cawb judge` by its word.
M.codes = { faster = 0, right = 1, wrong = 2, undecided = 3 }

--- "faster": right, and faster than the fastest baseline that is no less accurate; "right"; "wrong"; "undecided": the run
--- ended before it could tell. One that ran on the processor in place of a GPU is right at most.
function M.word(run)
  local turn = run.turns[1]
  if not turn or run.ended == "failed" or run.ended == "interrupted" then return "undecided" end
  return run.task.moved and turn.ok and "right" or turn.facts.verdict
end

local pytorch = { eager = "eager PyTorch", compile = "torch.compile" }

local function rival(equal) return pytorch[equal.against] or baseline_names.label(equal.against) end

--- How fast a candidate that is right is beside PyTorch, as a sentence.
function M.sentence_of(facts)
  local equal = facts.equal_error
  if not equal then return "right; no baseline could be timed beside it" end
  local modelled, found = facts.modelled and " (modelled)" or "", baselines.verdict(equal)
  if facts.judged_at then modelled = (", geometric mean of %d sizes%s"):format(#facts.judged_at, modelled) end
  if found == "faster" then
    return ("right, and %s as fast as %s, the fastest baseline that is no less accurate%s"):format(display.speedup(equal),
      rival(equal), modelled)
  elseif found == "same" then
    return ("right, and neither faster nor slower than %s: %s%s"):format(rival(equal), display.speedup(equal), modelled)
  elseif found == "slower" then
    return ("right, but slower than %s: %s%s"):format(rival(equal), display.speedup(equal), modelled)
  end
  return ("right; whether it is faster than %s is not decided: %s%s"):format(rival(equal), display.speedup(equal), modelled)
end

--- How the simulated device executed the candidate's instructions (sim/fidelity.lua); nil on a GPU, and where nothing was built.
function M.fidelity(run)
  local turn, info = run.turns[1], run.task.device.info
  local built = turn and turn.facts.built
  local text = info.modelled and built and built.ptx and file.read(built.ptx)
  return text and fidelity.of(text, info) or nil
end

local failed_words = { compile = "it does not compile", plan = "its plan is wrong", run = "it does not run",
  verify = "wrong", measure = "wrong while it was timed", confirm = "wrong when it was looked at again" }

--- The answer in one sentence.
function M.sentence(run)
  local turn = run.turns[1]
  if M.word(run) == "undecided" then return "not judged: " .. tostring(run.reason or run.ended) end
  if turn.ok and run.task.moved then return "right, on the processor" end
  if turn.ok then return M.sentence_of(turn.facts) end
  local loading = turn.stage == "compile" and turn.candidate.python and "it cannot be loaded"
  return ("%s: %s"):format(loading or failed_words[turn.stage] or "rejected at " .. turn.stage, (turn.reason:gsub("\n.*", "")))
end

local function error_of(e) return e and e.nrms and ("%.2g"):format(e.nrms) or "-" end

--- Name, time, error and speed-up of the candidate and of each baseline, as texts.
function M.timing_rows(run)
  local turn = run.turns[1]
  local rows = { { "candidate", display.interval(turn.time_s), error_of(turn.error), "" } }
  for _, kind in ipairs { "eager", "compile", "max_autotune" } do
    local b = run.task.baselines[kind]
    local own = kind == "eager" and turn.error and turn.error.eager or nil      -- where the baseline was not run, only modelled
    if b then
      rows[#rows + 1] = { baseline_names.label(kind), b.time_s and display.interval(b.time_s) or "failed", b.modelled and not own and "not run" or error_of(b.error or own),
                          display.speedup(turn.speedup and turn.speedup[kind]) }
    end
  end
  return rows
end

-- A table of the sizes that the task is judged at, one a row; none where it names no sizes.
local function size_lines(turn)
  local rows = {}
  for i, row in ipairs(turn.facts.judged_at or {}) do
    rows[i] = { row.label, display.interval(row.time_s), error_of(row.error), display.speedup(row.speedup and row.speedup.eager),
                display.speedup(row.speedup and row.speedup.compile), display.speedup(row.equal_error) }
  end
  if #rows == 0 then return {} end
  local lines = display.table({ "at", turn.modelled and "modelled time" or "time", "rms error", "vs eager", "vs compile", "equal error" }, rows)
  lines[#lines + 1] = ("speed-ups above and in the answer are geometric means over these %d sizes; times above are the first one's"):format(#rows)
  lines[#lines + 1] = ""
  return lines
end
M.size_lines = size_lines

-- Lines of "what  text", the words under each other.
local function pairs_of(list)
  local lines = {}
  for _, one in ipairs(list) do lines[#lines + 1] = ("%-10s %s"):format(one[1], one[2]) end
  return lines
end

local function hottest(p, most)
  local words = {}
  for i, l in ipairs(p and p.lines or {}) do
    if i > most then break end
    words[i] = { i == 1 and "hottest" or "", ("line %d  %.0f%%  %s"):format(l.line, 100 * l.share, l.text or "") }
  end
  return words
end

local calls = { gemm = "cuBLAS", conv = "cuDNN" }

-- The calls of libraries where they take most of the time: no line of the text has it.
local function libraries(facts, p)
  local there, sum, all = {}, 0, p and p.ok and p.metrics.seconds
  for _, step in ipairs(facts.steps or {}) do there[step.kind or ""] = true end
  for _, k in ipairs(all and p.kernels or {}) do
    if calls[k.kernel] and there[k.kernel] then sum = sum + (k.metrics.seconds or 0) end
  end
  if sum == 0 or sum < all / 2 then return nil end
  return ("calls of %s take %s of %s; the lines and the advice below are of the kernels alone"):format(
    there.gemm and there.conv and "cuBLAS and cuDNN" or there.gemm and calls.gemm or calls.conv, display.time(sum), display.time(all))
end

local function flags_of(facts)
  local list = {}
  for _, flag in ipairs(facts.rules and facts.rules.flags or {}) do
    local words = flag.unknown and "%s (rule '%s' could not tell, and rejects nothing: docs/howto/rule.md)" or "%s (rule '%s'; a remark, no fault)"
    list[#list + 1] = { #list == 0 and "remark" or "", words:format((flag.reason:gsub("%c", " ")), flag.rule) }
  end
  return list
end

local function bound_of(facts)
  local floor = facts.floor
  if not (floor and floor.seconds and facts.time_s) then return nil end
  return ("no kernel can take less than %s here, by the device's %s rates; this one takes %.3gx as long"):format(
    display.time(floor.seconds), floor.source, facts.time_s.median / floor.seconds)
end

--- What is known of a candidate that is right, as pairs of a word and a sentence; `p` as of M.page.
function M.known(run, p)
  local facts, list = run.turns[1].facts, {}
  local function say(what, text) if text then list[#list + 1] = { what, text } end end
  say("precision", facts.precision and facts.precision.class)
  say("bound", bound_of(facts))
  say("limiter", p and p.ok and p.roofline.sentence)
  say("libraries", libraries(facts, p))
  table.move(hottest(p, 3), 1, 3, #list + 1, list)
  local remedy = p and p.ok and p.roofline.remedies[1]
  say("next", remedy and ("%s (%s); more: cawb skill %s"):format(remedy.advice, remedy.why, remedy.skill))
  table.move(flags_of(facts), 1, #flags_of(facts), #list + 1, list)
  return list
end

-- The end of what a compiler or a sanitizer said.
local function log_lines(turn, most)
  local lines = {}
  for line in ((turn.log or "") .. "\n"):gmatch "(.-)\n" do
    if line ~= "" and #lines < most then lines[#lines + 1] = "  " .. line:gsub("%c", " ") end
  end
  return lines
end

local function wrong_page(run)
  local turn = run.turns[1]
  local lines = {}
  for line in turn.reason:gmatch "\n([^\n]*)" do lines[#lines + 1] = "  " .. line end
  table.move(log_lines(turn, 16), 1, 16, #lines + 1, lines)
  table.move(pairs_of(flags_of(turn.facts)), 1, #flags_of(turn.facts), #lines + 1, lines)
  if turn.stage == "run" then lines[#lines + 1] = "next       cawb sanitize, with the same words, names each bad access" end
  return lines
end

local function recorded(run)
  local words = ("recorded   run %s in %s"):format(run.id, run.ledger.dir)
  if M.word(run) ~= "faster" then return words end
  return ("%s; as a PyTorch operator: cawb promote %s --into DIR%s"):format(words, run.id,
    run.ledger.dir == "cawb-runs" and "" or " --out " .. run.ledger.dir)
end

-- The rows of M.fidelity.
local function fidelity_lines(run)
  local found, rows = M.fidelity(run), {}
  for i, line in ipairs(found and fidelity.lines(found) or {}) do rows[i] = { i == 1 and "fidelity" or "", line } end
  return pairs_of(rows)
end

--- The page: a list of lines. `p` is the profile of the candidate, or nil; `faithful`: with what the device executed exactly.
function M.page(run, p, faithful)
  local turn, d = run.turns[1], run.task.device.info
  local lines = { M.sentence(run) }
  local function add(more) table.move(more, 1, #more, #lines + 1, lines) end
  if turn then
    add { "", ("%s%s on %s, %s%s"):format(turn.name, turn.label ~= "" and turn.label and " " .. turn.label or "", run.task.name,
      d.model, turn.modelled and "; times are modelled, not measured" or "") }
    for _, note in ipairs(run.task.notes) do add { "note: " .. note } end
    if turn.ok then
      add { "" }
      add(display.table({ "", turn.modelled and "modelled time" or "time", "rms error", "speed-up" }, M.timing_rows(run)))
      add { "rms error: against the same in float64, relative to the result. speed-up: of the candidate over each" }
      if turn.modelled then add { "not run: its time is modelled, and its error is taken to be no larger than the kernel's" } end
      add { "" }
      add(size_lines(turn))
      add(pairs_of(M.known(run, p)))
    else add(wrong_page(run)) end
    if faithful then add(fidelity_lines(run)) end
  end
  add { recorded(run) }
  return lines
end

--- The same as data: { verdict =, sentence =, page = its lines, fidelity =, limiter =, lines =, remedies =, run = as --json of a run }.
function M.data(run, p)
  local good = p and p.ok
  return { verdict = M.word(run), sentence = M.sentence(run), page = core.json.array(M.page(run, p)), fidelity = M.fidelity(run), limiter = good and p.roofline.sentence or nil,
    remedies = good and p.roofline.remedies or nil, lines = good and p.lines or nil, run = result.run(run) }
end

return M

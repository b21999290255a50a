-- prompt: what a model is told, from files in prompts/ that anybody can read and change. In them
-- {{name}} stands for what is known of the run: task, device, rules, contract, goal, budget,
-- and whatever a strategy adds.

local core = require "cawb.core"
local file = require "cawb.base.file"
local suggest = require "cawb.base.suggest"
local feedback = require "cawb.agent.feedback"

local M = {}

-- The comment that opens a Lua file: how rewards and rules say what they are.
local function opening(path)
  local lines = {}
  for line in (file.read(path) or ""):gmatch "[^\n]*" do
    local words = line:match "^%-%-%-?%s?(.*)"
    if not words then break end
    lines[#lines + 1] = words
  end
  return table.concat(lines, " ")
end

local function tensor(t)
  if t.items then
    local parts = {}
    for i, item in ipairs(t.items) do parts[i] = tensor(item) end
    return "a list: " .. table.concat(parts, "; ")
  end
  if not t.shape then return "the plain value " .. tostring(t.value) end
  return ("%s, shape {%s}, strides {%s}"):format(t.dtype, table.concat(t.shape, ", "), table.concat(t.strides, ", "))
end

--- The text of a task, and its tensors when it is open, in words.
function M.task(code, task)
  local lines = { "```python", (code:gsub("%s+$", "")), "```", "" }
  for i, t in ipairs(task.inputs) do lines[#lines + 1] = ("- inputs[%d]: %s"):format(i, tensor(t)) end
  for _, t in ipairs(task.params) do lines[#lines + 1] = ("- params[%q]: %s"):format(t.name, tensor(t)) end
  for i, t in ipairs(task.outputs) do lines[#lines + 1] = ("- outputs[%d]: %s"):format(i, tensor(t)) end
  return table.concat(lines, "\n")
end

local known = {}

-- Constants that a run sets: "Judged with batch_size = 16384 in place of the value above."
local function set_here(overrides)
  local list = {}
  for name, value in pairs(overrides or {}) do list[#list + 1] = ("%s = %s"):format(name, tostring(value)) end
  table.sort(list)
  if #list == 0 then return "" end
  return ("\n\nJudged with %s in place of the %s above."):format(table.concat(list, ", "), #list == 1 and "value" or "values")
end

function known.task(run) return M.task(file.read(run.task.path) or "", run.task) .. set_here(run.task.overrides) end

function known.device(run)
  local d = run.task.device.info
  local text = ("%s, %s, %d multiprocessors, %.0f MiB of L2, %.0f KiB of shared memory for a block"):format(d.model,
    d.arch, d.sms, (d.l2 or 0) / 2 ^ 20, (d.shared_block or 0) / 1024)
  if not d.modelled then return text end
  return text .. ". It is simulated: results are exact, times are modelled and not measured. What it does not know is "
    .. "refused with its line"
end

-- The rules of the set that the option `rules` names, each as its file opens.
function known.rules(run)
  local ok, rules = pcall(require, "cawb.judge.rules")
  local set = ok and run.options.rules and rules.set(run.options.rules)
  if not set then return "No rules besides being right." end
  local lines = {}
  for _, one in ipairs(set.list) do
    lines[#lines + 1] = ("- %s (%s): %s"):format(one.name, one.severity, opening(one.rule.path))
  end
  if #lines == 0 then return "No rules besides being right." end
  return table.concat(lines, "\n")
end

function known.goal(run)
  local reward = run.options.reward
  local path = type(reward) == "string" and ("%s/configs/%s.lua"):format(core.home, reward)
    or debug.getinfo(run.reward, "S").source:match "^@(.*)"
  local words = path and opening(path) or ""
  return "The highest reward." .. (words ~= "" and " It is: " .. words or "")
end

function known.contract() return (assert(file.read(core.home .. "/prompts/contract.md")):gsub("%s+$", "")) end
function known.budget(run) return feedback.budget(run) end

--- The prompt of this name (a file in prompts/, or the path of one), filled in for a run;
--- `more` has further names. Returns the text, or nil and a message.
function M.fill(name, run, more)
  local path = name:find "%.md$" and name or ("%s/prompts/%s.md"):format(core.home, name)
  local text, message = file.read(path)
  if not text then return nil, "the prompt " .. message end
  local wrong
  text = text:gsub("^<!%-%-.-%-%->%s*", "")              -- what the file says of itself
  text = text:gsub("{{%s*([%w_]+)%s*}}", function(word)
    local value = more and more[word]
    if value == nil and known[word] then value = known[word](run) end
    if value == nil then
      local names = {}
      for key in pairs(known) do names[#names + 1] = key end
      for key in pairs(more or {}) do names[#names + 1] = key end
      wrong = wrong or ("%s: there is no {{%s}}%s"):format(path, word, suggest.hint(word, names))
    end
    return value ~= nil and tostring(value) or nil
  end)
  if wrong then return nil, wrong end
  return text
end

return M

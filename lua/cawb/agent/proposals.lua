-- proposals: candidates out of a reply's text, for strategies without tools: a block fenced as
-- cuda, and one as lua, the last of each kind.

local candidates = require "cawb.judge.task.candidate"

local M = {}

local kinds = { cuda = "source", cu = "source", ["c++"] = "source", cpp = "source", c = "source", lua = "plan" }

local function fenced(text)
  local found, kind, lines = {}, nil, nil
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    local fence, word = line:match "^%s*```+%s*([^%s`]*)()"
    if fence and not lines then
      kind, lines = kinds[fence:lower()] or word and "other", {}
    elseif fence and fence == "" then
      found[kind] = table.concat(lines, "\n") .. "\n"
      kind, lines = nil, nil
    elseif lines then
      lines[#lines + 1] = line
    end
  end
  return found, lines ~= nil
end

-- The words ahead of the first block, as the note of a turn.
local function note_of(text)
  local words = ("\n" .. text):match "^(.-)\n%s*```" or ""
  words = words:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  if #words > 300 then words = words:sub(1, 297):gsub("[\128-\191]*$", ""):gsub("[\192-\255]$", "") .. "..." end
  return words ~= "" and words or nil
end

--- The blocks of a reply, { source =, plan = }, or nil and what to tell the model.
function M.blocks(text)
  local found, open = fenced(text)
  if open then return nil, "The last code block is not closed; write shorter, and both blocks whole." end
  if not found.source then return nil, "There is no block that begins with ```cuda: kernel.cu goes there, whole." end
  if not found.plan then return nil, "There is no block that begins with ```lua: plan.lua goes there, whole." end
  return found
end

--- The candidate in a reply, or nil and what to tell the model.
function M.parse(text, name)
  local found, why = M.blocks(text)
  if not found then return nil, why end
  return candidates.new { source = found.source, plan = found.plan, name = name, note = note_of(text) }
end

--- Ask a chat for a candidate; a reply without one is told so, `agent.fence` times in a row.
--- Returns the candidate, or nil: then the chat, or the run, has come to its end.
function M.ask(chat)
  while true do
    local reply = chat:ask()
    if not reply then return nil end
    local candidate, why = M.parse(reply.text, chat.run.strategy.name)
    if candidate then
      chat:busy()
      return candidate
    end
    chat.idle = chat.idle + 1
    if chat.idle >= chat.run.options.agent.fence then
      chat.run.memory.unread = ("%d replies in a row held no candidate; of the last: %s cawb report shows them"):format(chat.idle, why)
      return nil
    end
    if not chat:say(why) then return nil end
  end
end

return M

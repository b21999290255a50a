-- react: reason, act, observe. A model works in a workspace of its own with the tools of
-- lua/cawb/agent/tools/, until it submits or a budget ends. The prompt is prompts/react.md.

local chats = require "cawb.chat"
local sessions = require "cawb.session"
local short = require "cawb.short"
local tools = require "cawb.tools"

-- With settings.start = "compose" the workspace begins with what the compiler makes of the task, evaluated.
local function started(session, start)
  if start == "" then return nil end
  local page = tools.call(session, start, {})
  return ("Your workspace holds what the workbench's compiler makes of the task:\n%s\n\nIt was evaluated:\n%s\n\nMake it better.")
    :format(page, (session:evaluate "what compose makes"))
end

local function begin(run, settings)
  if settings.start ~= "" and settings.start ~= "compose" then
    return run:give_up(("settings.start is compose or nothing, not '%s'"):format(settings.start))
  end
  local session, message, name = sessions.new(run)
  if not session then return run:model_failed(message, name) end
  local chat = chats.new(run, "react", { tools = tools.list(session), user = started(session, settings.start) })
  if chat then chat.session = session end
  return chat
end

-- Whether a reply is the last one again: what it asks for would come out the same. A small model may go on so without end.
local function repeats(chat, reply)
  local parts = { reply.written or reply.text }
  for _, call in ipairs(reply.calls) do parts[#parts + 1] = call.name .. "\0" .. call.raw end
  local before = chat.last
  chat.last = table.concat(parts, "\0")
  return chat.last == before
end

-- A model that calls no tool may write a candidate, with both blocks in its reply. It is measured as if tools had been called.
local function written(chat, reply)
  local found = short.parse(reply.text)
  if not found then return false end
  local session = chat.session
  local whole = short.whole(found, chat.run.task)
  session:write("kernel.cu", whole.source)
  session:write("plan.lua", whole.plan)
  chat:busy()
  return chat:say((session:evaluate "written in a reply"))
end

-- The calls of a reply, in order. Returns whether one was carried out, or nil: the run cannot go on.
local function act(chat, reply, again)
  local did = false
  for _, call in ipairs(reply.calls) do
    local text, failed = call.bad or again and "This was your last call, too, and its result is the same.", true
    if not text then
      text, failed = tools.call(chat.session, call.name, call.arguments)
      did = true
    end
    if not chat:observe(call, text, failed, chat.session.turn) then return nil end
  end
  return did
end

return {
  proposes = "kernels",
  asks = true,
  turns = 200,
  seconds = 7200.0,

  settings = { start = "" },

  step = function(run, settings)
    run.memory.chat = run.memory.chat or begin(run, settings)
    local chat = run.memory.chat
    local reply = chat and chat:ask()                          -- reason
    if not reply then return false end
    local again = repeats(chat, reply)
    if #reply.calls == 0 then
      if not again and written(chat, reply) then return not run.ended end
      return chat:nudge "Call a tool, or submit if you are done."
    end
    local did = act(chat, reply, again)                        -- act, observe
    if not did then
      return did == false and chat:nudge("Do something else, or submit if you are done.",
        "held no new call: each was the last one again, or could not be read")
    end
    chat:busy()
    if chat.session.submitted then run.ended = run.ended or "submitted" end
    return not run.ended
  end,
}

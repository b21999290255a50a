-- react: reason, act, observe. A model works in a workspace of its own with the tools of
-- lua/cawb/agent/tools/, until it submits or a budget ends. The prompt is prompts/react.md.

local chats = require "cawb.chat"
local sessions = require "cawb.session"
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
    if #reply.calls == 0 then return chat:nudge "Call a tool, or submit if you are done." end
    for _, call in ipairs(reply.calls) do                      -- act
      local text, failed = call.bad, true
      if not text then text, failed = tools.call(chat.session, call.name, call.arguments) end
      if not chat:observe(call, text, failed, chat.session.turn) then return false end
    end                                                        -- observe
    chat:busy()
    if chat.session.submitted then run.ended = run.ended or "submitted" end
    return not run.ended
  end,
}

-- react: reason, act, observe. A model works in a workspace of its own with the tools of
-- lua/cawb/agent/tools/, until it submits or a budget ends. The prompt is prompts/react.md.

local chats = require "cawb.chat"
local sessions = require "cawb.session"
local tools = require "cawb.tools"

local function begin(run)
  local session, message, name = sessions.new(run)
  if not session then return run:model_failed(message, name) end
  local chat = chats.new(run, "react", { tools = tools.list(session) })
  if chat then chat.session = session end
  return chat
end

return {
  proposes = "kernels",
  turns = 200,
  seconds = 7200.0,

  step = function(run)
    run.memory.chat = run.memory.chat or begin(run)
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
    return not chat.session.submitted
  end,
}

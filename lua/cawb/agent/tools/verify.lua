-- verify: is it right? Nothing is timed, and no turn is spent.

local feedback = require "cawb.agent.feedback"
local verify = require "cawb.judge.verify.verify"

return {
  description = "Check the candidate's results against the reference on fresh inputs. Costs no turn.",
  parameters = { { "trials", "integer", "on so many inputs; the judge's own number where it is left out", optional = true } },
  run = function(session, arguments)
    local c, why = session:candidate()
    if not c then return why, true end
    local most = session.run.options.verify.trials
    local got, message = verify.verify(session.task, c, session.run.options, { trials = math.max(1, math.min(arguments.trials or most, most)) })
    if not got then return "the machine failed: " .. message, true end
    if not got.ok then return feedback.failure(c, got), true end
    return ("OK: right on %d inputs. %s"):format(#got.trials, feedback.errors(got.error))
  end,
}

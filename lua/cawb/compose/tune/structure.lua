-- structure: predicts the gain of edits that change the set of kernels. A cut fusion writes and reads one more tensor, at the best
-- rate that was seen. The difference between such a prediction and the measurement, here or elsewhere, corrects the next one.

local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local models = require "cawb.compose.tune.model"
local show = require "cawb.compose.plan.show"
local types = require "cawb.torch.types"

local M = {}

local LIKE = 1.0           -- how much one edit of a kind is like another: not much, they are about other kernels

function M.kind(edit) return (edit.cut or edit.join) and "cut" or "skip" end

-- For each label the numbers of the kernels with such a node, and the bytes of the nodes; found once for a candidate.
local function labels_of(best)
  if best.labels then return best.labels, best.bytes end
  best.labels, best.bytes = {}, {}
  for k, kernel in ipairs(best.made.kernels) do
    for x in pairs(kernel.own) do
      best.labels[x.label or ""] = best.labels[x.label or ""] or {}
      best.labels[x.label or ""][k] = true
    end
  end
  for _, x in ipairs(best.made.graph.nodes) do best.bytes[x.label or ""] = graphs.numel(x.shape) * types.size(x.dtype) end
  return best.labels, best.bytes
end

-- Seconds of the kernels that an edit is about, as far as it says; else of one as others are.
local function concerned(best, edit)
  local found, sum = {}, 0.0
  for label in (edit.cut or edit.join or ""):gmatch "[^|]+" do
    for k in pairs(labels_of(best)[label] or {}) do found[k] = true end
  end
  for k in pairs(found) do sum = sum + best.list[k] end
  return sum > 0 and sum or best.seconds / math.max(1, #best.made.kernels)
end

local function fastest(best)
  if best.rate then return best.rate end
  best.rate = 1.0
  for k, kernel in ipairs(best.made.kernels) do
    if best.list[k] > 0 then best.rate = math.max(best.rate, show.bytes(kernel) / best.list[k]) end
  end
  return best.rate
end

-- The logarithm that is expected of the time of the kernels that it is about.
local function expected(best, edit, own)
  local pair = edit.cut or edit.join
  if not pair then return 0.0 end
  local _, bytes = labels_of(best)
  local seconds = 2 * (bytes[pair:match "^[^|]+"] or 0) / fastest(best)
  return edit.cut and math.log(1 + seconds / own) or 0.0
end

--- Seconds that an edit should gain; `best` is the best so far (tune.lua), `model` the model of edits of its kind (model.lua).
function M.hope(best, edit, model)
  local own = concerned(best, edit)
  return own * model:gain({ edit = M.kind(edit) }, -expected(best, edit, own))
end

--- An edit's unexpected change, as a logarithm of the time of its kernels.
function M.change(best, edit, more)
  local own = concerned(best, edit)
  return math.log(math.max(own + more, own / 8) / own) - expected(best, edit, own)
end

--- The model of a kind learns of one.
function M.learn(model, edit, change) model:learn({ edit = M.kind(edit) }, change, LIKE) end

function M.model(near)
  local model = models.new()
  for _, r in ipairs(near) do model:learn({ edit = r.about.by }, r.change, r.weight) end
  return model
end

return M

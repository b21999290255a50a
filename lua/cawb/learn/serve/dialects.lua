-- dialects: the same evaluation in the words of four training programs, so that they need no code of ours. Texts are
-- replies of a model; which task they are for stands in the field that each of them carries along.

local core = require "cawb.core"
local http = require "cawb.learn.serve.http"
local loop = require "cawb.base.loop"

local M = {}

local Dialects = {}
Dialects.__index = Dialects

-- The value of one text for a task, asked for by a client at `remote`; or nil, status, message.
local function value_of(self, remote, task, spec)
  local entry, why = self.tasks:find(task)
  if not entry then return nil, 422, why end
  local item, message = self.score:one(entry, spec, { client = remote, memo = self.score.memo })
  if not item then return nil, 503, message end
  return item
end

-- Several at once, in their order; the first that cannot be had spoils all, and they are asked for again.
local function values_of(self, remote, list)
  local jobs = {}
  for i, one in ipairs(list) do jobs[i] = function() return value_of(self, remote, one.task, one.spec) end end
  local items = {}
  for i, got in ipairs(loop.all(jobs)) do
    if not got[1] then return nil, got[2], got[3] end
    items[i] = got[1]
  end
  return items
end

-- ---- OpenRLHF: {"query": [prompt and reply], "prompts": [...], "labels": [task]} -> {"rewards": [], "scores": [], "extra_logs": {}}

-- The reply alone: what a prompt shows as an example is none.
local function reply_of(query, prompt)
  if type(prompt) == "string" and query:sub(1, #prompt) == prompt then return query:sub(#prompt + 1) end
  return query
end

local function read_openrlhf(body)
  local labels, list = body.labels or body.label, {}
  if type(body.query) ~= "table" or type(labels) ~= "table" or #labels ~= #body.query then
    return nil, "'query' and 'labels' must be lists of one length; a label names the task"
  end
  if body.prompts ~= nil and type(body.prompts) ~= "table" then return nil, "'prompts' must be a list, with the prompt of each query" end
  for i, query in ipairs(body.query) do
    if type(query) ~= "string" then return nil, "'query' is a list of texts" end
    list[i] = { task = labels[i], spec = { text = reply_of(query, body.prompts and body.prompts[i]) } }
  end
  return list
end

function Dialects:openrlhf(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local list
  list, why = read_openrlhf(body)
  if not list then return http.no(422, why) end
  local items, status, message = values_of(self, request.remote, list)
  if not items then return http.no(status, message) end
  local rewards, passed = core.json.array {}, core.json.array {}
  for i, item in ipairs(items) do rewards[i], passed[i] = item.reward, item.ok and 1 or 0 end
  return 200, { rewards = rewards, scores = rewards, extra_logs = { passed = passed } }
end

-- ---- slime: {"prompt":, "response":, "label": task} -> a number

function Dialects:slime(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  if type(body.response) ~= "string" then return http.no(422, "'response' must be a text, and 'label' name the task") end
  local item, status, message = value_of(self, request.remote, body.label, { text = body.response })
  if not item then return http.no(status, message) end
  return 200, ("%.17g"):format(item.reward)
end

-- ---- NeMo-Gym: a Responses API request to seed a session; the same with the response to verify it

-- The objects of a field that is a list; of anything else none.
local function objects_of(value, field)
  local list = {}
  for _, one in ipairs(type(value[field]) == "table" and value[field] or {}) do
    if type(one) == "table" then list[#list + 1] = one end
  end
  return list
end

-- The text of a response: its output messages', joined.
local function text_of(response)
  local parts = {}
  for _, output in ipairs(objects_of(response, "output")) do
    for _, piece in ipairs(output.type == "message" and objects_of(output, "content") or {}) do
      if piece.type == "output_text" and type(piece.text) == "string" then parts[#parts + 1] = piece.text end
    end
  end
  return table.concat(parts, "\n")
end

local function task_in(body)
  local metadata = type(body.verifier_metadata) == "table" and body.verifier_metadata or {}
  return metadata.task or body.task
end

function Dialects:seed_session(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local task = task_in(body)
  if task ~= nil then
    local entry, message = self.tasks:find(task)
    if not entry then return http.no(422, message) end
  end
  return 200, {}
end

function Dialects:verify(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  if type(body.response) ~= "table" then return http.no(422, "'response' must be a response of the Responses API") end
  local item, status, message = value_of(self, request.remote, task_in(body), { text = text_of(body.response) })
  if not item then return http.no(status, message) end
  body.reward, body.cawb = item.reward, item
  return 200, body
end

-- ---- KernelGYM: POST /evaluate, GET /status/ID, GET /results/ID; times in milliseconds

local function milliseconds(time) return time and time.median and time.median * 1e3 or nil end

local function compiled(item) return item.ok or not (item.stage == "compile" or item.stage == "reply" or item.stage == "source") end

-- What rules reject is what KernelGYM calls a decoy.
local function kernelgym_of(id, item)
  local time = milliseconds(item.time_s)
  local speedup = item.speedup and item.speedup.eager and item.speedup.eager.median
  return { task_id = id, status = "completed", compiled = compiled(item), correctness = item.ok, decoy_kernel = item.rule ~= nil,
           kernel_runtime = time or -1, reference_runtime = time and speedup and time * speedup or -1, speedup = speedup or 0,
           error_message = item.reason or core.json.null, metadata = { reward = item.reward, modelled = item.modelled, stage = item.stage } }
end

-- A kernel as that program sends it: Python with ModelNew, or with fences around.
local function kernelgym_spec(code)
  if code:find "```" then return { text = code } end
  return { python = code }
end

local function perform(self, id, job)
  local item, status, message = value_of(self, job.remote, job.task, job.spec)
  if item then job.result = kernelgym_of(id, item)
  else job.result = { task_id = id, status = "failed", error_message = message, code = status } end
  job.done = true
end

-- The oldest that are done make room.
local function keep(self, id, job)
  self.jobs[id], self.order[#self.order + 1] = job, id
  while #self.order > 4096 do self.jobs[table.remove(self.order, 1)] = nil end
end

local function read_evaluate(body)
  if type(body.task_id) ~= "string" or body.task_id == "" then return nil, "'task_id' must be a text" end
  if type(body.kernel_code) ~= "string" then return nil, "'kernel_code' must be a text" end
  local task = body.task or { code = body.reference_code, name = body.entry_point }
  return { task = task, spec = kernelgym_spec(body.kernel_code) }
end

function Dialects:evaluate(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local job
  job, why = read_evaluate(body)
  if not job then return http.no(422, why) end
  local id = body.task_id
  local known = self.jobs[id]
  if known and core.json.encode(known.spec) ~= core.json.encode(job.spec) then
    return http.no(409, ("the task_id '%s' was another kernel"):format(id:sub(1, 80)))
  end
  job = known or job
  if not known then
    job.remote = request.remote
    keep(self, id, job)
    loop.spawn(perform, self, id, job)
  end
  loop.wait(function() return job.done end, core.clock.now() + self.score.wait)
  if not job.done then return 202, { task_id = id, status = "processing" }, { headers = { "Retry-After: 1" } } end
  if job.result.code then self.jobs[id] = nil end
  return job.result.code or 200, job.result
end

function Dialects:status(_, id)
  local job = self.jobs[id]
  if not job then return http.no(404, "no such task_id is known") end
  return 200, { task_id = id, status = job.done and job.result.status or "processing" }
end

function Dialects:results(_, id)
  local job = self.jobs[id]
  if not job then return http.no(404, "no such task_id is known") end
  if not job.done then return 202, { task_id = id, status = "processing" } end
  return 200, job.result
end

--- The routes of all four.
function Dialects:routes()
  local routes = {}
  for route, method in pairs { ["POST /reward/openrlhf"] = "openrlhf", ["POST /reward/slime"] = "slime",
      ["POST /seed_session"] = "seed_session", ["POST /verify"] = "verify", ["POST /evaluate"] = "evaluate",
      ["GET /status/*"] = "status", ["GET /results/*"] = "results" } do
    routes[route] = function(...) return self[method](self, ...) end
  end
  return routes
end

--- `spec` = { tasks, score }.
function M.new(spec)
  return setmetatable({ tasks = spec.tasks, score = spec.score, jobs = {}, order = {} }, Dialects)
end

return M

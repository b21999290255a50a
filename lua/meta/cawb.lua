---@meta cawb
-- Annotations of the module `cawb` for the Lua language server. There is no code
-- here; tests/door/test_meta.lua holds these names against what the module offers.
--
-- Three kinds of failure: misuse raises; the world failing returns nil, message,
-- name; a failed candidate is data, { ok = false, stage =, reason = }.

---@class cawb
---@field version string
---@field defaults table          every option and its default
---@field public table<string, string>  what a script may require beside `cawb`: `cawb.NAME`
local cawb = {}

---A failed candidate, as data.
---@class cawb.Failure
---@field ok false
---@field stage "compile"|"plan"|"run"|"verify"|"measure"
---@field reason string           one or a few lines, written for an agent
---@field log? string             the compiler's

---An estimate with its 95% interval. Times are in seconds. A speed-up of too few rounds has no
---interval: its lo is 0, its hi is absent.
---@class cawb.Estimate
---@field median number
---@field lo number
---@field hi? number
---@field samples? integer

---@class cawb.DeviceInfo
---@field name string             "cuda:0", "sim:h100"
---@field model string            "NVIDIA H100 80GB HBM3"
---@field arch string             "sm_90a": what sources are compiled for
---@field modelled boolean        times are computed, not measured
---@field lacks? { family: string, prefixes: string[] }[]  what a simulated device refuses
---@field sms integer
---@field memory integer          bytes
---@field l2 integer              bytes
---@field rates? table            of a simulated device: published figures (clock, dram, l2, fp32, tf32, bf16, fp16, launch)

---@class cawb.Device
---@field info cawb.DeviceInfo
---@field workers integer         worker processes started so far
---@field busy number            seconds that requests kept it busy
local Device = {}
---End its processes; they start anew when the device is used again.
function Device:close() end
---End the worker; the next request starts another.
function Device:drop_worker() end
---End the compiler; the next request starts another.
function Device:drop_compiler() end
---The same simulated device with a worker of its own that executes at most so many blocks of each launch, which stand
---for all: it counts and times, and has no data.
---@param blocks integer
---@return cawb.Device
function Device:sampled(blocks) end
---Start a new compiler now: whether the machine can.
---@return boolean? ok, string? message, string? name
function Device:compiles() end
---Start a new worker now: whether the machine can.
---@return boolean? ok, string? message, string? name
function Device:renew() end
---The device that compiles for this one what it will be asked for later: a compiler of its own, and no worker. There may be several, by number.
---@param number? integer
---@return cawb.Device
function Device:ahead(number) end
---Do something on the device, with what other places on it do or `alone`: f(...) and what it returns.
---@param alone boolean
---@param f function
---@return any
function Device:with_others(alone, f, ...) end
---Do several things on the device between which nobody else comes, where several places share it: f(...) and what it returns.
---@param f function
---@return any
function Device:undisturbed(f, ...) end
---Begin the worker that comes after this one, without waiting for it.
function Device:begin_spare() end
---Wait until no worker is being started.
function Device:settle() end
---Let the worker end by itself, within so many seconds; the next request starts another.
---@param seconds number
function Device:finish(seconds) end
---Let go of a task's memory and of the loaded candidate; the worker stays.
function Device:forget() end
---One request to the worker (core/base/protocol/worker.json).
---@param request table
---@param fds? table
---@param timeout number seconds
---@return table? reply, string? message, string? name
function Device:call(request, fds, timeout) end
---One request to the compiler process (core/base/protocol/compiler.json).
---@param request table
---@return table? reply, string? message, string? name
function Device:ask_compiler(request) end

---@class cawb.Task
---@field name string
---@field path string
---@field device cawb.Device
---@field graph table             the task's ATen operators, without views: { { op, kind, number, args, inputs = { { source, view?, shape, dtype } }, outputs } }; `source` is "input:1", "param:NAME", "op:NUMBER"; `view` the view that shows it in part or in another order
---@field inputs table            tensor specs, or plain values
---@field outputs table           tensor specs
---@field params table            tensor specs with names
---@field products? table         { checked, outputs =, why = }: are its products checked against a secret vector?
---@field info table              { class_doc, constants, source_sha256, ... }
---@field notes string[]
---@field scaled? table           what --scale fit chose: { changes, fits, text, before, after }
---@field sketched? boolean       sizes only, nothing is verified (--scale full)
---@field own? cawb.Task          with --scale both: the task at its own sizes, sizes only
---@field seed string             repeats the run's secret inputs with --seed
local Task = {}
---New inputs from a secret seed, or those of a given one; outputs poisoned.
---@param purpose string
---@param seed? integer
---@return integer? poison, string? message, string? name
function Task:fresh_inputs(purpose, seed) end
---Statistics of what was written to the outputs, against the references.
---@param poison integer
---@return table? statistics, string? message, string? name
function Task:compare(poison) end
---The first values of a tensor, for looking.
---@param what { which?: "inputs"|"outputs"|"reference"|"eager", index?: integer, count?: integer, offset?: integer }
---@return number[]? values, string? message, string? name
function Task:peek(what) end
---Enter shares into a request to the worker; returns their descriptors.
---@param request table
---@param names string[]
---@return table fds
function Task:share(request, names) end
---What outputs are to be filled with next: NaN, then a number, in turn.
---@return integer poison
function Task:new_poison() end

--- Secrets are those of one more evaluation of a candidate from here on: they follow from the task's seed, and not from
--- what was evaluated before.
---@param hash string the candidate's
function Task:begin_evaluation(hash) end

--- From here on candidates have the same secrets: a compiler's, which nobody writes to pass. Inputs and references are made once then.
function Task:share_secrets() end

--- Secrets of the evaluations that come now follow from another seed.
---@param seed string
function Task:reseed(seed) end
---One request to the task host, which may take so many seconds `more` than its deadline.
---@param request table
---@param fds? integer[]
---@param more? number
---@return table? reply, string? message, string? name
function Task:ask(request, fds, more) end
---Start another task host for this task, once one was lost.
---@return boolean? ok, string? message, string? name
function Task:revive() end
---End the task host.
function Task:close() end

---@class cawb.Candidate
---@field source string           kernel.cu
---@field plan string             plan.lua
---@field name string
---@field note? string
---@field defines table
---@field options string[]
---@field tunables? table         the chosen member of the family
---@field own? cawb.Candidate      the text for the task's own sizes, where --scale both times another
---@field hash string
local Candidate = {}
---The member of the family with these values.
---@param tunables table
---@return cawb.Candidate
function Candidate:with(tunables) end
---All defines of this member, or of another one, as strings.
---@param tunables? table
---@return table<string, string>
function Candidate:all_defines(tunables) end
---"BLOCK=256 VEC=4"; with the declared tunables, only those that had a choice.
---@param declared? table
---@return string
function Candidate:label(declared) end

---What a strategy's hooks are given.
---@class cawb.Run
---@field id string
---@field task cawb.Task
---@field options table
---@field turns cawb.Turn[]
---@field best? cawb.Turn
---@field memory table            the strategy's own, as long as the run
local Run = {}
---The next turn: compile, sweep, verify, measure, reward, record.
---@param candidate cawb.Candidate
---@return cawb.Turn? turn, string? message, string? name
function Run:evaluate(candidate) end
---Why the run must end, or nil.
---@return string?
function Run:done() end
---@return { turns: integer, seconds: number, replies?: integer, tokens?: integer, dollars?: number, device_seconds?: number, no_progress?: integer }
function Run:left() end
---What is spent, by the same names.
---@return table<string, number>
function Run:spent() end
---Ask the run's model; what it costs is counted.
---@param messages cawb.Message[]
---@param tools? table[]
---@return cawb.Reply? reply, string? message, string? name, table? about
function Run:ask(messages, tools) end
---End the run because its model gives no reply.
---@param message string
---@param name string
---@return false
function Run:model_failed(message, name) end
---Remember something in the run's record.
---@param kind string
---@param data table
---@param turn? integer
---@return true? ok, string? message, string? name
function Run:record(kind, data, turn) end
---@return number seconds
function Run:elapsed() end
---The n best turns, best first.
---@param n integer
---@return cawb.Turn[]
function Run:top(n) end
---End the run with a reason.
---@param reason string
---@return false
function Run:give_up(reason) end
function Run:patiently() end
---Call step until it has nothing left or a budget ends; the program does this.
---@return string
function Run:loop() end

---@class cawb.Turn
---@field number integer
---@field candidate cawb.Candidate
---@field name string
---@field label? string           the chosen tunables
---@field ok boolean
---@field stage? string           where it failed
---@field reason? string
---@field reward number
---@field seconds table           { compile, verify, measure }
---@field time_s? cawb.Estimate
---@field speedup? table          { eager, compile }, each an estimate
---@field error? table            { worst, nrms, eager }
---@field tunables? table
---@field modelled boolean
---@field facts table             all that was measured

---@class cawb.Message
---@field role "system"|"user"|"assistant"|"tool"
---@field text string
---@field calls? cawb.Call[]      of an assistant
---@field id? string              of a tool's result: the call's
---@field name? string
---@field failed? boolean

---@class cawb.Call
---@field id string
---@field name string
---@field arguments? table
---@field bad? string             why the arguments are none

---@class cawb.Reply
---@field text string
---@field calls cawb.Call[]
---@field reasoning string
---@field stop "end"|"tools"|"length"|"filter"|string
---@field usage { input: integer, output: integer, cached: integer, written: integer, reasoning: integer, estimated?: boolean } tokens
---@field cost? number            dollars, where the price is known
---@field seconds number
---@field first_token_s? number
---@field attempts integer
---@field unknown string[]        fields that are not known
---@field logprobs? number[]
---@field message cawb.Message    to put behind the others

---Ask a model. Without a reply: nil, a message, and one of the names in
---lua/cawb/agent/ask/outcome.lua.
---@param model table             settings over the option `model`
---@param messages cawb.Message[]
---@param opts? { tools?: table[], deadline?: number, record?: table, replay?: table, say?: fun(text: string, name: string) }
---@return cawb.Reply? reply, string? message, string? name, table? about
function cawb.ask(model, messages, opts) end

---A candidate from a table, from a path without its ending, from a Python file with the
---class ModelNew, or from the folder that a run left its best in.
---@param spec string|{ python: string, name?: string, note?: string }|{ source: string, plan: string, name?: string, note?: string, defines?: table, options?: string[], tunables?: table, own?: cawb.Candidate }
---@return cawb.Candidate? candidate, string? message, string? name
function cawb.candidate(spec) end

---Compile device source to PTX and machine code.
---@param spec { source: string, device: cawb.Device, defines?: table, options?: string[] }
---@return table|cawb.Failure|nil built, string? message, string? name
function cawb.compile(spec) end

---Open "auto", "cuda:N", "sim:h100" (lua/cawb/gpu/devices has the others), a part of one
---("sim:h100/16") or a description of your own ("sim:my/gpu.lua"); "cpu", for Python candidates.
---@param name? string
---@param options? { deadlines?: table, compile?: table, simulate?: table, cache?: string }
---@return cawb.Device? device, string? message, string? name
function cawb.device(name, options) end

---The kernel families in a folder, by default those that cawb came with.
---@param dir? string
---@return table[] families
function cawb.families(dir) end

---What `cawb.judge` returns: the facts of the best member (docs/reference/facts.md), some of which are named here. Of a
---candidate that failed, `ok` is false, and `stage` and `reason` say where and why.
---@class cawb.Verdict
---@field ok boolean
---@field verdict "faster"|"right"|"wrong"  faster: than the fastest baseline that is no less accurate
---@field member cawb.Candidate   with the tunables that were chosen
---@field stage? string           where it failed
---@field reason? string
---@field log? string             the compiler's
---@field time_s? cawb.Estimate
---@field speedup? table          { eager, compile }, each an estimate
---@field equal_error? table      the speed-up over the fastest baseline that is no less accurate: `against` names it
---@field error? table            { worst, nrms, eager }
---@field first? table            where it was confirmed: the first times, { time_s, speedup }
---@field profile? table          with the option `profile`
---@field modelled boolean

---Judge a candidate: build it, choose its tunables, verify and time it. A claim is confirmed by a fresh worker on fresh inputs,
---as the option `confirm` and the rules want it; `confirm` = true or false decides that here. A wrong argument raises; where the
---machine or the task failed: nil, message, name; a candidate that failed is a verdict.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { confirm?: boolean, trials?: integer, battery?: string[], repeats?: integer, against?: (string|cawb.Candidate)[], samples?: integer, budget?: number, launches?: integer, say?: fun(stage: string), options?: table }
---@return cawb.Verdict? verdict, string? message, string? name
function cawb.judge(task, candidate, opts) end

---Time a candidate against PyTorch.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { against?: (string|cawb.Candidate)[], samples?: integer, budget?: number, warmup?: integer, batch?: integer, slice?: number, rounds?: integer, precision?: number, resolution?: number, decisive?: boolean, slowest?: number, launches?: integer, options?: table }
---@return table|cawb.Failure|nil measured, string? message, string? name
function cawb.measure(task, candidate, opts) end

---@class cawb.Profile
---@field ok true
---@field source "cupti"|"events"|"simulator"|"ptx" which rung of the ladder answered
---@field metrics table<string, number>
---@field sources table<string, "cupti"|"events"|"driver"|"ptxas"|"simulator"|"ptx"> by metric
---@field kernels { kernel: string, metrics: table<string, number>, sources: table<string, string> }[] one for each launch
---@field roofline cawb.Roofline
---@field seconds? number
---@field bound? table<string, number> seconds by limit, on a simulated device: memory, l2, l1, shared, issue, latency, blocks, launch
---@field passes integer counted executions
---@field missing? string[] metrics that this device has not
---@field note? string why the rung above could not be had
---@field lines? cawb.Line[] where the time goes, the most first
---@field sampling? { lines: cawb.Line[], stalls: table[], samples: integer, unit: string, runs: integer, dropped: integer, note?: string }
---@field took? { setup: number, count: number } seconds
---@field modelled boolean

---@class cawb.Line
---@field kernel string
---@field file string
---@field line integer
---@field text? string
---@field samples integer
---@field share number
---@field idle integer samples in which no warp issued
---@field stalls { reason: string, samples: integer }[]

---@class cawb.Roofline
---@field limiter "dram"|"compute"|"issue"|"latency"|"launch"|"blocks"|"unknown"|"memory"|"l2"|"shared"
---@field sentence string
---@field remedies { skill: string, advice: string, why: string, promise: number }[]
---@field intensity? number FLOP/byte
---@field flops? number
---@field flops_source? "cupti"|"graph"
---@field byte_rate? number
---@field flop_rate? number
---@field precision? "fp32"|"tf32"|"bf16"|"fp16"
---@field dram_share? number
---@field compute_share? number
---@field ridge? number
---@field roof? "memory"|"compute"
---@field share? number
---@field ceilings? "measured"|"modelled"
---@field note? string why there are no ceilings

---What a candidate did on fresh inputs, in counts, and what that means.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { set?: "default"|"quick", metrics?: string[], lines?: boolean, options?: table }
---@return cawb.Profile|cawb.Failure|nil profile, string? message, string? name
function cawb.profile(task, candidate, opts) end

---@class cawb.Finding
---@field tool string
---@field kind string
---@field text string
---@field kernel? string
---@field file? string
---@field line? integer
---@field block? integer[]
---@field thread? integer[]
---@field address? string
---@field size? integer
---@field times? integer of a simulated device: how often it was seen

---Mistakes inside a candidate's kernels, with their lines.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { tools?: ("memcheck"|"racecheck"|"initcheck"|"synccheck")[], task?: table, options?: table }
---@return { ok: true, clean: boolean, findings: cawb.Finding[], tools: table<string, table> }|cawb.Failure|nil result, string? message, string? name
function cawb.sanitize(task, candidate, opts) end

---Run a candidate once on fresh inputs; nothing is judged.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { options?: table }
---@return table|cawb.Failure|nil ran, string? message, string? name
function cawb.run(task, candidate, opts) end

---Load a task.py for a device.
---@param path string
---@param opts { device: cawb.Device, seed?: string, task?: table, options?: table, host?: table }
---@return cawb.Task? task, string? message, string? name
function cawb.task(path, opts) end

---Is a candidate right? Fresh secret inputs, float64 references. `findings` are what a
---simulated device saw (cawb.Finding[]), where it saw any.
---@param task cawb.Task
---@param candidate cawb.Candidate
---@param opts? { trials?: integer, battery?: string[], repeats?: integer, options?: table }
---@return table|cawb.Failure|nil checked, string? message, string? name
function cawb.verify(task, candidate, opts) end

return cawb

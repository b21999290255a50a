-- Secrets that can be had again: CAWB_SEED, from which all seeds of a process then follow.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

-- What a process prints that runs this text, with CAWB_SEED set so ("": not set).
local function printed(text, seed)
  local path = check.write(check.folder() .. "/script.lua", text)
  local out, status = check.shell(("env -u CAWB_SEED %s '%s' '%s' 2>&1"):format(seed ~= "" and "CAWB_SEED=" .. seed or "",
    core.program, path))
  check.equal(status, 0, out)
  return out
end

local three = [[
local seeds = require "cawb.base.seeds"
print(seeds.are_given(), seeds.fresh(), seeds.fresh "a task", seeds.fresh())]]

check.test("with CAWB_SEED a process draws what another one drew, without it something else", function()
  local first = printed(three, "2a")
  check.matches(first, "^true%s+%x+%s+%x+%s+%x+\n$")
  check.equal(#first:match "%x+\n$", 17, "64 bits")
  check.equal(printed(three, "2a"), first)
  assert(printed(three, "2b") ~= first, "another CAWB_SEED, the same seeds")
  assert(printed(three, "") ~= printed(three, ""), "fresh seeds came again")
  local list = {}
  for word in first:gmatch "%x+" do list[word] = true end
  local count = 0
  for _ in pairs(list) do count = count + 1 end
  assert(count >= 4, "a seed came twice in one process: " .. first)
end)

check.test("a seed about something does not depend on what else was drawn", function()
  local alone = printed([[print(require("cawb.base.seeds").fresh "a task")]], "2a")
  check.equal(printed([[local s = require "cawb.base.seeds"; s.fresh(); s.fresh "other"; print(s.fresh "a task")]], "2a"), alone)
end)

check.test("no process that the judge starts has CAWB_SEED in its environment", function()
  local out = printed([[
    local cawb, file = require "cawb", require "cawb.base.file"
    local device <close> = assert(cawb.device "sim:h100")
    local task <close> = assert(cawb.task("examples/softmax.py", { device = device }))
    local built = assert(cawb.compile { source = "extern \"C\" __global__ void k() {}", device = device })
    for name, process in pairs { worker = device.worker, compiler = device.compiler, host = task.host } do
      local text = file.read("/proc/" .. process:pid() .. "/environ")
      print(name, #text > 0, text:find "PATH=" ~= nil, text:find "CAWB_SEED" ~= nil)
    end]], "2a")
  for _, name in ipairs { "worker", "compiler", "host" } do check.matches(out, name .. "%s+true%s+true%s+false") end
end)

check.test("a run says that its seed was given: in its record, and its seed is one that repeats it", function()
  local dir = check.folder()
  local words = ("'%s' strategies/ladder.lua examples/softmax.py --device sim:h100 --set turns=1 --set task.rows=16 "
    .. "--set task.cols=64 --json --quiet --out '%s'"):format(core.program, dir)
  local function run(seed, flags)
    local out, status = check.shell(("env -u CAWB_SEED %s %s %s"):format(seed, words, flags or ""))
    check.equal(status, 0, out)
    local result = assert(core.json.decode(out))
    return { seed = result.seed, run = result.run, error = result.turns[1].error.worst }
  end
  local first, second = run "CAWB_SEED=2a", run "CAWB_SEED=2a"
  check.equal(first.seed, second.seed)
  check.equal(first.error, second.error)
  local again = run("", "--seed " .. first.seed)
  check.equal(again.error, first.error)
  local store <close> = assert(core.store.open(dir))
  local told = {}
  for _, row in ipairs(store:query "SELECT runs.id AS id, json FROM runs JOIN environments ON environment = hash") do
    told[row.id] = core.json.decode(row.json).seeds or "fresh"
  end
  check.equal(told[first.run], "CAWB_SEED")
  check.equal(told[again.run], "fresh")
end)

return check.done()

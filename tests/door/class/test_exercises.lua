-- cawb exercise: every solution reaches its goals, every file to begin with does not, and the judge says why. The sizes are
-- small: goals are counts, and the counts of small sizes tell as much.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local exercises = require "cawb.door.exercises"

local dir = check.folder()
local device <close> = assert(cawb.device "sim:h100")
local list = exercises.list()

local function exercise(words)
  return check.shell(("'%s' exercise %s 2>&1"):format(core.program, words))
end

-- Whether some goal is missed, or something is found or wrong.
local function missed(v)
  for _, goal in ipairs(v.goals) do if not goal.reached then return true end end
  return not v.ok or #v.found > 0
end

check.test("there are ten, numbered from 1, each with a title, a text, a hint and goals that say what they are for", function()
  check.equal(#list, 10)
  for i, e in ipairs(list) do
    check.equal(e.number, i)
    check.equal(assert(exercises.find(tostring(i))).name, e.name)
    check.equal(assert(exercises.find(e.name)).number, i)
    for _, key in ipairs { "title", "about", "hint" } do assert(#e[key] >= 5, e.name .. " has no " .. key) end
    assert(#e.goals > 0 and e.small, e.name)
    for _, goal in ipairs(e.goals) do
      assert(goal[1] and goal.says and (goal.most or goal.least) and (goal.metric or goal.value), e.name)
    end
  end
end)

for _, e in ipairs(list) do
  check.test(("exercise %d: the solution passes, the start does not"):format(e.number), function()
    local v = assert(exercises.judge(e, device, { exercises.text(e, "solution"), exercises.text(e, "start") }, { small = true }))
    assert(v[1].passed, core.json.encode(v[1]))
    assert(not missed(v[1]) and v[1].seconds > 0)
    assert(not v[2].passed and missed(v[2]))
  end)
end

check.test("a race is told in exercise 4, and what does not compile in any", function()
  local e = list[4]
  local v = assert(exercises.judge(e, device, { exercises.text(e, "start"), "nonsense" }, { small = true }))
  check.matches(v[1].found[1].text, "shared memory: reverse, kernel.cu line %d+")
  check.equal(v[2].stage, "compile")
  check.equal(v[2].passed, false)
end)

check.test("a device that does not count is refused, with what to do", function()
  local v, message, name = exercises.judge(list[1], { info = { modelled = false } }, { "" })
  check.equal(v, nil)
  check.equal(name, "usage")
  check.matches(message, "counts of a simulated device: leave out %-%-device.*cawb judge .*/01_first/task.py my.cu measures on a GPU")
end)

check.test("a plan of one's own takes the place of the exercise's", function()
  local e, plan = list[1], 'launch("saxpy", { grid = 4, block = 1024 }, outputs[1], inputs[1], inputs[2], outputs[1].numel)'
  assert(assert(exercises.judge(e, device, { exercises.text(e, "solution") }, { small = true, plan = plan }))[1].passed)
  local v = assert(exercises.judge(e, device, { exercises.text(e, "solution") }, { small = true, plan = plan:gsub("1024", "64") }))[1]
  check.equal(v.ok, false)
  check.matches(v.reason, "never written")
end)

check.test("the command lists, explains, hints, solves, and begins without overwriting", function()
  local out, code = exercise ""
  check.equal(code, 0)
  for _, e in ipairs(list) do assert(out:find(e.title, 1, true), e.title) end
  check.matches(exercise "3", "Exercise 3: shared memory.*begin: cawb exercise 3 %-%-start tile.cu; judge: cawb exercise 3 tile.cu")
  check.equal((exercise "3 --hint"), list[3].hint .. "\n")
  check.equal((exercise "3 --solution"), exercises.text(list[3], "solution"))
  local path = dir .. "/my.cu"
  check.matches(exercise("3 --start " .. path), "is written. Edit it, then: cawb exercise 3 ")
  out, code = exercise("3 --start " .. path)
  check.equal(code, 2)
  check.matches(out, "is there already; it is not overwritten: name another file, such as tile%.cu")
  for words, says in pairs { ["11"] = "no exercise '11': they are 1 to 10", ["3 " .. dir .. "/none.cu"] = "there is no file .*none.cu: cawb exercise 3 %-%-start",
    ["3 --fast"] = "unknown flag '%-%-fast'", ["3 a b"] = "an exercise and one file" } do
    out, code = exercise(words)
    check.equal(code, 2, words)
    check.matches(out, says)
  end
end)

check.test("a race is told once, under the name of the answer's file", function()
  local path = check.write(dir .. "/my4.cu", exercises.text(assert(exercises.find "4"), "start"))
  local out, status = check.shell(("'%s' exercise 4 %s --small"):format(core.program, path))
  check.equal(status, 1)
  check.equal(select(2, out:gsub("with no __syncthreads", "")), 1, out)
  check.matches(out, "my4%.cu line %d+: warp")
  assert(not out:find("kernel.cu", 1, true), out)
end)

check.test("an answer that falls short is told how far, and one that does not ends with 0", function()
  local path = check.write(dir .. "/two.cu", exercises.text(list[2], "start"))
  local out, code = exercise("2 --small " .. path)
  check.equal(code, 1)
  check.matches(out, "right, in [%d.]+ us modelled")
  check.matches(out, "sectors for each access +32 +at most 4.1 +not yet")
  check.matches(out, "Not yet. A hint: cawb exercise 2 %-%-hint")
  check.write(path, exercises.text(list[2], "solution"))
  out, code = exercise("coalescing --small " .. path)
  check.equal(code, 0, out)
  check.matches(out, "sectors for each access +4 +at most 4.1 +reached\nExercise 2 is solved")
end)

return check.done()

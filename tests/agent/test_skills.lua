-- The pages of skills/: what they name exists, what they show compiles and is right, what they
-- claim stands in the benchmarks' results; and the ways to find them.

local cawb = require "cawb"
local core = require "cawb.core"
local remedies = require "cawb.judge.profile.remedies"
local roofline = require "cawb.judge.profile.roofline"
local skills = require "cawb.agent.skills"

local device <close> = assert(cawb.device "sim:h100")
local check = dofile "tests/support/skills.lua" (device)

local pages = skills.list()

local function read(path) return assert(io.open(path)):read "a" end

local function each(what, body)
  check.test(what, function()
    for _, page in ipairs(pages) do
      local ok, message = pcall(body, page)
      if not ok then error(page.name .. ": " .. tostring(message), 0) end
    end
  end)
end

local keys = { name = "string", summary = "string", priority = "number", limiters = "table", architectures = "table",
  words = "string", rungs = "table", evidence = "table", task = "string", device = "string", arch = "string",
  body = "string", path = "string", index = "table" }

check.test("there are at least 24, and one for every remedy that a profile can name", function()
  assert(#pages >= 24, #pages)
  for _, remedy in ipairs(remedies.list) do assert(skills.get(remedy.skill)) end
end)

check.test("the limiters are those of the roofline", function()
  local known, text = {}, read "lua/cawb/judge/profile/roofline.lua"
  for _, word in ipairs(skills.limiters) do known[word] = true end
  local found = 0
  for word in text:gmatch 'return "(%l[%l%d]*)", ' do
    assert(known[word], word)
    found = found + 1
  end
  for word in pairs(roofline.parts) do assert(known[word], word) end
  assert(found >= 5)
end)

each("front matter is complete, and nothing in it is unknown", function(page)
  for key, value in pairs(page) do check.equal(type(value), assert(keys[key], "unknown key " .. key), key) end
  for _, key in ipairs { "name", "summary", "priority", "limiters", "architectures", "words", "rungs" } do
    assert(page[key], key .. " is missing")
  end
  check.equal(page.path:match "([^/]+)%.md$", page.name)
  assert(page.priority >= 1 and page.priority <= 3)
  assert(#page.limiters > 0 and #page.architectures > 0)
  local known = "," .. table.concat(skills.limiters, ",") .. ","
  for _, limiter in ipairs(page.limiters) do assert(known:find("," .. limiter .. ",", 1, true), limiter) end
end)

each("it has its parts, on one page", function(page)
  for _, part in ipairs { "# ", "## When", "## How", "## Error", "## See that it worked" } do
    assert(("\n" .. page.body):find("\n" .. part, 1, true), part)
  end
  local _, lines = page.body:gsub("\n", "")
  assert(lines <= 90, lines .. " lines")
  for line in page.body:gmatch "[^\n]+" do assert((utf8.len(line) or #line) <= 130, line) end
end)

each("its rungs and the pages it mentions exist", function(page)
  for _, rung in ipairs(page.rungs) do
    check.equal(core.fs.kind(rung .. ".cu"), "file", rung)
    check.equal(core.fs.kind(rung .. ".lua"), "file", rung)
  end
  for path in page.body:gmatch "`(kernels/[%w_/]+)`" do check.equal(core.fs.kind(path .. ".cu"), "file", path) end
  for list in page.body:gmatch "%(([%l%- ,]+)%)" do
    for name in list:gmatch "%l+%-[%l%-]+%l" do assert(skills.get(name)) end
  end
end)

check.test("every row of the table of limiters names pages", function()
  local found = 0
  for row in skills.get("reading-a-profile").body:gmatch "\n(|[^\n]+)" do
    for name in (row:match "|([^|]*)|%s*$" or ""):gmatch "%l+%-[%l%-]+%l" do
      assert(skills.get(name))
      found = found + 1
    end
  end
  assert(found >= 15, found)
end)

-- ---- evidence

local scales = { s = 1, ms = 1e-3, us = 1e-6, ns = 1e-9 }
local rates = { ["TB/s"] = 1e12, ["GB/s"] = 1e9, ["TFLOP/s"] = 1e12 }

-- The first time in a line, or the inverse of its first rate: how long it takes, up to a factor
-- that lines of one file have in common. Nil where there is neither.
local function takes(line)
  for at, number in line:gmatch "()%f[%d.]([%d.]+)" do
    local unit = line:sub(at + #number):gsub("^ %[[^%]]*%]", ""):match "^ (%a[%a/]*)"
    local scale = scales[unit] or rates[unit]
    if scale and tonumber(number) then return scales[unit] and number * scale or 1 / (number * scale) end
  end
end

local function is_row(line) return line:sub(1, 1) ~= "{" and not line:match "^best" end

local function line_with(file, words, wanted)
  for line in read(file):gsub("[ \t]+", " "):gmatch "[^\n]+" do
    if line:find(words, 1, true) and is_row(line) and wanted(line) then return line end
  end
  error(("%s has no line with '%s'"):format(file, words))
end

local function near(factor, claimed, claim)
  assert(math.abs(factor / claimed - 1) <= 0.1, ("%s: the file says %.3gx"):format(claim, factor))
end

local function supported(claim)
  local file, a, factor, b = claim:match "^(%S+): (.-) takes ([%d.]+)x of (.+)$"
  if file then
    return near(takes(line_with(file, a, takes)) / takes(line_with(file, b, takes)), tonumber(factor), claim)
  end
  file, a, factor = claim:match "^(%S+): (.-) is ([%d.]+)x$"
  assert(file, "not a claim: " .. claim)
  local line = line_with(file, a, is_row)
  for found in line:gmatch "([%d.]+)x" do
    if math.abs(tonumber(found) / tonumber(factor) - 1) <= 0.1 then return end
  end
  error(claim .. ": no such factor in that line")
end

each("its claims of speed stand in the results of the benchmark that it names", function(page)
  for _, claim in ipairs(page.evidence) do supported(claim) end
end)

check.test("a claim that the results do not support is found", function()
  local file = "bench/results/cuda/ladders_h100.txt"
  check.raises("the file says", supported, file .. ": elementwise/v1_chunk takes 9x of elementwise/v2_coalesced")
  check.raises("no line with", supported, file .. ": elementwise/v9 takes 2x of elementwise/v2_coalesced")
  check.raises("no such factor", supported, "bench/results/cuda/kernelbench_h100.txt: #23 Softmax is 7x")
  check.raises("not a claim", supported, file .. ": it is much faster")
end)

local function prose(page) return (page.body:gsub("\n```.-\n```", "")) end

each("the prose has no factors of its own; without evidence it calls nothing faster", function(page)
  local text = prose(page)
  assert(not text:find "%f[%d]%d[%d.]*x%f[^%w]", "a factor in the prose")
  if #page.evidence > 0 then return end
  for _, word in ipairs { "faster", "quicker", "speed%-up", "times as fast" } do
    assert(not text:find(word), "it says '" .. word .. "'")
  end
end)

-- ---- code

each("every fragment compiles as it stands", function(page)
  for _, source in ipairs(skills.fragments(page, "cuda")) do
    local built_for = device.info.arch
    device.info.arch = page.arch or built_for
    local built = assert(cawb.compile { source = source, device = device })
    device.info.arch = built_for
    assert(built.ok, built.log)
    assert(#built.kernels > 0, "it has no kernel")
  end
  for _, plan in ipairs(skills.fragments(page, "lua")) do assert(load(plan, "=plan", "t")) end
  check.equal(page.task ~= nil, #skills.fragments(page, "lua") > 0, "it has a task and a plan")
end)

-- ---- finding them

check.test("by name, with a suggestion for what is nearly one", function()
  check.equal(skills.get("coalesced-access").priority, 2)
  check.fails("missing", "did you mean 'coalesced%-access'", skills.get "coalesced-acces")
  local list, how = skills.find " Coalesced-Access "
  check.equal(how .. list[1].name, "namecoalesced-access")
end)

check.test("by words: what an agent would type finds the page first", function()
  for words, name in pairs {
    ["bank conflicts"] = "shared-memory-padding", ["float4 loads"] = "vectorized-loads",
    ["register spills"] = "fewer-registers", ["wgmma"] = "warpgroup-mma", ["cp.async pipeline"] = "double-buffering",
    ["TMA mbarrier"] = "bulk-copies", ["layernorm variance cancellation"] = "welford-variance",
    ["cuda graph launch"] = "launch-overhead", ["cumsum"] = "parallel-scan", ["split-k"] = "split-k",
    ["how do I use tensor cores"] = "tensor-core-tiles", ["tf32 error"] = "mixed-precision",
    ["uncoalesced strided loads"] = "coalesced-access", ["warp divergence"] = "uniform-branches",
    ["histogram atomicAdd"] = "atomics", ["cublaslt epilogue"] = "library-calls",
  } do
    check.equal(skills.search(words)[1].name, name, words)
  end
  check.equal(#skills.search "zzz the of", 0)
end)

check.test("by limiter: every one has pages, the algorithm before the tuning", function()
  for _, limiter in ipairs(skills.limiters) do
    local list, how = skills.find(limiter)
    check.equal(how, "limiter")
    assert(#list > 0, limiter)
    for i = 2, #list do assert(list[i - 1].priority <= list[i].priority) end
  end
end)

check.test("a page that is no page raises with its name", function()
  local dir = check.folder()
  check.write(dir .. "/one.md", "# no front matter\n")
  check.raises("one.md: a page begins with front matter", skills.list, dir)
  check.write(dir .. "/one.md", "---\nname one\n---\n")
  check.raises("'name one' is no line of front matter", skills.list, dir)
end)

check.test("cawb skill: a list, a page, words, a limiter, and what is none of these", function()
  local function skill(words) return check.shell(("'%s' skill %s 2>&1"):format(core.program, words)) end
  local out, status = skill ""
  check.equal(status, 0)
  for _, page in ipairs(pages) do assert(out:find(page.name, 1, true), page.name) end
  out = skill "coalesced-access"
  check.matches(out, "# Coalesced access\n.*Code: kernels/elementwise/v2_coalesced.*Measured: bench/results/cuda/ladders")
  check.matches(skill "bank conflicts", "\n3 +shared%-memory%-padding")
  check.matches(skill "--limiter blocks", "split%-k")
  out, status = skill "--limiter none"
  check.equal(status, 2)
  check.matches(out, "limiters are launch, dram")
  out, status = skill "zzzz"
  check.equal(status, 2)
  check.matches(out, "no skill 'zzzz'")
end)

return check.done()

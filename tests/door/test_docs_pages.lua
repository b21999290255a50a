-- The pages of the documentation by themselves: links lead somewhere, pages are short, those of rooms name every room,
-- and numbers stand in the results that are cited.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local pages = dofile "tests/door/pages.lua"

local read, same = pages.text, pages.same

local manual = pages.below("docs", {})
local others = { "README.md", "CONTRIBUTING.md", "kernels/README.md", "skills/README.md", "bench/README.md",
                 "examples/workshop/README.md", "core/README.md", "core/sim/README.md", "python/cawb_host/README.md", "core/base/protocol/README.md",
                 "lua/cawb/README.md" }
local all = table.move(others, 1, #others, #manual + 1, { table.unpack(manual) })

-- ---- links and sizes

check.test("every link leads to a file, and to a heading of it", function()
  local seen = 0
  for _, path in ipairs(all) do
    for _, link in ipairs(pages.read(path).links) do
      local file, anchor = link.target:match "^([^#]*)#?(.*)$"
      if not file:match "^%a+:" then
        local target = file == "" and path or (path:match "^(.*/)" or "") .. file
        assert(core.fs.kind(target), ("%s:%d: there is no %s"):format(path, link.line, target))
        assert(anchor == "" or pages.read(target).headings[anchor],
          ("%s:%d: %s has no heading #%s"):format(path, link.line, target, anchor))
        seen = seen + 1
      end
    end
  end
  assert(seen > 100, seen .. " links were looked at")
end)

check.test("pages are short, and the index has all of them", function()
  for _, path in ipairs(manual) do            -- what is looked up may be longer than what is read
    assert(pages.read(path).lines <= (path:find "/reference/" and 350 or 250), path .. " is too long")
  end
  assert(pages.read "README.md".lines <= 160, "README.md is longer than 160 lines")
  for _, path in ipairs { "core/README.md", "core/sim/README.md", "python/cawb_host/README.md", "lua/cawb/README.md" } do
    assert(pages.read(path).lines <= 40, path .. " is longer than 40 lines")
  end
  local index = read "docs/README.md"
  for _, path in ipairs(manual) do
    local name = path:match "^docs/(.*)$"
    assert(name == "README.md" or index:find("(" .. name .. ")", 1, true), "docs/README.md does not name " .. name)
  end
end)

check.test("the site's table of contents has every page once, and none that is not there", function()
  local seen = {}
  for path in read "mkdocs.yml":gmatch "\n +%- [^\n]-: (%S+%.md)" do
    assert(core.fs.kind(path), "mkdocs.yml: there is no " .. path)
    assert(not seen[path], "mkdocs.yml has twice " .. path)
    seen[path] = true
  end
  for _, path in ipairs(manual) do assert(seen[path], "mkdocs.yml does not name " .. path) end
  assert(seen["README.md"] and seen["CONTRIBUTING.md"])
end)

-- ---- rooms

for folder, page in pairs { ["core/"] = "core/README.md", ["core/sim/"] = "core/sim/README.md",
                            ["python/cawb_host/"] = "python/cawb_host/README.md", ["lua/cawb/"] = "lua/cawb/README.md" } do
  check.test(page .. " names every room and no other, and files that exist", function()
    local real, documented = {}, {}
    for _, name in ipairs(assert(core.fs.list(folder))) do
      if core.fs.kind(folder .. name) == "folder" and name ~= "__pycache__" then real[name .. "/"] = true end
    end
    for name in read(page):gmatch "`([%l_]+/)`" do documented[name] = true end
    same(real, documented, page, "room")
    for name in read(page):gmatch "`([%w_]+/[%w_/]+%.%l+)`" do
      local up = name:match "^tests/"
      assert(core.fs.kind(up and name or folder .. name), ("%s: there is no %s"):format(page, name))
    end
  end)
end

-- ---- results

-- What the README says, the file that it cites, and what stands there.
local cited = {
  { "171 of 171 and 159 of 159", "redteam_sim.txt", "\nall .*171 of 171, 100%%\nfalse alarms .*0 of 171\n" },
  { "171 of 171 and 159 of 159", "redteam_cpu.txt", "\nall .*159 of 159, 100%%\nfalse alarms .*0 of 51\n" },
  { "61 of 171, and reject 4 look-alikes", "redteam_sim.txt", "\nall +%S+ of 171, %d+%% +61 of 171, 36%%.*\nfalse alarms +%d of 171 +4 of 171" },
  { "1,634 of 1,636", "redteam_seeds_sim.txt", "\ncheats that passed: +2 of 1636, .*\nlook%-alikes that were rejected: 0 of 1636, " },
  { "2,395 of 2,395; allclose at 1e-2 rejects 1,731", "mutants_sim.txt", "\nall +2395 +2395 of 2395, 100.0%% +1731 of 2395, " },
  { "6,655 of 6,707 rejected (99.2%); 45 of the other 52", "mutants_grammar_sim.txt",
    "\nall +6707 +6655 of 6707, 99.2%%.*\nSo of 6,707 .* 6,655 are rejected, 45 compute the same .* 7 were missed" },
  { "for 119 of 123", "baselines_h200.txt", "\ntogether: eager +123 tasks +bias +0.99x +median error +7.9%%.*\ntogether: compile +123 tasks +bias "
    .. "+0.99x +median error +7.3%%.*\ntogether: measured candidates +123 tasks .* 119, 97%% " },
  { "for 121 of 123 (of the 60 that nothing was fitted to for 58)", "baselines_suite_h100.txt",
    "\nnot fitted to: measured candidates +60 tasks .* 58, 97%% .*\ntogether: eager +123 tasks .* median error +6.0%%.*"
    .. "\ntogether: compile +123 tasks .* median error +4.5%%.*\ntogether: measured candidates +123 tasks .* 121, 98%% " },
  { "5.5%, rank correlation 0.97; of the 118 4.8%, 0.95", "synth_confirm_h100.md",
    "\nall +506 tasks +rank correlation 0.972 +median error +5.5%%.*\nall +118 tasks +rank correlation 0.953 +median error +4.8%%" },
  { "3 of 6,122", "variants_sim.txt", "\n3 of 6122 right kernels written otherwise rejected" },
  { "400 of 400", "verdicts_h100.txt", "chain 2%% longer against it +%S+ us +0 +200 .*chain 2%% longer against it +%S+ ms +0 +200 " },
  { "median error 9%, rank correlation 0.98", "model_h100.txt", "\nall +176 +0.9796 +9.0%%" },
  { "123 of 125 tasks right", "compose_h100.md", "\n| default | all | 125 | 123 | 8 | 103 | 2.77x %[2.48, 3.07%] of 115 | 3.01x %[2.68, 3.39%] of 123 |" },
  { "1.92x, 3.88x, 3.07x", "compose_h100.md", "| default | 1 |.- 1.92x .*| default | 2 |.- 3.88x .*| default | 3 |.- 3.07x " },
  { "1.12x [0.77, 1.68] of 17", "compose_rows_h200.md", "\n| plain | all | .* | 1.12x %[0.77, 1.68%] of 17 |" },
  { "1.70x [1.06, 2.78] of 15", "compose_rows_h200.md", "\n| paper | all | .* | 1.70x %[1.06, 2.78%] of 15 |" },
  { "3.00x [1.93, 4.71] of 9", "compose_rows_h200.md", "\n| autotune | all | .* | 3.00x %[1.93, 4.71%] of 9 |" },
  { "sums of rows 6.6, elementwise 7.9", "serve.txt", "both +reduce +row_sum .- 6.6 .*both +elementwise +gelu .- 7.9 " },
  { "4096^3 3.99x with 0.17", "products_h200.txt", "\n4096%^3 .* 3.99x %S+ .* 0.17 " },
  { "transposed ones 4.22x", "products_h200.txt", "transposed convolutions of level 1: 4.22x" },
  { "float32 5.30x, causal 4.48x; bfloat16 1.01x, causal 0.93x", "attention_h100.txt",
    "bfloat16 .- 1.01x .*bfloat16, causal .- 0.93x .*float32 .- 5.30x .*float32, causal .- 4.48x " },
  { "9,746 of 9,754 right", "compose_fuzz.txt", "9746 passed, 245 are .*, 8 failed" },
  { "9.94 us", "demo_h100.txt", "scan/v4_vector .* 9.94 %[.* 1.97x %+%-0.09 .*\ncompile +19.6 .*\neager +54.1 " },
}

-- Where a result is, by its name: each room has a folder of them.
local result_files = {}
for _, room in ipairs(core.fs.list "bench/results") do
  for _, name in ipairs(core.fs.list("bench/results/" .. room)) do result_files[name] = ("bench/results/%s/%s"):format(room, name) end
end

check.test("numbers of the README stand in the results that it cites", function()
  local readme = read "README.md":gsub("%s+", " ")
  for _, one in ipairs(cited) do
    assert(readme:find(one[1], 1, true), "the README does not say: " .. one[1])
    local file = assert(result_files[one[2]], "there is no result " .. one[2])
    assert(readme:find("(" .. file .. ")", 1, true), "the README does not cite " .. file)
    assert(("\n" .. read(file)):find(one[3]), file .. " says something else than: " .. one[1])
  end
  local honest = 0
  for verified, rejected in read "bench/results/judge/honest_sim.txt":gmatch "(%d+) verified, (%d+) rejected" do
    check.equal(rejected, "0")
    honest = honest + math.tointeger(verified)
  end
  assert(honest >= 2000 and readme:find "none in 2,000 verifications", honest)
end)

-- ---- what a project's first page stands on

check.test("the picture on the first page is what bench/compose/plot.lua draws of the results", function()
  local made = os.tmpname()
  local _, status = check.shell(("'%s' bench/compose/plot.lua bench/results/compose/compose_h100.md '%s'"):format(core.program, made))
  check.equal(status, 0)
  assert(read(made) == read "bench/results/compose/compose_h100.svg", "draw it again: cawb bench/compose/plot.lua bench/results/compose/compose_h100.md bench/results/compose/compose_h100.svg")
  os.remove(made)
  local dots = select(2, read "bench/results/compose/compose_h100.svg":gsub("<title>", ""))
  check.equal(dots, select(2, read "bench/results/compose/compose_h100.md":gsub("\n| [123]/[^\n]-| pass |", "")))
end)

check.test("citation, changes and what runs in public say the same as the build", function()
  local version = read "CMakeLists.txt":match "project%(cawb VERSION ([%d.]+)"
  check.equal(read "CITATION.cff":match "\nversion: ([%d.]+)", version)
  assert(read "CHANGELOG.md":find("## " .. version, 1, true), "CHANGELOG.md has nothing of " .. version)
  check.matches(read ".github/workflows/ci.yml", "run: %.ci/run\n")
  for _, name in ipairs(core.fs.list ".github/ISSUE_TEMPLATE") do
    check.matches(read(".github/ISSUE_TEMPLATE/" .. name), "\n    cawb doctor %-%-lock stack%.json\n")
  end
end)

check.test("tables of cheats are those of the results", function()
  local results, rows = read "bench/results/judge/redteam_sim.txt" .. read "bench/results/judge/redteam_cpu.txt", 0
  for row in read "docs/explain/cheating.md":gmatch "\n    (%u?[%l ]*  [^\n]+)" do
    assert(results:find(row, 1, true), "in no result: " .. row)
    rows = rows + 1
  end
  assert(rows >= 18, rows)
end)

return check.done()

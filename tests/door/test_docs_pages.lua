-- The pages of the documentation by themselves: links lead somewhere, pages are short, those of rooms name every room,
-- and numbers stand in the results that are cited.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local pages = dofile "tests/door/pages.lua"

local read, same = pages.text, pages.same

local manual = pages.below("docs", {})
local others = { "README.md", "CONTRIBUTING.md", "kernels/README.md", "skills/README.md", "bench/README.md",
                 "examples/workshop/README.md", "core/README.md", "core/sim/README.md", "python/cawb_host/README.md", "core/base/protocol/README.md",
                 "lua/cawb/README.md", "lua/cawb/judge/README.md" }
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
    assert(pages.read(path).lines <= (path:find "/reference/" and 400 or 250), path .. " is too long")
  end
  assert(pages.read "README.md".lines <= 120, "README.md is longer than 120 lines")
  for line in io.lines "README.md" do assert(#line <= 110, "README.md has a line of more than 110 columns: " .. line) end
  for _, path in ipairs { "core/README.md", "core/sim/README.md", "python/cawb_host/README.md", "lua/cawb/README.md" } do
    assert(pages.read(path).lines <= 40, path .. " is longer than 40 lines")
  end
  local index = read "docs/README.md"
  for _, path in ipairs(manual) do
    local name = path:match "^docs/(.*)$"
    assert(name == "README.md" or index:find("(" .. name .. ")", 1, true), "docs/README.md does not name " .. name)
  end
end)

local plain = pages.below("docs/explain", pages.below("docs/howto", pages.below("docs/reference", { "core/README.md", "core/sim/README.md",
  "core/base/protocol/README.md", "python/cawb_host/README.md", "lua/cawb/README.md", "lua/cawb/compose/README.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md", "docs/quickstart.md",
  "docs/results.md", "docs/tutorial.md", "docs/words.md", "kernels/README.md", "skills/README.md", "examples/workshop/README.md" })))

check.test("no sentence has more than 30 words", function()
  local long = {}
  for _, path in ipairs(plain) do
    for _, sentence in ipairs(pages.sentences(path)) do
      if sentence.words > 30 then
        long[#long + 1] = ("%s:%d: %d words: %s"):format(path, sentence.line, sentence.words, sentence.text)
      end
    end
  end
  assert(#long == 0, table.concat(long, "\n"))
end)

check.test("sentences are counted as people count them", function()
  local path = os.tmpname()
  check.write(path, "# No sentence\n\nOne two `three four`, and (five). Six, ...\nseven!\n\n    code. code\n* [eight](x) nine:\n  ten\n"
    .. "* eleven.\n| table. |\n```sh\nfence. fence\n```\nSee [a](b), [c](d) and [e](f). Twelve\n")
  local found = {}
  for i, sentence in ipairs(pages.sentences(path)) do found[i] = sentence.line .. ":" .. sentence.words end
  os.remove(path)
  check.equal(table.concat(found, " "), "3:5 3:2 7:3 9:1 14:1")
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

-- What docs/results.md says, the file that it cites, and what stands there.
local cited = {
  { "123 of 125 tasks", "compose_h200.md", "\n| all | 125 | 123 | 2 | 110 | 3.38x %[2.95, 3.90%] of 121 | 3.23x %[2.87, 3.63%] of 121 |" },
  { "3.38x [2.95, 3.90], the geometric mean of 121 tasks", "compose_h200.md", "| 3.38x %[2.95, 3.90%] of 121 |" },
  { "3.23x [2.87, 3.63], and without them 2.92x [2.60, 3.25] of 111 tasks", "compose_h200.md", "\n| all |.-| 3.23x %[2.87, 3.63%] of 121 | 2.92x %[2.60, 3.25%] of 111 |" },
  { "2.20x, 4.82x and 3.85x", "compose_h200.md", "\n| 1 | 50 .- 2.20x .*\n| 2 | 50 .- 4.82x .*\n| 3 | 25 .- 3.85x " },
  { "1.70x [1.06, 2.78] of 15 tasks", "compose_rows_h200.md", "\n| paper | all | .* | 1.70x %[1.06, 2.78%] of 15 |" },
  { "1.12x [0.77, 1.68] of 17 tasks", "compose_rows_h200.md", "\n| plain | all | .* | 1.12x %[0.77, 1.68%] of 17 |" },
  { "3.00x [1.93, 4.71] of 9 tasks", "compose_rows_h200.md", "\n| autotune | all | .* | 3.00x %[1.93, 4.71%] of 9 |" },
  { "1.23x [1.11, 1.36] of 72 tasks", "bf16_hopper.md", "\n| bf16 | all | 76 | 72 | 0 | 46 | 1.23x %[1.11, 1.36%] of 72 " },
  { "0.95x [0.84, 1.06] of 10 tasks; 1.03x [0.99, 1.07] of 7", "bf16_hopper.md",
    "\n| autotune | all .-| 0.95x %[0.84, 1.06%] of 10 |\n.*| again | all .-| 1.03x %[0.99, 1.07%] of 7 |" },
  { "3.99x, with 0.17 of", "products_h200.txt", "\n4096%^3 .* 3.99x %S+ .* 0.17 " },
  { "2.15x to 5.97x", "products_h200.txt", "\nconv 3x3, 16 .- 2.15x .*\nconv 3x3, 64 .- 5.97x " },
  { "4.22x, the geometric mean of 20", "products_h200.txt", "transposed convolutions of level 1: 4.22x" },
  { "5.30x, causal 4.48x", "attention_h100.txt", "float32 .- 5.30x .*float32, causal .- 4.48x " },
  { "1.01x, causal 0.93x", "attention_h100.txt", "bfloat16 .- 1.01x .*bfloat16, causal .- 0.93x " },
  { "9,768 of 9,771 graphs", "compose_fuzz.txt", "9361ba00.*\n10026 graphs .* 9768 passed, 255 are .*, 3 failed" },
  { "5.08x of 40 programs at batch 1, 2.71x of 40 at batch 32, 1.72x of 40 training steps. The least are 1.89x, 1.21x and 1.01x", "programs_h200.txt",
    "\none: .* 5.08x of 40, least 1.89x; .*\nmany: .* 2.71x of 40, least 1.21x; .*\ntrain: 40 rows, 40 right, .* 1.72x of 40, least 1.01x; " },
  { "squeezenet 1.8e-7 (0.9e-7), mobilenet_v3 1.9e-6 (2.5e-6), resnet50 7.3e-6 (1.7e-5)", "lifted_h200.txt",
    "\nsqueezenet .- 1.8e%-07 9.1e%-08 .-\nmobilenet_v3 .- 1.9e%-06 2.5e%-06 .-\nresnet50 .- 7.3e%-06 1.7e%-05 " },
  { "1.65 of them at the median at batch 1, 1.46 at batch 32, 1.53 in training", "programs_h200.txt", "seconds 1.65 of .*seconds 1.46 of .*seconds 1.53 of " },
  { "142 of the 143 that PyTorch computes", "graphnet_h200.txt", "\none: 154 rows, 142 right, 1 wrong, 2 failed or missing, 9 that PyTorch does not compute" },
  { "The other errs by 2.9e-04", "graphnet_h200.txt", "\n9/38 [^\n]* WRONG [^\n]* 2.9e%-04 " },
  { "rounding alone makes errors of 1.7e-05 to 1.4e-04", "graphnet_h200.txt", "\nrounding alone 1.7e%-05 .* 1.4e%-04\n" },
  { "5.95x of 143. Four are below 0.98x, the least is 0.51x", "graphnet_h200.txt", " 5.95x of 143, least 0.51x; 4 below 0.98x; " },
  { "1.88 of Inductor's at the median, beside which it is timed; 0.42 without", "graphnet_h200.txt", "\none: 154 rows, .* seconds 1.88 of .*\none: 20 rows, .* seconds 0.42 of " },
  { "37 of 38 graphs right, 6.67x. Inductor's results are wrong for two", "graphnet_bf16_h200.txt",
    "\none: 39 rows, 37 right, 1 wrong, .* 1 that PyTorch does not compute, .* 6.67x of 38, .* 2 of Inductor's are wrong" },
  { "20 of 20 drawn graphs right, 4.85x, least 1.19x", "tf32_h200.txt", "\none: 20 rows, 20 right, .* 4.85x of 20, least 1.19x; 0 below 0.98x" },
  { "at batch 1 5.35x, at batch 32 1.81x, of training steps 1.45x, six rows down to 0.78x", "tf32_h200.txt",
    "\none: .* 5.35x of 25, .* 0 below .*\nmany: .* 1.81x of 25, .* 3 below .*\ntrain: .* 1.45x of 25, least 0.78x; 3 below " },
  { "1.03e-06 an atom, eager PyTorch's 1.04e-06; [2.1 and 11 ms a step]", "dynamics_h200.txt", "\ncawb +drift 1.03e%-06, .* 2.1 ms a step\neager +drift 1.04e%-06, .* 11 ms a step" },
  { "4.6 us with a CUDA graph, 10.2 us for 2 launches, 50 us for 16", "host_h100.txt", " 2 kernels as launches .* package +10.2 .*16 kernels as launches .* package +50.1 .* 2 kernels as graph .* package +4.6 " },
  { "602 of 603 cheats are caught, and none of 603 look-alikes", "redteam_seeds_sim.txt",
    "a54f197.*\ncheats that passed: +1 of 603, .*\nlook%-alikes that were rejected: 0 of 603, " },
  { "68 of 201 cheats, and reject 4 look-alikes", "redteam_sim.txt", "a54f197.*\nall +%S+ of 201, %d+%% +68 of 201, 34%%.*\nfalse alarms +0 of 201 +4 of 201" },
  { "174 of 174 cheats are caught, and none of 56 look-alikes", "redteam_cpu.txt", "a54f197.*\nall +174 of 174, 100%%\nfalse alarms +0 of 56\n" },
  { "2,395 of 2,395 are rejected. `allclose` at 1e-2 rejects 1,731", "mutants_sim.txt", "\nall +2395 +2395 of 2395, 100.0%% +1731 of 2395, " },
  { "6,771 of 6,819 are rejected, 99.3%", "mutants_grammar_sim.txt", "\nall +6819 +6771 of 6819, 99.3%%" },
  { "none of 2,200", "variants_sim.txt", "\n0 of 2200 right kernels written otherwise rejected" },
  { "none in 2,000 verifications", "honest_sim.txt", "\n0 of 2000 verifications of honest kernels rejected" },
  { "400 of 400", "verdicts_h100.txt", "chain 2%% longer against it +%S+ us +0 +200 .*chain 2%% longer against it +%S+ ms +0 +200 " },
  { "288 on an idle and 227 on a loaded machine", "verdicts_tier2.txt", "None of 288 on idle and of 227 on loaded processors is called different" },
  { "9.94 us", "demo_h100.txt", "scan/v4_vector .* 9.94 %[.* 1.97x %+%-0.09 .*\ncompile +19.6 .*\neager +54.1 " },
  { "12.8 sums of rows a second, and 11.3 elementwise", "serve.txt", "1 64 x 1024 +reduce +row_sum .- 12.8 .*1 64 x 1024 +elementwise +gelu .- 11.3 .*2 64 x 1024 +reduce +row_sum .- 17.9 " },
  { "6.6 sums of rows a second for each core, and 7.9 elementwise", "serve.txt", "both +reduce +row_sum .- 6.6 .*both +elementwise +gelu .- 7.9 " },
  { "176 kernels**: median error 8.5%, rank correlation 0.98", "model_h100.txt", "\nall +176 +0.9831 +8.5%%" },
  { "71 of 71 are within a factor of 2", "probes_h100.txt", "\n71 of 71 within 2x" },
  { "for 121 of 123 tasks. Of the 60 tasks that no constant was fitted to, 58", "baselines_suite_h100.txt",
    "\nnot fitted to: measured candidates +60 tasks .* 58, 97%% .*\ntogether: eager +123 tasks .* median error +6.0%%.*"
    .. "\ntogether: compile +123 tasks .* median error +4.5%%.*\ntogether: measured candidates +123 tasks .* 121, 98%% " },
  { "for 119 of 123 tasks", "baselines_h200.txt", "\ntogether: measured candidates +123 tasks .* 119, 97%% " },
  { "4.8%, rank correlation 0.95", "synth_confirm_h100.md", "\nall +118 tasks +rank correlation 0.953 +median error +4.8%%" },
  { "6,007 of 8,903 draws", "synth_card.md", "\n6007 tasks, kept of 8903 draws" },
  { "90% [87, 93] of first answers are right, 94% [91, 96] of eight, with three seeds", "lm_winnable_h200.txt",
    "\nH1 .* 0.899 %[0.868, 0.928%].* 3 seeds.*\nH2 .* 0.938 %[0.913, 0.962%].* 3 seeds" },
  { "43% [36, 50] of the tasks", "lm_winnable_h200.txt", "\nH4 .* 0.430 %[0.362, 0.495%].* 2 seeds" },
  { "The teacher is on 49%", "lm_winnable_h200.txt", "\nteacher's best .* faster@1 0.490 " },
  { "30 of the 31 kernels of the teacher", "lm_confirm_winnable_h200.txt", "\nteacher: 60 texts.*\n +modelled as 5%% faster: 31, measured so too: 30 " },
  { "-2.3 points [-4.5, -0.2]", "lm_winnable_h200.txt", "\nH3 .* bar 0.20: %-0.023 %[%-0.045, %-0.002%].* 2 seeds" },
  { "1.8 points [-1.1, 4.8]", "lm_winnable_h200.txt", "\nE3 .* 0.018 %[%-0.011, 0.048%].* 2 seeds" },
  { "197 right and none wrong", "synth_compose_sim.md", "\n%*%*197 of 200 right " },
}

-- Where a result is, by its name: each room has a folder of them.
local result_files = {}
for _, room in ipairs(core.fs.list "bench/results") do
  for _, name in ipairs(core.fs.list("bench/results/" .. room)) do result_files[name] = ("bench/results/%s/%s"):format(room, name) end
end

-- What the first page takes from there.
local first = { "123 of 125", "3.38x", "[2.95, 3.90]", "2.92x [2.60, 3.25]", "5.08x of 40 programs", "2.71x of 40", "1.72x of 40 training steps", "1.70x", "[1.06, 2.78]", "602 of 603", "6,771 of 6,819", "8.5%" }

check.test("numbers of docs/results.md stand in the results that it cites, and those of the README on that page", function()
  local page, readme = read "docs/results.md":gsub("%s+", " "), read "README.md":gsub("%s+", " ")
  for _, one in ipairs(cited) do
    assert(page:find(one[1], 1, true), "docs/results.md does not say: " .. one[1])
    local file = assert(result_files[one[2]], "there is no result " .. one[2])
    assert(page:find("(../" .. file, 1, true), "docs/results.md does not cite " .. file)
    assert(("\n" .. read(file)):find(one[3]), file .. " says something else than: " .. one[1])
  end
  for _, number in ipairs(first) do
    assert(readme:find(number, 1, true), "the README does not say: " .. number)
    assert(page:find(number, 1, true), "docs/results.md does not say: " .. number)
  end
end)

-- ---- what is drawn, and what is told in public

check.test("the picture of results is what bench/compose/plot.lua draws of the results", function()
  local made = os.tmpname()
  local _, status = check.shell(("'%s' bench/compose/plot.lua bench/results/compose/compose_h200.md '%s'"):format(core.program, made))
  check.equal(status, 0)
  assert(read(made) == read "bench/results/compose/compose_h200.svg", "draw it again: cawb bench/compose/plot.lua bench/results/compose/compose_h200.md bench/results/compose/compose_h200.svg")
  os.remove(made)
  local dots = select(2, read "bench/results/compose/compose_h200.svg":gsub("<title>", ""))
  check.equal(dots, select(2, read "bench/results/compose/compose_h200.md":gsub("\n| [123]/[^\n]-| pass |", "")))
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
  local results, rows = read "bench/results/judge/redteam_sim.txt" .. read "bench/results/judge/redteam_cpu.txt"
    .. read "bench/results/judge/other_judges_cpu.txt", 0
  for row in read "docs/explain/cheating.md":gmatch "\n    (%u?[%l ]*  [^\n]+)" do
    assert(results:find(row, 1, true), "in no result: " .. row)
    rows = rows + 1
  end
  assert(rows >= 18, rows)
end)

return check.done()

-- How a simulated device executes the instructions of a kernel: what is exact, modelled, approximate, refused.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local fidelity = require "cawb.sim.fidelity"
local pages = dofile "tests/door/pages.lua"

local h100 = { arch = "sm_90a", lacks = { { family = "copies by tensor maps", prefixes = { "cp.async.bulk.tensor" } },
                                          { family = "products of this shape", prefixes = { "mma." } },
                                          { family = "registers of a driver", prefixes = { "%envreg" } } } }

local function of(text, info) return fidelity.of(text, info or h100) end

-- One line's class.
local function class(line, info)
  local found = of(line .. ";", info)
  return found.rows[1] and found.rows[1].class or found.exact == 1 and "exact" or "none"
end

check.test("each class of instruction is told apart", function()
  for line, want in pairs {
    ["add.s32 %r1, %r2, %r3"] = "exact", ["fma.rn.f32 %f1, %f2, %f3, %f4"] = "exact", ["@!%p1 bra $L__BB0_2"] = "exact",
    ["div.rn.f32 %f1, %f2, %f3"] = "exact", ["atom.global.add.u32 %r1, [%rd1], 1"] = "exact",
    ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}"] = "exact",
    ["ex2.approx.ftz.f32 %f1, %f2"] = "approximate", ["div.full.f32 %f1, %f2, %f3"] = "approximate", ["rcp.approx.f32 %f1, %f2"] = "approximate",
    ["mov.u32 %r1, %clock"] = "modelled", ["mov.u64 %rd1, %globaltimer"] = "modelled", ["nanosleep.u32 100"] = "modelled",
    ["atom.global.add.f32 %f1, [%rd1], %f2"] = "modelled", ["red.global.add.noftz.bf16x2 [%rd1], %r1"] = "modelled",
    ["mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1}, {%r1}, {%r2}, {%f1}"] = "modelled",
    ["prefetch.global.L2 [%rd1]"] = "modelled",
    ["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier [%r1], [%rd1]"] = "refused", ["mov.b32 %r1, %envreg3"] = "refused",
    [".reg .b32 %r<5>"] = "none", ["$L__BB0_2:"] = "none", ["// ex2.approx.f32"] = "none",
  } do check.equal(class(line), want, line) end
  check.equal(class("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}", { arch = "sm_80" }), "modelled")
end)

check.test("a sum of a product counts where the assembler may fuse the two", function()
  local found = of "mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\nsub.f32 %f6, %f5, %f2;\n"
  check.equal(found.exact, 2)
  check.equal(found.modelled, 1)
  check.equal(of("mul.rn.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;").exact, 2)
  check.equal(of("mul.f32 %f1, %f2, %f3;\nadd.rn.f32 %f4, %f1, %f5;").exact, 2)
  check.equal(of("mul.f32 %f1, %f2, %f3;\nmov.f32 %f1, %f9;\nadd.f32 %f4, %f1, %f5;").exact, 3)
end)

check.test("the same instructions are one row, what matters most comes first", function()
  local found = of "ex2.approx.f32 %f1, %f2;\nex2.approx.f32 %f3, %f4;\nmov.u32 %r1, %clock;\nmov.b32 %r1, %envreg3;\nret;"
  check.equal(#found.rows, 3)
  check.equal(found.rows[1].class .. found.rows[2].class .. found.rows[3].class, "refusedapproximatemodelled")
  check.equal(found.rows[1].instruction, "mov.b32 %envreg3")
  check.equal(found.rows[2].count, 2)
  check.equal(fidelity.lines(found)[1], "of 5 instructions of its PTX 1 are exact, 1 modelled, 2 approximate, 1 refused")
end)

check.test("cawb judge says it of a candidate, and the manual has the table", function()
  local words = ("'%s' judge examples/softmax.py kernels/softmax/v1_thread_per_row --device sim:h100 --set task.rows=4 --set task.cols=64 "
    .. "--set verify.trials=1 --set verify.battery=mixed --set sweep.variants=1 --out '%s' "):format(core.program, check.folder())
  local out, status = check.shell(words .. "--json --quiet")
  assert(status <= 1, out)
  local found = assert(core.json.decode(out)).fidelity
  assert(found.exact > 20 and found.approximate > 0 and found.refused == 0)
  check.matches(found.rows[1].instruction, "^ex2%.approx")
  out = check.shell(words .. "--fidelity --quiet 2>&1")
  check.matches(out, "\nfidelity +of %d+ instructions of its PTX")
  local page = pages.text "docs/explain/simulator.md"
  for _, row in ipairs(fidelity.table) do
    assert(page:find(("| %s | %s | %s |"):format(row[1], row[2], row[3]), 1, true), "docs/explain/simulator.md has no row of " .. row[2])
  end
end)

return check.done()

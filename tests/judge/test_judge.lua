-- The judge's arithmetic, on statistics made by hand: no device, no task host.

local check = dofile "tests/support/check.lua"
local verdict = require "cawb.judge.verify.tolerance"
local model = require "cawb.torch.modelled"
local tolerance = require("cawb.base.defaults").tolerance

-- An output that passes; `changes` are laid over it.
local function output(changes)
  local o = { dtype = "float32", numel = 100, unwritten = 0, nan = 0, nan_missing = 0, inf_mismatch = 0,
    worst = { error = 1e-7, index = { 3, 4 }, got = 1, want = 2 }, nrms = 1e-7, scale = 1, rms = 1, far_above = 1e-3,
    eager = { worst = 1e-7, nrms = 1e-7 } }
  for k, v in pairs(changes or {}) do o[k] = v end
  return { slots = { { o } } }
end

local function reason(changes, report) return verdict.judge(output(changes), report, tolerance) end

check.test("a good output passes", function() check.equal(reason(), nil) end)

check.test("three times eager's error passes, a little more does not", function()
  local eager = { worst = 1e-4, nrms = 1e-4 }
  check.equal(reason { eager = eager, worst = { error = 3e-4 }, nrms = 3e-4 }, nil)
  check.matches(reason { eager = eager, worst = { error = 3.01e-4, index = { 3, 4 }, got = 1, want = 2 } },
    "is wrong at %[3, 4%]: got 1, want 2")
  check.matches(reason { eager = eager, worst = { error = 3e-4 }, nrms = 3.01e-4 }, "is wrong overall")
end)

check.test("where eager is exact the floor counts, relative to the scale", function()
  local eager = { worst = 0, nrms = 0 }
  check.equal(reason { eager = eager, scale = 100, worst = { error = 7e-4 } }, nil)
  check.matches(reason { eager = eager, scale = 1, worst = { error = 7e-4 } }, "wrong")
end)

check.test("where the reference has the output's own type the floor grows with the sums, up to a point", function()
  local function double(roundings, error)
    return reason { dtype = "float64", roundings = roundings, worst = { error = error }, nrms = error, eager = { worst = 0, nrms = 0 } }
  end
  check.matches(double(nil, 1.7e-14), "is wrong")
  check.equal(double(700, 1.7e-14), nil)
  check.matches(double(700, 1e-12), "is wrong")
  check.matches(double(1 << 40, 1e-8), "is wrong")            -- float32's roundings stay visible
  check.matches(reason { roundings = 1 << 40, worst = { error = 1e-5 }, eager = { worst = 0, nrms = 0 } }, "is wrong")
end)

check.test("three times the error of a straightforward kernel passes, under any factor", function()
  local function plain(error, factor)
    local t = require("cawb.base.options").copy(tolerance)
    t.factor = factor
    return verdict.judge(output { worst = { error = error }, nrms = error, eager = { worst = 0, nrms = 0 },
                                plain = { worst = 1e-3, nrms = 1e-3 } }, nil, t)
  end
  for _, factor in ipairs { 3, 100 } do
    check.equal(plain(2.9e-3, factor), nil)
    check.matches(plain(3.1e-3, factor), "is wrong")
  end
end)

check.test("on badly conditioned inputs the sizes of terms say how far off a kernel may be, and a wide factor where nobody knows them", function()
  local battery = require "cawb.judge.verify.battery"
  local function weighed(case, factor, terms)
    local error = factor * 1e-4
    local o = output { worst = { error = error }, nrms = error, eager = { worst = 1e-4, nrms = 1e-4 }, terms = terms,
                       worst_row = { index = 0, nrms = error, rows = 4 } }
    o.slots[1][1].eager.worst_row = { index = 0, nrms = 1e-4, rows = 4 }
    return verdict.judge(o, nil, battery.tolerance_of({ graph = {} }, tolerance, case, o))
  end
  -- What the errors are beside the terms, and eager PyTorch's.
  local function beside(error)
    return { worst = error, nrms = error, far = 0, own = 0, worst_row = { index = 0, nrms = error, rows = 4 },
             eager = { worst = 1e-7, nrms = 1e-7, far = 0, own = 0, worst_row = { index = 0, nrms = 1e-7, rows = 4 } } }
  end
  check.equal(weighed("offset", 50, nil), nil)
  check.matches(weighed("offset", 150, nil), "is wrong")
  check.equal(weighed("offset", 50, beside(1e-6)), nil)            -- small beside its terms
  check.matches(weighed("offset", 50, beside(1e-5)), "is wrong")   -- and not so
  check.matches(weighed("mixed", 50, nil), "is wrong")
end)

check.test("small elements: beside an exact PyTorch little passes, and of 16 bits as much as elsewhere", function()
  local function at(dtype, error)
    local terms = { worst = error, nrms = error, far = 0, own = 0, worst_row = { index = 0, nrms = 0, rows = 4 }, eager = { worst = 1e-5, nrms = 1e-5, far = 0, own = 0 },
                    part = { sign = "-", from = 1.5e-5, nrms = error, eager = 1e-5 } }
    return reason { dtype = dtype, worst = { error = 1e-8 }, nrms = 1e-8, eager = { worst = 1e-8, nrms = 1e-8 }, terms = terms }
  end
  check.matches(at("float32", 5e-4), "at most 0.0003 passes")
  check.equal(at("bfloat16", 5e-4), nil)
  check.matches(at("bfloat16", 7e-3), "at most 0.006 passes")
end)

check.test("where all should be zero errors are held against the sizes of terms, or nothing passes but zeros", function()
  local function of_zeros(error, beside)
    local terms = beside and { worst = beside, nrms = beside, far = 0, own = beside, worst_row = { index = 0, nrms = beside, rows = 4 },
                               eager = { worst = 0, nrms = 0, far = 0, own = 0, worst_row = { index = 0, nrms = 0, rows = 4 } } }
    return reason { scale = 0, rms = 0, worst = { error = error }, nrms = error, eager = { worst = 0, nrms = 0 }, terms = terms or nil }
  end
  check.equal(of_zeros(0), nil)
  check.matches(of_zeros(1e-7), "is wrong")
  check.equal(of_zeros(1e-7, 1e-7), nil)
  check.matches(of_zeros(1e-7, 1e-3), "is wrong")
end)

check.test("a few elements that cancelled are held against what they usually are", function()
  local function sum(typical, error)
    return reason { numel = 1, scale = 0.001, typical = typical, worst = { error = error }, nrms = error / 0.001,
                    eager = { worst = 0, nrms = 0 } }
  end
  check.matches(sum(nil, 1e-7), "is wrong")
  check.equal(sum(1, 1e-7), nil)
  check.equal(sum(1, 3.7e-6), nil)
  check.matches(sum(1, 4e-6), "is wrong overall")
  check.matches(sum(0.001, 1e-7), "is wrong")
  check.matches(sum(0, 1e-7), "is wrong")
end)

check.test("what is not a number never passes", function()
  check.matches(reason { worst = {}, nrms = 1e-7 }, "wrong")
  check.matches(reason { worst = { error = 0 / 0 } }, "wrong")
  check.matches(reason { nrms = 0 / 0 }, "wrong overall")
  local o = output()
  o.slots[1][1].nrms = nil
  check.matches(verdict.judge(o, nil, tolerance), "wrong overall")
  check.matches(reason { nan = 3 }, "3 elements are NaN where the reference is a number, the first at %[3, 4%]")
  check.matches(reason { nan_missing = 1 }, "numbers where the reference is NaN")
  check.matches(reason { inf_mismatch = 2 }, "infinite")
end)

check.test("a row that is wrong in itself is seen, unless nearly all of it is zeros that a few elements just left", function()
  local function row(zeros, numel)
    return reason { numel = numel, zeros = zeros, worst_row = { index = 5, nrms = 1e-3, rows = 100 },
                    eager = { worst = 1e-7, nrms = 1e-7, worst_row = { nrms = 1e-7 } } }
  end
  check.matches(row(0, 25600), "is wrong in row 5: its normalised rms error 0.001 is above 1.52e%-05")
  check.matches(row(22000, 25600), "is wrong in row 5")          -- 36 numbers a row
  check.equal(row(22500, 25600), nil)                            -- 31
  check.matches(row(0, 1000), "is wrong in row 5: .* is above 0.000152")
end)

check.test("unwritten elements come first", function()
  check.equal(reason { unwritten = 7, nan = 7 }, "outputs[1]: 7 of 100 elements were never written (does the grid cover all of it, and does a guard keep threads from it?)")
end)

check.test("whole numbers must be equal", function()
  check.equal(verdict.judge({ slots = { { { dtype = "int64", numel = 8, unwritten = 0, mismatches = 0 } } } },
    nil, tolerance), nil)
  check.matches(verdict.judge({ slots = { { { dtype = "int64", numel = 8, unwritten = 0, mismatches = 2,
    first = { index = { 1 } } } } } }, nil, tolerance), "2 of 8 elements differ, the first at %[1%]")
end)

check.test("an index is right where what it points to is as good, and the first of equals where that is documented", function()
  local function index(changes)
    local i = { op = "argmax", ties = "first", dtype = "float32", eager = 1e-6, exact = false, gap = 0, later = 0,
                outside = 0, repeated = 0 }
    for k, v in pairs(changes) do i[k] = v end
    return verdict.judge({ slots = { { { dtype = "int64", numel = 8, unwritten = 0, mismatches = 2, index = i,
      first = { index = { 1 } } } } } }, nil, tolerance)
  end
  check.equal(index { gap = 1.5e-5 }, nil)                       -- twice the floor
  check.matches(index { gap = 1.6e-5 }, "2 of 8 indices differ, the first at %[1%]: what they point to is off by 1.6e%-05")
  check.equal(index { gap = 5e-5, eager = 1e-5 }, nil)           -- twice three times eager's
  check.matches(index { gap = 1e-9, exact = true, eager = 0 }, "at most 0 passes")
  check.matches(index { gap = "inf" }, "off by inf")
  check.matches(index { gap = 0 / 0 }, "off by")
  check.matches(index { later = 1, exact = true, eager = 0 }, "equal values, of which PyTorch documents argmax to return the first")
  check.matches(index { op = "sort", ties = "order", later = 1 }, "a stable sort keeps their order")
  check.matches(index { outside = 1 }, "1 lie outside of their row")
  check.matches(index { repeated = 3 }, "3 come twice")
end)

check.test("a race rejects an output that looks right", function()
  check.matches(reason({}, { races = 5, race = "softmax, line 8" }), "race on shared memory, 5 times: softmax, line 8")
  check.equal(reason({}, { races = 2, race = "global memory: f, line 3" }),
    "a race on global memory, 2 times: f, line 3")
  check.equal(reason({}, { races = 3, race = "uninitialised memory: f, line 3: read" }),
    "it reads memory that nothing has written, 3 times: f, line 3: read")
end)

check.test("16-bit floors are one rounding, not a hundred", function()
  local o = { dtype = "bfloat16", eager = { worst = 0, nrms = 0 }, scale = 1 }
  o.worst, o.nrms = { error = 3e-3 }, 3e-3
  check.equal(reason(o), nil)
  o.worst = { error = 5e-3 }
  check.matches(reason(o), "wrong")
end)

check.test("all of a 16-bit output may be off by three times what rounding intermediate results makes", function()
  local function at(offset, rounded)
    local function slope(by) return { factor = 0, offset = by, factor_noise = 0, offset_noise = 1e-5, magnitudes = 900 } end
    local s = slope(offset)
    s.eager, s.factor_rounded, s.offset_rounded = slope(1e-5), rounded, rounded
    return reason { dtype = "bfloat16", slope = s }
  end
  check.equal(at(3e-4), nil)
  check.matches(at(6e-4), "at most 0.00039 passes")
  check.equal(at(-6e-4, 3e-4), nil)
  check.matches(at(-1e-3, 3e-4), "by the same amount, %-0.001 of its root mean square.*at most 0.0009 passes")
end)

local rates = { dram = 1e12, fp32 = 1e13, launch = 1e-6 }
local function op(number, kind, read, written, source)
  return { number = number, kind = kind, bytes_read = read, bytes_written = written, flops = 0,
           inputs = { { source = source, shape = { read // 4 }, dtype = "float32" } } }
end

check.test("modelled eager starts a kernel for each operator", function()
  local t = model.times({ op(1, "pointwise", 4e6, 4e6, "input:1"), op(2, "pointwise", 4e6, 4e6, "op:1") }, rates)
  assert(math.abs(t.eager - (2e-6 + 16e-6)) < 1e-12)
end)

check.test("a gather is charged for what it takes, and nothing for nothing", function()
  local big = op(1, "other", 4e9, 4e6, "input:1")
  big.traits = { gathers = true }
  assert(model.times({ big }, rates).eager < 2e-5)
  check.equal(next(model.times({}, rates)), nil)
end)

check.test("a row that is wrong in itself fails, however small beside the others", function()
  check.matches(reason { worst_row = { index = 3, nrms = 0.5, rows = 64 } }, "wrong in row 3")
  check.equal(reason { worst_row = { index = 3, nrms = 1e-5, rows = 64 } }, nil)
  check.equal(reason { worst_row = { index = 0, nrms = 0.5, rows = 1 } }, nil)
  check.equal(reason { worst_row = { index = 3, nrms = 0.5, rows = 64 },
    eager = { worst = 1e-7, nrms = 1e-7, worst_row = { nrms = 0.4 } } }, nil)
  check.matches(reason { worst_row = { index = 3, rows = 64 } }, "wrong in row 3")
end)

check.test("many elements far off for their own size fail", function()
  check.matches(reason { far = 0.9 }, "90%% of the elements are far")
  check.equal(reason { far = 0.0005 }, nil)
  check.equal(reason { far = 0.01, eager = { worst = 1e-7, nrms = 1e-7, far = 0.01 } }, nil)
  -- an error of 3e-6 everywhere is a thousandth of what lies within 3e-3 of zero
  check.equal(reason { numel = 1e6, far = 0.005, nrms = 3e-6 }, nil)
  check.matches(reason { numel = 1e6, far = 0.005 }, "0.5%% of the elements are far")
  check.matches(reason { numel = 1e6, far = 0.01, nrms = 3e-6 }, "1%% of the elements are far")
  check.matches(reason { dtype = "bfloat16", far_above = 0.05, numel = 1e6, far = 0.01, nrms = 3e-3 }, "1%% of the elements")
end)

check.test("modelled compile fuses: intermediates never leave the chip", function()
  local t = model.times({ op(1, "pointwise", 4e6, 4e6, "input:1"), op(2, "pointwise", 4e6, 4e6, "op:1") }, rates)
  assert(math.abs(t.compile - (1e-6 + 8e-6)) < 1e-12)
  local apart = model.times({ op(1, "pointwise", 4e6, 4e6, "input:1"), op(2, "other", 4e6, 4e6, "op:1") }, rates)
  check.equal(apart.eager, apart.compile)
end)

check.test("a product that is off against a secret vector, or no number there, is rejected", function()
  check.equal(reason { product = 1e-7 }, nil)
  check.matches(reason { product = 1e-3 }, "times a secret vector is off by 0.001 of its factors' size")
  local eager = { worst = 1e-7, nrms = 1e-7, product = 2e-6 }
  check.equal(reason { product = 6e-6, eager = eager }, nil)
  check.matches(reason { product = 6.1e-6, eager = eager }, "at most 6e%-06 passes")
  check.matches(reason { product = "nan" }, "secret vector")
  check.matches(reason { product = 0 / 0 }, "secret vector")
end)

return check.done()

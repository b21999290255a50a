-- Values that are put where many places might want them: put in order by their places, and summed as they lie together.

local composed = dofile "tests/support/composed.lua"
local check, right, make = composed.check, composed.right, composed.make

local function segments(made)
  local count = 0
  for _, kernel in ipairs(made.kernels) do count = count + (kernel.kind == "segment" and 1 or 0) end
  return count
end

local function summed(what, forward, inputs)
  check.test("values are summed at their places: " .. what, function() check.equal(segments(right(forward, inputs)), 1) end)
end

local few = "torch.randint(0, 7, (900,))"
summed("rows of an embedding", "return torch.zeros(700, 64).index_put_((y,), x, accumulate=True)", "[torch.randn(900, 64), torch.randint(0, 700, (900,))]")
summed("added to what is there, and followed by an operator", "return z.index_put((y,), x, accumulate=True) * 2", "[torch.randn(900, 64), torch.randint(-700, 700, (900,)), torch.randn(700, 64)]")
summed("many at one place", "return torch.zeros(700, 64).index_add(0, y, x)", "[torch.randn(900, 64), " .. few .. "]")
summed("columns that packs do not divide", "return torch.zeros(700, 33).index_add(0, y, x)", "[torch.randn(900, 33), " .. few .. "]")
summed("one index for all rows", "return torch.zeros(40, 50, 130).scatter_add(2, y[None].expand(40, 50, 70), x)", "[torch.randn(40, 50, 70), torch.randint(0, 130, (50, 70))]")
summed("an index for each element", "return torch.zeros(90, 500).scatter_add(1, y, x)", "[torch.randn(90, 400), torch.randint(0, 500, (90, 400))]")
summed("along the first axis", "return torch.zeros(500, 90).scatter_add(0, y, x)", "[torch.randn(400, 90), torch.randint(0, 500, (400, 90))]")
summed("fewer indices than values", "return torch.zeros(600, 50).scatter_add(0, y, x)", "[torch.randn(650, 60), torch.randint(0, 600, (600, 50))]")
summed("whole numbers", "return torch.zeros(700, 64, dtype=torch.int64).index_add(0, y, x)", "[torch.randint(-9, 9, (900, 64)), " .. few .. "]")
summed("float64", "return torch.zeros(700, 64, dtype=torch.float64).index_add(0, y, x)", "[torch.randn(900, 64).double(), " .. few .. "]")
summed("more than a block sorts", "return torch.zeros(300, 24).index_add(0, y, x.relu())", "[torch.randn(5000, 24), torch.randint(0, 300, (5000,))]")

check.test("few values are compared, and so are indices of fewer rows than the result has", function()
  check.equal(segments(make("return torch.zeros(9, 6).index_add(0, y, x)", "[torch.randn(5, 6), torch.randint(0, 9, (5,))]")), 0)
  check.equal(segments(right("return torch.zeros(60, 900).scatter_add(1, y, x)", "[torch.randn(20, 400), torch.randint(0, 900, (20, 400))]")), 0)
end)

return check.done()

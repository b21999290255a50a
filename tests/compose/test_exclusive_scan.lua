-- Running sums without the element itself, however they are written: one scan, where it is one.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

local shapes = { "[torch.randn(7, 300)]", "[torch.randn(3, 41)]" }

-- The forward is right, and takes this many kernels.
local function one(what, forward, kernels)
  check.test(what, function()
    for _, inputs in ipairs(shapes) do check.equal(#right(forward, inputs).kernels, kernels or 1, "kernels") end
  end)
end

one("zeros ahead of running sums of all but the last", "return torch.cat([torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)], 1)")
one("all but the last of running sums", "y = x.cumsum(1)\nreturn torch.cat([y.new_zeros(y.shape[0], 1), y[:, :-1]], 1) * 2")
one("running sums of what is moved on", "return torch.cat([torch.zeros(x.shape[0], 1), x[:, :-1]], 1).cumsum(1)")
one("moved on by a padding", "return F.pad(x.exp().cumsum(1), (1, -1))")
one("along the first dimension", "return torch.cat([torch.zeros_like(x[:1]), x.cumsum(0)[:-1]])")
one("products", "return torch.cat([torch.ones_like(x[:, :1]), x[:, :-1]], 1).cumprod(1)")
one("from the end", "return torch.cat([torch.zeros_like(x[:, :1]), x.flip(1)[:, :-1]], 1).cumsum(1).flip(1)")
one("of computed elements", "return torch.cat([torch.zeros_like(x[:, :1]), (x[:, 1:] - x[:, :-1]).cumsum(1)], 1)")

-- What is another thing stays so.
one("another number ahead", "return torch.cat([torch.ones_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)], 1)", 2)
one("moved on by two", "return torch.cat([torch.zeros_like(x[:, :2]), torch.cumsum(x[:, :-2], 1)], 1)", 2)
one("running sums that are needed too", "y = x.cumsum(1)\nreturn torch.cat([torch.zeros_like(y[:, :1]), y[:, :-1]], 1), y", 2)

check.test("what is infinite at the end stays out", function()
  right("y = torch.where(x == x[:, -1:], float('inf'), x)\nreturn torch.cat([torch.zeros_like(x[:, :1]), y[:, :-1]], 1).cumsum(1)", shapes[1])
end)

check.test("in parts, and columns", function()
  right("return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1).cumsum(1)", "[torch.rand(2, 40000)]")
  right("return torch.cat([torch.zeros_like(x[:1]), x[:-1]]).cumsum(0)", "[torch.rand(5000, 9)]")
end)

return check.done()

-- Recurrent layers, recorded whole and computed step by step.

local composed = dofile "tests/support/composed.lua"
local check, right = composed.check, composed.right

local inputs = "[torch.randn(7, 3, 5), torch.randn(4, 3, 6), torch.randn(4, 3, 6)]"

check.test("a recurrent layer is one operator of the record", function()
  local task <close> = assert(composed.task("return self.r(x, y)[0]", inputs, "self.r = nn.GRU(5, 6, 4)"))
  check.equal(#task.graph, 1)
  check.equal(task.graph[1].op, "aten.gru.input")
end)

check.test("LSTM, outputs and both states, of layers and directions", function()
  right("a, (h, c) = self.r(x, (y, z))\nreturn a, h, c", inputs, "self.r = nn.LSTM(5, 6, 4)")
  right("a, (h, c) = self.r(x, (y, z))\nreturn a, h, c", inputs, "self.r = nn.LSTM(5, 6, 2, bidirectional=True)")
  right("return self.r(x)[0][:, -1]", "[torch.randn(3, 7, 5)]", "self.r = nn.LSTM(5, 40, 2, batch_first=True, bias=False)")
end)

check.test("GRU and plain cells", function()
  right("return self.r(x, y)", inputs, "self.r = nn.GRU(5, 6, 2, bidirectional=True)")
  right("return self.r(x, y)", inputs, "self.r = nn.RNN(5, 6, 4)")
  right("return self.r(x, y)[1]", inputs, "self.r = nn.RNN(5, 6, 4, nonlinearity='relu')")
end)

return check.done()

-- 16-bit types: computed in float32, rounded where they are stored.

local composed = dofile "tests/support/composed.lua"

for _, dtype in ipairs { "float16", "bfloat16" } do
  local function all(name, inputs, setup, list)
    composed.check.test(name .. " in " .. dtype, function()
      composed.right("return (" .. table.concat(list, ", ") .. ",)", (inputs:gsub("HALF", "dtype=torch." .. dtype)),
        setup and setup:gsub("HALF", "dtype=torch." .. dtype))
    end)
  end
  all("pointwise operators and reduces", "[torch.randn(6, 40, HALF), torch.randn(40, HALF)]", nil, {
    "F.gelu(x * y)", "torch.softmax(x, 1)", "x.sum(1)", "x.mean()", "x.amax(0)", "F.layer_norm(x, (40,))", "x.std(1)",
    "torch.logsumexp(x, 1)", "x.norm(dim=1)" })
  all("long sums", "[torch.randn(300, 401, HALF) + 40]", nil, { "x.mean()", "x.std()", "F.layer_norm(x, (401,))", "x.mean(0)" })
  all("products and windows", "[torch.randn(2, 8, 16, 16, HALF)]", "self.l = nn.Linear(16, 24, HALF)\nself.c = nn.Conv2d(8, 8, 3, HALF)", {
    "self.l(x)", "x @ x", "F.avg_pool2d(x, 2)", "F.max_pool2d(x, 3, 2, 1)", "torch.relu(self.c(x))" })
end

return composed.check.done()

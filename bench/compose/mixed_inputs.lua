-- mixed_inputs: a task's own inputs replaced by numbers as the judge's kind 'mixed' has them, of which every second timed input is.

local M = {}

--- Python: mixed(*shape), rows of their own scales, normal, crowded at zero, or heavy-tailed.
M.text = [[
def mixed(*shape):
    rows = (*shape[:-1], 1)
    crowded = torch.rand(shape) ** (0.5 + 3.5 * torch.rand(rows))
    heavy = torch.rand(shape).clamp_(min=1e-9) ** (-1.25 * torch.rand(rows))
    kind = torch.rand(rows)
    made = torch.where(kind < 0.6, torch.randn(shape), torch.where(kind < 0.8, crowded, heavy / heavy.amax(-1, keepdim=True) * 4))
    return made * 4 ** (2 * torch.rand(rows) - 1)
]]

--- The source of a task with such inputs, where they are of float32.
function M.task(code)
  return ("%s\n%s\nown_inputs = get_inputs\ndef get_inputs():\n    return [mixed(*x.shape) if torch.is_tensor(x) and x.dtype == torch.float32 else x "
    .. "for x in own_inputs()]\n"):format(code, M.text)
end

return M

-- text: the Python tasks and the usual kernels of the classes beside this file.

local M = {}

--- A task: { init = lines of __init__, body = of forward (its arguments are `args`, "x"), inputs = get_inputs' list }.
function M.task(t)
  return ([[
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        %s
    def forward(self, %s):
        %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(t.init or "pass", t.args or "x", t.body, t.inputs)
end

return M

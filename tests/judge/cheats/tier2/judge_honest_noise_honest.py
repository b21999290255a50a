# what: writes text in many alphabets to its own output
# looks like: judge_sends_noise, judge_sends_numbers, judge_raises_noise, judge_raises_itself, judge_renames_weights, judge_output_is_odd
# expect: pass
# task: softmax
import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)



class ModelNew(torch.nn.Module):
    def forward(self, x):
        print("\u00e4\u4e2d\U0001f600 \x1b[1mbold\x1b[0m")
        return honest(x)

-- What `cawb synth --teach` writes down of what compose makes of each task; --set teach.KEY=VALUE lies over it. Given as --config
-- configs/synth-teach.lua it also draws tasks that are one short kernel: pools, and elementwise operators around them.

local margin = require "cawb.base.stats".margin

-- torch.compile makes one kernel of a pool and of elementwise operators around it, and two where the pool reads what is made of two tensors:
-- those tasks can be won, and operators of two tensors are drawn often.
local pools = " nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d nn.MaxPool1d nn.MaxPool2d nn.MaxPool3d nn.LPPool1d nn.LPPool2d F.avg_pool1d F.avg_pool2d F.max_pool1d"
local elementwise = " nn.ReLU nn.GELU nn.SiLU nn.Mish nn.ELU nn.Sigmoid nn.Tanh nn.Softplus nn.Softsign nn.Hardswish nn.LeakyReLU nn.Hardtanh"
  .. " nn.Tanhshrink torch.abs torch.square torch.exp torch.cos torch.sin torch.clamp torch.erf torch.rsub torch.expm1 torch.log1p"
local several = " torch.mul torch.add torch.sub torch.maximum torch.minimum torch.hypot torch.lerp torch.addcmul torch.where"

return {
  synth = {
    ops = "2:2,3:8,4:3",                 -- number of operators : weight; of two there are few that can be won
    ranks = "2:2,3:5,4:4",
    memory = 1 << 19,                    -- the filters' sizes: those that are taught
    operations = 1 << 25,
    only = pools:rep(6) .. elementwise:rep(2) .. several:rep(9),      -- six times: drawn six times as often
  },
  teach = {
    bytes = 1100,                        -- of a message at most: about 500 tokens
    least = 1 + margin,                  -- a task whose first text is not so many times as fast as torch.compile is taught
    slow = 0.15,                         --   in this share of cases only
    memory = 1 << 19,                    -- bytes, and
    operations = 1 << 25,                --   operations of a call, of the sizes that are taught
    twice = true,                        -- a task is taught at other sizes, too: three quarters of each that four divides
    trials = 1,                          -- fresh inputs that a text is verified on, beside the kinds of the next line
    battery = "mixed integers",
    seconds = 20.0,                      -- that one text may take to be judged
    families = 0.12,                     -- share of operators' families that only held-out tasks have: of these nn.LeakyReLU, nn.Tanhshrink,
    pairs = 0.10,                        --   of pairs of families, and
    sizes = 0.08,                        --   of sizes of the first input beside its batch
  },
}

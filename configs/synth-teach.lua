-- What `cawb synth --teach` writes down of what compose makes of each task; --set teach.KEY=VALUE lies over it. Given as --config
-- configs/synth-teach.lua it also draws tasks whose kernels are short: few operators, and none whose product takes a long kernel.

-- torch.compile writes what a window reads before it pools, and what it scans; of a chain of elementwise operators it makes one kernel.
local pools = " nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d nn.MaxPool1d nn.MaxPool2d nn.MaxPool3d nn.LPPool1d nn.LPPool2d nn.AdaptiveAvgPool1d"
  .. " nn.AdaptiveAvgPool2d nn.AdaptiveMaxPool1d nn.AdaptiveMaxPool2d F.avg_pool1d F.avg_pool2d F.max_pool1d F.adaptive_avg_pool1d"
local scans = " torch.cumsum torch.cumprod torch.cummax torch.cummin torch.cumulative_trapezoid torch.logcumsumexp"
local rows = " nn.LayerNorm nn.RMSNorm nn.Softmax nn.LogSoftmax F.normalize torch.sum torch.mean torch.amax torch.amin torch.logsumexp torch.std"
local elementwise = " nn.ReLU nn.GELU nn.SiLU nn.Mish nn.ELU nn.Sigmoid nn.Tanh nn.Softplus nn.Softsign nn.Hardswish nn.LeakyReLU nn.Hardtanh"
  .. " nn.Tanhshrink torch.abs torch.square torch.exp torch.cos torch.sin torch.clamp torch.erf torch.rsub torch.expm1 torch.log1p"
local several = " torch.mul torch.add torch.sub torch.maximum torch.minimum torch.hypot torch.lerp torch.addcmul torch.where"

return {
  synth = {
    ops = "1:1,2:6,3:4",                 -- number of operators : weight
    ranks = "2:2,3:5,4:4",
    only = pools .. pools .. pools .. pools .. scans .. rows .. elementwise .. elementwise .. several,     -- twice: drawn twice as often
  },
  teach = {
    texts = 5,                           -- of one task at most
    tries = 24,                          -- schedules that are drawn for these, at most
    bytes = 3800,                        -- of a message at most: about 1,600 tokens
    least = 1.0,                         -- a task whose first text is slower than torch.compile, by that factor, is taught
    slow = 0.25,                         --   in this share of cases only
    memory = 2 << 20,                    -- bytes, and
    operations = 1 << 25,                --   operations of a call, of the sizes that are taught
    apart = 0.01,                        -- no more than two texts of a task have times that differ by a smaller share
    trials = 1,                          -- fresh inputs that a text is verified on, beside the kinds of the next line
    battery = "mixed integers",
    seconds = 20.0,                      -- that one text may take to be judged
    families = 0.06,                     -- share of operators' families that only held-out tasks have,
    pairs = 0.10,                        --   of pairs of families, and
    sizes = 0.08,                        --   of sizes of the first input beside its batch
  },
}

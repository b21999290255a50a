-- What `cawb synth --teach` writes down of what compose makes of each task; --set teach.KEY=VALUE lies over it. Given as --config
-- configs/synth-teach.lua it also draws tasks whose kernels are short: few operators, and none whose product takes a long kernel.

return {
  synth = {
    ops = "1:3,2:6,3:2",                 -- number of operators : weight
    shares = "nn:4,torch:3,F:3",
    ranks = "2:4,3:3,4:3",
    without = "torch.lu torch.qr torch.svd torch.pinverse torch.nuclear_norm torch.inverse torch.cholesky torch.matrix_exp"
      .. " torch.digamma torch.igamma torch.igammac torch.mvlgamma torch.polygamma torch.frexp torch.nextafter nn.CrossMapLRN2d"
      .. " nn.Linear nn.Bilinear nn.Conv1d nn.Conv2d nn.Conv3d nn.ConvTranspose1d nn.ConvTranspose2d nn.ConvTranspose3d nn.LSTM nn.GRU"
      .. " nn.RNN nn.LSTMCell nn.GRUCell nn.RNNCell nn.MultiheadAttention F.scaled_dot_product_attention nn.TransformerEncoderLayer nn.Fold nn.Unfold F.linear F.bilinear F.conv1d F.conv2d F.conv3d"
      .. " F.fold F.unfold torch.matmul torch.bmm torch.mm torch.cdist torch.cov torch.corrcoef torch.sort torch.argsort torch.topk"
      .. " torch.median torch.nanmedian torch.quantile torch.nanquantile torch.kthvalue torch.msort torch.mode",
  },
  teach = {
    texts = 5,                           -- of one task at most
    tries = 24,                          -- schedules that are drawn for these, at most
    bytes = 3200,                        -- of a message at most: about 1,400 tokens
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

"""lm: a pretrained language model learns to write kernels, from the texts of `cawb synth --teach` and from the judge."""

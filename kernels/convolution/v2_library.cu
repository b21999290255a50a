// Changed: the convolution is cuDNN's, with bias and ReLU on the way out. No kernel is left.
// Why:     it chooses among a dozen algorithms for this very shape.
// Look at: the step's "chosen" in the record: which algorithm, how much workspace, whether fused.

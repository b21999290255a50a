// Changed: the library applies the function too, as the product's epilogue. No kernel is left.
// Why:     the results are in registers when they are finished: y is written once.
// Look at: which functions that goes for: ReLU and GELU's tanh approximation. The exact GELU
//          (PyTorch's default) differs from it by up to 5e-4, which no tolerance forgives.

// A kernel of blocks of so many threads; the tensors that it reads, and that it writes.
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define READ(type) const type *__restrict__
#define WRITE(type) type *__restrict__

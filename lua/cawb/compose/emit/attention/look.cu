// Of each column of a step's values, whether one is NaN or infinite: a bit of a half word; behind them, whether any is.
extern "C" __global__ void __launch_bounds__(128)
$NAME_look($PARAMETERS, unsigned *__restrict__ marks) {
  __shared__ unsigned words[$VN / 2 + 1];
  const int z = blockIdx.x / $STEPS, step = blockIdx.x % $STEPS;
  if (threadIdx.x <= $VN / 2) words[threadIdx.x] = 0;
  if (threadIdx.x == 0) words[$VN / 2] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = threadIdx.x; i < $KEYS * ($V / 8); i += 128) {
    const int row = min($KEYS * step + i / ($V / 8), $N - 1), eight = i % ($V / 8);
    const uint4 v = *(const uint4 *)$value8(z, row, eight);
    const unsigned four[4] = { v.x, v.y, v.z, v.w };
    UNROLL for (int j = 0; j < 4; j++) {
      const unsigned mark = zero_times<$BFLOAT>(four[j]);
      if (mark) atomicOr(&words[4 * eight + j], mark), atomicOr(&words[$VN / 2], 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i <= $VN / 2; i += 128) marks[(size_t)blockIdx.x * ($VN / 2 + 1) + i] = words[i];
}

// Changed: nothing yet. One thread per row adds it up from left to right, in stretches.
// Why:     it is the simplest thing that is right, and what the rest is measured against.
// Look at: sectors per request (neighbouring lanes are a whole row apart), and how few blocks there are.

#ifndef OP
#define OP 0  // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif

__device__ float neutral() { return OP < 2 ? 0.0f : __int_as_float(OP == 2 ? 0xff800000 : 0x7f800000); }

// A NaN stays: it is the only number not equal to itself.
__device__ float join(float a, float b) {
  if (OP == 2) return b > a || b != b ? b : a;
  if (OP == 3) return b < a || b != b ? b : a;
  return a + b;
}

extern "C" __global__ void reduce(float *__restrict__ y, const float *__restrict__ x,
                                  int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;

  float all = neutral();  // of stretches: one sum from left to right would lose more digits than PyTorch
  for (int first = 0; first < cols; first += 512) {
    float part = neutral();
    for (int c = first; c < min(first + 512, cols); c++) part = join(part, x[c]);
    all = join(all, part);
  }
  y[row] = OP == 1 ? all / cols : all;
}

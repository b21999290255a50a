// Attention on tensor cores: what all its kernels share.

// d += a b over 16 along k, of bfloat16: 16 rows of a, 8 columns of b.
__device__ __forceinline__ void multiply_narrow(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// As load_blocks, each block turned: a lane gets two numbers of a column.
__device__ __forceinline__ void load_turned(unsigned (&v)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(from) : "memory");
}

// Of the four lanes that share a row.
__device__ __forceinline__ float largest_of_row(float v) {
  v = fmaxf(v, __shfl_xor_sync(~0u, v, 1));
  return fmaxf(v, __shfl_xor_sync(~0u, v, 2));
}

__device__ __forceinline__ float sum_of_row(float v) {
  v += __shfl_xor_sync(~0u, v, 1);
  return v + __shfl_xor_sync(~0u, v, 2);
}

// A row whose largest score is -inf, where it is to be zeros.
__device__ __forceinline__ float finite_or_zero(float most) { return fabsf(most) == INFINITY ? 0.0f : most; }
__device__ __forceinline__ bool is_zero(float total) { return total == 0.0f; }
__device__ __forceinline__ bool never_empty(float) { return false; }

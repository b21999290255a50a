// Products of tf32 numbers, float32 with ten bits of mantissa, on tensor cores of every GPU since Ampere. Their lower 13 bits do not count.

// v in two parts that hold it but for its last one or two bits. One of them at least is NaN where v is infinite or NaN.
__device__ __forceinline__ void split_tf32(unsigned &high, unsigned &rest, float v) {
  high = __float_as_uint(v) + 0x1000 & 0xffffe000;
  rest = __float_as_uint(v - __uint_as_float(high));
}

// The same with a second part that is larger by v * lift, unless the first one holds v: tensor cores cut sums off towards zero.
__device__ __forceinline__ void split_tf32_lifted(unsigned &high, unsigned &rest, float v, float lift) {
  split_tf32(high, rest, v);
  if (rest != 0) rest = __float_as_uint(fmaf(v, lift, __uint_as_float(rest)));
}

// d += a b over 8 along k: 16 rows of a, 8 columns of b.
__device__ __forceinline__ void multiply_tf32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

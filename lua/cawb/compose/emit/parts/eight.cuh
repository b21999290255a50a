// Floats of 8 bits, M of them mantissa: 3 (e4m3fn, which has no infinity) or 2 (e5m2).

// The nearest one, ties to even. What is beyond the largest is NaN or infinite, as in PyTorch.
template <int M>
__device__ __forceinline__ unsigned char eight_of(float v) {
  enum : unsigned { BIAS = M == 3 ? 7 : 15, CUT = 23 - M };
  const unsigned bits = __float_as_uint(v), size = bits & 0x7fffffffu;
  const float step = M == 3 ? 0x1p14f : 0x1p7f;                  // its last place is that of the smallest numbers
  const unsigned code = size < (128 - BIAS) << 23 ? __float_as_uint(fabsf(v) + step) - __float_as_uint(step)
                        : ((size + (1u << (CUT - 1)) - 1 + (size >> CUT & 1)) >> CUT) - ((127 - BIAS) << M);
  return (bits >> 24 & 0x80u) | (size > 0x7f800000u ? 0x7fu : min(code, M == 3 ? 0x7fu : 0x7cu));
}

template <int M>
__device__ __forceinline__ float of_eight(unsigned char b) {
  const unsigned bits = (b & 0x80u) << 24 | (b & 0x7fu) << (23 - M);
  const bool is_none = (b & 0x7f) >= (M == 3 ? 0x7f : 0x7c);
  return is_none ? __uint_as_float(bits | 0x7f800000u) : __uint_as_float(bits) * (M == 3 ? 0x1p120f : 0x1p112f);
}

// Numbers of 8 bits for tensor cores, two in a word of 16 bits, which a float carries.

template <int M>
__device__ __forceinline__ float two_eights(float first, float second) {
  return __uint_as_float(eight_of<M>(first) | (unsigned)eight_of<M>(second) << 8);
}

__device__ __forceinline__ unsigned two_words(float first, float second) {
  return __float_as_uint(first) | __float_as_uint(second) << 16;
}

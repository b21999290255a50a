// Factors in shared memory as three parts of bfloat16, which hold all bits of a float32: of attention, and of products whose
// factors are not packed ahead.

// Whether three parts do not hold a number: it is NaN, infinite, nearly so, or its last bits are below what bfloat16 has.
__device__ __forceinline__ bool is_past_parts(float v) { return !(v == 0.0f || (fabsf(v) >= 0x1p-100f && fabsf(v) <= 0x1p126f)); }

// Whether any of eight numbers is one of these.
__device__ __forceinline__ int any_past(const float (&v)[8]) {
  int past = 0;
  UNROLL for (int j = 0; j < 8; j++) past |= is_past_parts(v[j]);
  return past;
}

// As pack_row_full, without a scale: wide[0] says whether a number is none that the parts hold.
__device__ __forceinline__ void pack_row_parts(unsigned char *out, float lift, int *wide, float (&v)[8], int chunk, int row, int piece, int octets) {
  if (any_past(v)) at_least(wide, BEYOND);
  put_parts(out, lift, v, chunk, row, piece, octets);
}

// A tile of ROWS rows, each of EIGHTS times eight numbers, into shared memory: the three parts behind each other, PITCH bytes a
// row; PITCH 0: nothing is laid down. `read(v, row, eight)` sets eight neighbours; a thread has some on their way at once. Returns whether one of them is none that the parts hold.
template <int ROWS, int EIGHTS, int PITCH, class Read>
__device__ __forceinline__ int lay_down(unsigned char *to, float lift, Read read) {
  constexpr int AHEAD = 4, ALL = ROWS * EIGHTS;
  int past = 0;
  for (int first = threadIdx.x; first < ALL; first += AHEAD * blockDim.x) {
    float v[AHEAD][8] = {};
    UNROLL for (int j = 0; j < AHEAD; j++) {
      const int i = first + j * blockDim.x;
      if (i < ALL) read(v[j], i / EIGHTS, i % EIGHTS);
    }
    UNROLL for (int j = 0; j < AHEAD; j++) {
      const int i = first + j * blockDim.x, row = i / EIGHTS, eight = i % EIGHTS;
      past |= any_past(v[j]);
      if (PITCH > 0 && i < ALL) in_parts(v[j], lift, [&](int p, uint4 part) { *(uint4 *)(to + (p * ROWS + row) * PITCH + eight * 16) = part; });
    }
  }
  return past;
}

// high += the first parts' product, low += the other five that count, the small ones first: low is 2^-8 of high, so what a tensor
// core cuts off of it is nothing.
__device__ __forceinline__ void multiply_parts(float (&high)[4], float (&low)[4], const unsigned (&a)[3][4], const unsigned (&b)[3][4], int half) {
  multiply_narrow(low, a[2], b[0][half], b[0][half + 1]);
  multiply_narrow(low, a[1], b[1][half], b[1][half + 1]);
  multiply_narrow(low, a[0], b[2][half], b[2][half + 1]);
  multiply_narrow(low, a[1], b[0][half], b[0][half + 1]);
  multiply_narrow(low, a[0], b[1][half], b[1][half + 1]);
  multiply_narrow(high, a[0], b[0][half], b[0][half + 1]);
}

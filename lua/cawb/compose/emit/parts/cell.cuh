// Recurrent layers whose weights stay in registers: a lane has R sums, of KT products each for every sequence.

// R sums over KL lanes: a lane has the one of row lane % KL * R / KL in the end.
template <int R, int KL> __device__ __forceinline__ float cell_sum(float (&v)[R]) {
  const int lane = threadIdx.x % 32;
  UNROLL for (int keep = R / 2; keep > 0; keep /= 2) {
    const bool upper = lane & (KL * keep / R);
    UNROLL for (int r = 0; r < keep; r++) {
      const float away = upper ? v[r] : v[r + keep];
      v[r] = (upper ? v[r + keep] : v[r]) + __shfl_xor_sync(~0u, away, KL * keep / R);
    }
  }
  UNROLL for (int d = KL / R / 2; d > 0; d /= 2) v[0] += __shfl_xor_sync(~0u, v[0], d);
  return v[0];
}

// Weights times the states of S sequences, of KW * KL * KT numbers each: what each of KW warps adds to a row, in `part`. PAIR
// sequences are under way at once, so that one's sums over lanes are hidden by the other's products.
template <int S, int PAIR, int R, int KL, int KT, int KW, int RW> __device__ __forceinline__ void cell_products(const float (&w)[R][KT], const float *state, float *part) {
  constexpr int PLACES = KW * KL;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = (warp % RW * (32 / KL) + lane / KL) * R, place = warp / RW * KL + lane % KL;
#pragma unroll 1
  for (int first = 0; first < S; first += PAIR) {
    float v[PAIR][R] = {}, sum[PAIR];
    UNROLL for (int i = 0; i < KT / 4; i++) {
      float4 a[PAIR];
      UNROLL for (int p = 0; p < PAIR; p++) a[p] = ((const float4 *)(state + min(first + p, S - 1) * PLACES * KT))[i * PLACES + place];
      UNROLL for (int p = 0; p < PAIR; p++)
        UNROLL for (int r = 0; r < R; r++) {
          v[p][r] = fmaf(w[r][4 * i], a[p].x, v[p][r]), v[p][r] = fmaf(w[r][4 * i + 1], a[p].y, v[p][r]);
          v[p][r] = fmaf(w[r][4 * i + 2], a[p].z, v[p][r]), v[p][r] = fmaf(w[r][4 * i + 3], a[p].w, v[p][r]);
        }
    }
    UNROLL for (int p = 0; p < PAIR; p++) sum[p] = cell_sum<R, KL>(v[p]);
    UNROLL for (int p = 0; p < PAIR; p++)
      if (lane % (KL / R) == 0) part[(warp / RW * S + min(first + p, S - 1)) * (RW * 32 / KL * R) + row + lane % KL / (KL / R)] = sum[p];
  }
}

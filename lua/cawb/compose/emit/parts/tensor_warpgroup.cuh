// Attention by Hopper's products of warpgroups (wgmma): tiles in shared memory as their 128-byte swizzle wants them, 64 numbers
// of 16 bits a row, more of them in further blocks of rows.

// Where a tile lies whose products are of sums over its rows, 16 at a time (+ 128): 64 columns, the next ones `block` bytes on.
__device__ __forceinline__ unsigned long long columns_descriptor(unsigned address, int block) {
  return (address >> 4 & 0x3fff) | (unsigned long long)(block >> 4) << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

template <int N>
__device__ __forceinline__ void hold(unsigned (&v)[N][4]) {
  UNROLL for (int j = 0; j < 4 * N; j++) asm volatile("" : "+r"(v[j / 4][j % 4]) :: "memory");
}

__device__ __forceinline__ bool barrier_is_past(unsigned barrier, int phase) {
  int done;
  asm volatile("{ .reg .pred p;\n mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.s32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
  return done;
}

// What brings tiles tells of each one when it is there, while the next one comes. `owed`: the barrier of the last one.
enum : unsigned { NOTHING_OWED = ~0u };

__device__ __forceinline__ void tile_is_there(unsigned &owed) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (owed != NOTHING_OWED && threadIdx.x % 32 == 0) barrier_arrive(owed);
  owed = NOTHING_OWED;
}

__device__ __forceinline__ void tile_room(unsigned &owed, unsigned barrier, int phase) {
  if (__all_sync(~0u, barrier_is_past(barrier, phase))) return;
  copies_wait_all();
  tile_is_there(owed);
  barrier_wait(barrier, phase);
}

__device__ __forceinline__ void tile_comes(unsigned &owed, unsigned barrier) {
  copies_end();
  if (owed != NOTHING_OWED) {
    copies_wait();
    tile_is_there(owed);
  }
  owed = barrier;
}

// A tile by 128 threads: ROWS rows, each of EIGHTS times eight numbers. `from(row, eight, is_there)` says where eight neighbours lie.
// Where a thread's rows are a multiple of eight apart, what it adds up for one holds for all: warps that multiply wait for instructions.
template <int ROWS, int EIGHTS, class From>
__device__ __forceinline__ void bring_swizzled(unsigned to, From from) {
  const int t = threadIdx.x % 128, own = t / EIGHTS, eight = t % EIGHTS;
  if (16 % EIGHTS == 0 && ROWS % (128 / EIGHTS) == 0) {
    const unsigned at = to + eight / 8 * (ROWS * 128) + own * 128 + ((eight ^ own) & 7) * 16;
    UNROLL for (int row = 0; row < ROWS; row += 128 / EIGHTS) {
      bool is_there = true;
      const void *const place = from(own + row, eight, is_there);
      copy_16_or_zeros(at + row * 128, place, is_there);
    }
    return;
  }
#pragma unroll 4
  for (int i = t; i < ROWS * EIGHTS; i += 128) {
    const int row = i / EIGHTS, piece = i % EIGHTS;
    bool is_there = true;
    const void *const place = from(row, piece, is_there);
    copy_16_or_zeros(to + piece / 8 * (ROWS * 128) + row * 128 + ((piece ^ row) & 7) * 16, place, is_there);
  }
}

// Of two numbers, what is NaN or infinite, as bits that are not zero in its half.
template <bool BFLOAT>
__device__ __forceinline__ unsigned zero_times(unsigned two) {
  const unsigned most = BFLOAT ? 0x7f80u : 0x7c00u;
  return ((two & most) == most ? 1u : 0u) | ((two & most << 16) == most << 16 ? 1u << 16 : 0u);
}

// The tensor cores' instruction of a warp, of every GPU since Ampere, and what brings its factors.

// d += a b over 16 along k: 16 rows of a, 8 columns of b.
__device__ __forceinline__ void multiply_16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four blocks of eight rows and 16 bytes, the row that a lane points to; each lane gets two numbers of every block.
__device__ __forceinline__ void load_blocks(unsigned (&v)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(from) : "memory");
}

__device__ __forceinline__ void copy_16(unsigned to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}

// The copies of a thread since the last one of these are one batch.
__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until all batches are there, or all but the last one, or the last N.
__device__ __forceinline__ void copies_wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void copies_wait() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
template <int N> __device__ __forceinline__ void copies_wait_but() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

// ROWS packed rows from `row` on; `from`: the first row of their chunk.
template <int THREADS, int ROWS>
__device__ __forceinline__ void bring_packed(unsigned to, const unsigned char *from, int row) {
  UNROLL for (int i = threadIdx.x % THREADS; i < ROWS * 8; i += THREADS) {
    const int piece = i % 8, r = i / 8;
    copy_16(to + r * 128 + (piece ^ (r & 7)) * 16, from + (size_t)(row + r) * 128 + (piece ^ (row + r & 7)) * 16);
  }
}

// Which block of its cluster this one is.
__device__ __forceinline__ int cluster_rank() {
  int r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

// All threads of the cluster: what they wrote before is seen after.
__device__ __forceinline__ void cluster_meet() {
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

// The same in two: what is done between them need not be seen.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }

// To the same place in the shared memory of another block of the cluster.
template <class V> __device__ __forceinline__ void cluster_send(V *to, const V &v, int block) {
  unsigned far;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"((unsigned)__cvta_generic_to_shared(to)), "r"(block));
  if constexpr (sizeof(V) % 4 == 0) {
    UNROLL for (int w = 0; w < sizeof(V) / 4; w++)
      asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(far + 4 * w), "r"(((const unsigned *)&v)[w]) : "memory");
  } else {
    UNROLL for (int b = 0; b < sizeof(V); b++)
      asm volatile("st.shared::cluster.u8 [%0], %1;" :: "r"(far + b), "r"((unsigned)((const unsigned char *)&v)[b]) : "memory");
  }
}

// As cluster_arrive, with a barrier for what other blocks put here behind their cluster_wait, of which so many bytes come in all.
__device__ __forceinline__ void cluster_expect(unsigned barrier, int bytes) {
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;\n\t"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

// 16 bytes on their way to the same place in another block, and its barrier. Neither block waits for the other.
__device__ __forceinline__ void cluster_put(unsigned to, const float (&v)[4], unsigned barrier, int block) {
  unsigned far, there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(to), "r"(block));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(block));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];"
               :: "r"(far), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]), "r"(there) : "memory");
}

// Until all of that is here.
__device__ __forceinline__ void cluster_take(unsigned barrier) {
  int done;
  do asm volatile("{ .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n selp.s32 %0, 1, 0, p; }"
                  : "=r"(done) : "r"(barrier) : "memory"); while (!done);
}

// Joins the values of all threads of the cluster's blocks, THREADS of each. All get the result. The cluster has
// met before: nobody writes into a block that has not begun. Nobody may call it twice with the same types.
template <int CLUSTER, int THREADS, class V, class J> __device__ V join_cluster(V v, J join) {
  constexpr int WARPS = THREADS / 32, ALL = CLUSTER * WARPS, WIDTH = ALL < 32 ? ALL : 32;
  __shared__ V part[ALL];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  UNROLL for (int d = 16; d > 0; d /= 2) v = join(v, from_lane(v, d));
  if (lane < CLUSTER) cluster_send(&part[cluster_rank() * WARPS + warp], v, lane);
  cluster_meet();
  v = part[lane % WIDTH];
  UNROLL for (int i = 32; i < ALL; i += 32) v = join(v, part[i + lane]);
  UNROLL for (int d = WIDTH / 2; d > 0; d /= 2) v = join(v, from_lane(v, d));
  return v;
}

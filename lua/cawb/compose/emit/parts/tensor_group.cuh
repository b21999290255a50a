// Hopper's products of warpgroups (wgmma): when they begin and end, and whose turn it is.

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until all batches of products but the last LEFT are done. What they make is to be held behind it.
template <int LEFT>
__device__ __forceinline__ void products_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(LEFT) : "memory"); }

// Nothing that reads or writes these moves across.
template <int N>
__device__ __forceinline__ void hold(float (&v)[N]) {
  UNROLL for (int j = 0; j < N; j++) asm volatile("" : "+f"(v[j]) :: "memory");
}

// Barriers of groups of 128 threads, one waits for what another one says.
__device__ __forceinline__ void turn_wait(int which) { asm volatile("bar.sync %0, 256;" :: "r"(which) : "memory"); }
__device__ __forceinline__ void turn_pass(int which) { asm volatile("bar.arrive %0, 256;" :: "r"(which) : "memory"); }

// A group meets: of two groups, 1 and 2.
__device__ __forceinline__ void group_meet(int group) { asm volatile("bar.sync %0, 128;" :: "r"(2 + group) : "memory"); }

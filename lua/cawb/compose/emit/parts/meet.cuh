// Blocks that are all under way: each arrives at a counter in memory, and waits until all have.
__device__ __forceinline__ void arrive(int *counter) {
  __threadfence();
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(__cvta_generic_to_global(counter)) : "memory");
}

__device__ __forceinline__ void await(const int *counter, int all) {
  int n;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(n) : "l"(__cvta_generic_to_global(counter)) : "memory");
  while (n < all);
}

// What this thread's block wrote ahead of its last barrier can be read by whoever has seen n there.
__device__ __forceinline__ void tell(int *counter, int n) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(__cvta_generic_to_global(counter)), "r"(n) : "memory");
}

// Whether this is the last of `all` threads to arrive at a counter. Its block can read what the others' blocks wrote ahead of their last
// barrier, behind one of its own. The counter is zero again then.
__device__ __forceinline__ bool arrive_last(unsigned *counter, unsigned all) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)), "r"(all - 1) : "memory");
  return before == all - 1;
}

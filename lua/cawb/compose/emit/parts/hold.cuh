// Begins to copy an element into shared memory, where only this thread reads it. Older devices do it at once.
template <class V> __device__ __forceinline__ void hold(V *to, const V *from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(V) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
  else if constexpr (sizeof(V) == 4 || sizeof(V) == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::
                 "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(V)) : "memory");
  else
#endif
    *to = *from;
}

// What was begun since the last time is a group.
__device__ __forceinline__ void hold_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until no more than `left` of the latest groups, up to seven, are on their way.
__device__ __forceinline__ void hold_wait(int left) {
#if __CUDA_ARCH__ >= 800
#define HOLD_CASE(N) case N: asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); break;
  switch (left) {
    HOLD_CASE(1) HOLD_CASE(2) HOLD_CASE(3) HOLD_CASE(4) HOLD_CASE(5) HOLD_CASE(6) HOLD_CASE(7)
    default: asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
#undef HOLD_CASE
#endif
}

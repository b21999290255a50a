
// A kernel begins while the one before it ends: each thread first waits until that one has ended and its stores can be seen. Then the next
// kernel may begin, once all blocks of this one have come here.
__device__ __forceinline__ void after_predecessor() {
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}

// Two elements as one.
static __device__ __forceinline__ $T $NAME_join($T a, $T b) {
$if ONE
#if __CUDA_ARCH__ >= 800      // a NaN stays, in one instruction
  float v;
  asm("$ONE.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b));
  return v;
#else
  return $JOIN;
#endif
$else
  return $JOIN;
$end
}

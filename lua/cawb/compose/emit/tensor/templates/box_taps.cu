// Of each tap: its number in the window, and how far it lies from the first place that a box reads.
static __device__ const int $NAME_taps[$TAPCOUNT][4] = { $TAPS };
// Of each set of outputs: taps in front of it, how many it has; steps of 16 products likewise; its outputs' remainders.
static __device__ const int $NAME_sets[$SETS][7] = { $SETTABLE };

// Channel and tap of product k of a set with so many taps; no channel where there is none.
static __device__ __forceinline__ int2 $NAME_part(int k, int taps) {
  return $PART;
}

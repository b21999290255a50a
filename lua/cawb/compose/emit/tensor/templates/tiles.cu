// $NAME: $WHAT. A block stays on its multiprocessor and takes tile after tile.

// A tile: which of the sums that share a kernel (`set`), which batch or group, part of the steps, rows, columns.
struct $NAME_tile { int set, z, part, m, n, first, last; };

// A step is 64 terms: a chunk of a row of the left factor, so many rows further, and what the right one has for them.
static __device__ __forceinline__ int $NAME_steps(int set) { return $STEPS; }
static __device__ __forceinline__ int $NAME_before(int set) { return $BEFORE; }      // steps of the sets ahead
static __device__ __forceinline__ int $NAME_chunk(int set, int step) { return $CHUNK; }
static __device__ __forceinline__ int $NAME_shift(int set, int step) { return $SHIFT; }

// Tiles in groups of $GROUP rows of tiles, so that what blocks read at a time stays in L2.
static __device__ __forceinline__ $NAME_tile $NAME_at(int i) {
$if ROUND
  // Innermost: their results lie between each other. Some have fewer steps than others. A block goes on so many tiles further each time,
  // and would meet the same sets again: every $ROUND tiles they begin with another one, so that each block has all of them.
  const int set = (i + i / $ROUND) % $SETS;
$else
  const int set = i % $SETS;                               // innermost: their results lie between each other
$end
  i /= $SETS;
  const int t = $NUMBER, group = t / ($GROUP * $ACROSS), in = t % ($GROUP * $ACROSS);
  const int rows = min($DOWN/**/ - group * $GROUP, $GROUP), part = i / ($DOWN * $ACROSS) % $SPLITS;
  const int z = i / ($DOWN * $ACROSS * $SPLITS), steps = $NAME_steps(set);
  const int m = group * $GROUP + in % rows, n = in / rows;
  return { set, z, part, m, n, part * $PER/**/, $HIDDENmin(steps, part * $PER/**/ + $PER/**/) };
}

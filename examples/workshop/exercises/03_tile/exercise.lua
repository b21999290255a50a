return {
  title = "shared memory",
  small = { rows = 64, cols = 96 },
  about = [[
Transpose a matrix. Whoever loads rows stores columns, so that either the loads or the stores are scattered. Shared memory does not mind: let
a block load a tile of 32 x 32 by rows, keep it in shared memory, and store it by rows of the result. Shared memory has 32 banks, word by word:
a warp that reads a column of a 32 x 32 tile asks one bank 32 times.]],
  hint = "Wait for the whole tile with __syncthreads() before it is read. And give each row of the tile one more word than it needs.",
  goals = {
    { "sectors for each access", most = 4.1, metric = "sectors_per_request", says = "both loads and stores go along rows" },
    { "passes for each shared access", most = 1.1, least = 1, metric = "wavefronts_per_request",
      says = "the tile is in shared memory, and no two threads of a warp ask the same bank" },
  },
}

return {
  title = "occupancy",
  small = { rows = 8, cols = 512 },
  about = [[
A warp that waits for memory costs nothing if others have work. A multiprocessor of an H100 can hold 64 warps at a time, if their blocks find
room: it has 228 KiB of shared memory and 65536 registers for all of them. How many blocks find room here, and what keeps others out?]],
  hint = "A block of 64 threads takes 16 KiB of shared memory, and 1 KiB beside. What is it needed for?",
  goals = {
    { "warps at a time, of 64", least = 48, value = function(m) return m.resident_blocks * m.threads_per_block / 32 end,
      says = "blocks find room side by side" },
  },
}

return {
  title = "races",
  small = { rows = 4, cols = 512 },
  about = [[
A block turns a row round, 128 elements at a time, by way of shared memory. Warps do not wait for each other unless they are told to. What
goes wrong can be a matter of luck on a GPU; the simulator names the lines. Find out which threads must wait, for whom, and where.]],
  hint = "There are two mistakes: a piece is read before all of it is there, and overwritten before all of it was read.",
  goals = {
    { "barriers for each piece", most = 2.1, value = function(m, s) return m.barriers / (4 * s.rows * s.cols / 128) end,
      says = "two are enough" },
  },
}

-- published: what others report for themselves on KernelBench, for a row beside one's own. Nothing here was
-- measured with cawb: other hardware, other baselines, other tolerances; see each source.
-- Rates are shares of all tasks, speed-ups geometric means unless `note` says otherwise.

local M = {}

--- Whether a suite, by the files and folders that its tasks came from, is KernelBench: only there do these rates say
--- anything. They are called as the data set is ("KernelBench", "kernel-bench") or as its files are (level_1.parquet).
function M.belongs(paths)
  for _, path in ipairs(paths) do
    local name = path:lower():gsub("[-_ ]", "")
    if name:find("kernelbench", 1, true) or path:lower():match "level_?[1-4]%.%a+$" then return true end
  end
  return false
end

M.rows = {
  { name = "CUDA Agent", level = "all", pass = 0.988, faster_eager = 0.984, faster_compile = 0.968,
    speedup_eager = 2.60, speedup_compile = 2.11, source = "arXiv 2602.24286, project page" },
  { name = "CUDA Agent", level = 3, pass = 0.94, faster_eager = 0.94, faster_compile = 0.90,
    speedup_eager = 1.80, speedup_compile = 1.52, source = "arXiv 2602.24286, project page; the abstract says 92% "
      .. "faster than compile" },
  { name = "CUDA Agent", level = 2, speedup_compile = 2.80, source = "arXiv 2602.24286, project page" },
  { name = "CUDA-L1", level = "all", pass = 249 / 250, median_eager = 1.42, median_compile = 1.72,
    note = "A100; means are 3.12x and 2.77x", source = "its README" },
  { name = "CudaForge", level = "all", pass = 0.976, note = "1.68x on average", source = "arXiv 2511.01884" },
  { name = "KernelBlaster", level = 1, speedup_eager = 1.43, source = "arXiv 2602.14293" },
  { name = "KernelBlaster", level = 2, speedup_eager = 2.50, source = "arXiv 2602.14293" },
  { name = "KernelBlaster", level = 3, speedup_eager = 1.50, source = "arXiv 2602.14293" },
  { name = "KernelAgent", level = "all", pass = 1.0, note = "level 1: 1.56x against compile, H100",
    source = "pytorch.org" },
}

return M

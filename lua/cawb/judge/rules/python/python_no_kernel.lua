--- A Python candidate without a kernel of its own: neither Triton's nor CUDA's nor a library's
--- that it built. Said, not forbidden: on a processor there is none.
return {
  stage = "python", severity = "flag",
  options = { signs = { "__global__", "triton%.jit", "load_inline", "cpp_extension", "ctypes", "PYBIND11_MODULE", "cuda%.tile", "cupy" } },
  check = function(facts, options)
    for _, sign in ipairs(options.signs) do
      if facts.python.text:find(sign) then return nil end
    end
    return { reason = "it has no kernel of its own: PyTorch's operators are put together", evidence = {} }
  end,
}

-- The default: facts of what was built, what it touched, how it erred, and what the device
-- can do at all. A number is a rule's own option; see lua/cawb/judge/rules/.
return {
  rules = {
    judge_talk = true,
    clock_reads = true,
    place_reads = true,
    cache_policy = true,
    kept_state = true,
    changed_state = true,
    device_calls = true,
    embedded_data = true,
    fast_math = true,
    approximations = true,         -- a flag
    float_atomics = true,          -- a flag
    traps = true,                  -- a flag
    may_write_inputs = true,
    decoy = true,
    unlaunched = true,
    narrow_products = true,        -- a flag
    precision = true,
    untouched_bytes = true,
    unrepeatable = true,           -- a flag
    unsteady = true,               -- a flag
    below_floor = true,
    near_floor = true,             -- a flag, and a second look
    -- Python candidates: by what they were seen to do; by their text where that cannot be seen
    python_work = true,
    python_fallback = true,
    python_dynamic = true,
    python_handlers = true,
    python_base = true,
    python_no_kernel = true,       -- a flag
    python_clocks = true,          -- a flag
    python_threads = true,         -- a flag
  },
}

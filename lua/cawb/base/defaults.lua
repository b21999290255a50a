-- defaults: every option of a strategy, a --config file and --set, with the value that it has
-- where nobody says otherwise. Times are in seconds, sizes in bytes.

return {
  -- what a run may spend
  turns = 20,                 -- proposals that are evaluated
  seconds = 600.0,             -- wall time, checked between evaluations
  budget = {                  -- 0: no limit
    replies = 200,            -- of a model
    tokens = 0,               -- in and out
    dollars = 0.0,
    device_seconds = 0.0,     -- that the device was kept busy
    no_progress = 0,          -- turns since the best one
  },

  -- what a turn is worth: a function of its facts, or the name of a file in configs/
  reward = "tiers-paper",

  -- the model that strategies ask: cawb.ask. Keys come from the environment or a file only
  model = {
    protocol = "openai",      -- chat completions; or "anthropic": messages
    url = "http://127.0.0.1:8000/v1",
    name = "",
    key_env = "",             -- a variable; "": the protocol's usual one, where it is set
    key_file = "",            -- a file whose first line is the key
    insecure = false,         -- send a key over http:// to another machine all the same
    ca = "",                  -- a file of certificates to trust in place of the system's
    tools = "native",         -- or "text": a protocol in the text, for models without tools
    stream = true,
    max_tokens = 16384,       -- of one reply; 0: the endpoint's default
    context = 131072,         -- tokens that messages and reply may have together
    sampling = {},            -- temperature, top_p, ...: goes into the request as it is
    extra_headers = {},       -- name = value
    price = {},               -- dollars for a million tokens: input, cached, written, output
    cache = true,             -- ask the endpoint to cache the prompt, where it has to be asked
    logprobs = false,
    connect = 15.0,           -- seconds to connect in
    first = 180.0,            --   until the reply begins
    idle = 60.0,              --   between two pieces of it
    whole = 900.0,            --   for all of it
    retries = 5,              -- after what may pass: 429, 5xx, a cut stream, an empty reply
    backoff = 1.0,            -- seconds before the first, twice as long before each next one
    backoff_most = 120.0,     --   and never longer; a longer Retry-After ends the attempts
    limit = 32 << 20,         -- bytes of a reply
  },

  -- how an agent works: see lua/cawb/agent/tools.lua and lua/cawb/agent/context.lua
  agent = {
    prompt = "",              -- a file with the system prompt; "": the strategy's, in prompts/
    readable = { "task" },    -- what it may read beside its own files: task, kernels, skills, harness
    result = 6000,            -- bytes of a tool's result; the middle of a longer one is left out
    keep = 6,                 -- the last so many replies keep the results of their tools whole
    concurrent = 16,          -- questions under way at once
    fence = 3,                -- replies in a row without anything to do, before it gives up
    shell = false,            -- may it run commands, in a jail around its workspace?
  },

  -- that jail: as tier2.jail, without "none"; seconds until a command is ended with all that it
  -- started; bytes of memory for each process, of /tmp and of the workspace, of a file; processes
  -- at a time
  shell = { jail = "auto", seconds = 60.0, memory = 4 << 30, disk = 256 << 20, file = 64 << 20, processes = 64 },

  -- exchanges with a model that are recorded, or played in its place: a file of JSON lines.
  -- `by`: "order", or "hash" of the request; `latency`: as slowly as it was
  cassette = { record = "", replay = "", by = "order", latency = false },

  -- what a candidate must not be, besides wrong: the name of a set, configs/rules-NAME.lua,
  -- or the path of one; "off" asks nothing
  rules = "strict",

  -- module-level constants of the task to override: --set task.rows=64
  task = {},

  -- sizes of the task (--scale): "none" takes them as they are, "fit" shrinks those that are
  -- not overridden, "full" executes some blocks of each launch on a simulated device, which
  -- counts and times but checks nothing, "both" verifies as "fit" does and times as "full" does;
  -- "auto" is "fit" on a simulated device, else "none"
  scale = {
    mode = "auto",
    memory = 64 << 20,        -- "fit": bytes of inputs, outputs and parameters, and
    operations = 1 << 30,     --   operations of a call, on a simulated device or a processor
    share = 0.12,             -- "fit": of a GPU's memory, for the same bytes: eight times as
                              --   much is in use while a reference is computed
    blocks = 256,             -- "full": of each launch, where simulate.blocks says nothing
    -- "both": bytes and operations of the sizes that are verified, and blocks of each launch at the task's own
    both = { memory = 256 << 10, operations = 1 << 24, blocks = 32 },
  },

  verify = {
    trials = 5,               -- fresh secret inputs
    -- further inputs of kinds that the task never announced (python/cawb_host/judge/inputs/battery.py), one of
    -- each; a kind that the reference itself cannot deal with is left out, and `ties` where no
    -- output is an index
    battery = { "mixed", "integers", "edges", "almost", "heavy", "outlier", "constant", "offset", "scales", "nan", "ties" },
    battery_bytes = 1 << 30,  -- of inputs, beyond which there are only those in `huge`
    huge = { "mixed" },
    places = 64,              -- draws at most, in which the largest and the smallest come to every place in turn, where the task chooses
    sizes = 0,                -- other sizes of the task that a new best is verified on when it is confirmed. Told, and no failure
    denormals = true,         -- one more run: does it flush denormal numbers? Told, and no failure
    weights = "drawn",        -- from a secret seed, as training might have left them; or "own", the constructor's
    relations = "none",       -- "linear", "rows" or "all": and those of these that its operators have
    repeats = 1,              -- further runs on the first inputs: is every bit the same?
  },

  -- a candidate passes if each error against float64 is at most `factor` times
  -- that of eager PyTorch, or below the floor for its type: `worst` is relative
  -- to the largest reference value, `nrms` to the root mean square; a row may have
  -- `row` times the floor of the whole. `far` is the share of elements, beyond eager's,
  -- that may be far off for their own size. A baseline is as accurate as a candidate with
  -- up to `equal_error` times its error.
  tolerance = {
    protocol = "errors",      -- or "allclose": see configs/tolerance-*.lua
    allclose = 1e-2,          -- of that protocol: relative and absolute; for 16-bit types
    allclose_half = 1e-2,     --   the other
    timed = true,             -- is what timed calls wrote looked at?
    conduct = true,           -- are races and changed inputs failures?
    findings = true,          -- of these, races and reads of what nothing has written; or data only
    factor = 3,
    plain = 3,                -- times the error of straightforward kernels, where that is more: sums added up in order
    battery_factor = 100,     -- `factor` for kinds of inputs that are badly conditioned, where the terms' sizes are not known
    equal_error = 1.1,
    row = 4,
    short = 32,               -- a row of fewer elements may have `short_row` times that error
    short_row = 10,
    vanishing = 1e-9,         -- of the largest input, times the floor: an error below it is none
    -- eager PyTorch's error on the task's own inputs with which nothing can be judged, by type; and what rounding leaves at most where terms of
    -- about 1 cancel always, as in the mean of a normalised row: such a result is noise for everybody
    lost = { float32 = 0.01, float64 = 0.01, float16 = 0.25, bfloat16 = 0.25 },
    noise = { float32 = 1e-5, float64 = 1e-13, float16 = 0.02, bfloat16 = 0.1 },
    few = 4096,               -- elements of an output, of which each is held against its own size, too
    far = 0.001,
    part = 8,                 -- times the floor: of one sign and magnitude, relative to its own size,
    slight = 0.006,           --   down to a thousandth of the whole's; below that this, where nothing says that a right kernel
                              --   is off by more (from here on straightforward ones are asked)
    small = 0.0003,           -- in place of `slight` where eager PyTorch is exact for the element's own size
    slope = 0.1,              -- times the floor: an error that all of an output in 16 bits has, by a factor or an amount, where
    enough = 32,              --   it has as many magnitudes
    floors = {
      -- Where the reference is no wider than the output, `worst` is at least `step` times the
      -- roundings on the way: one unit roundoff for each of the reference's and of the candidate's.
      -- No more than `most`, a 64th of the next narrower type's roundoff.
      -- 64 and 128 unit roundoffs of float32 (6e-8): room for a sequential sum of
      -- some thousand terms, and far below one roundoff of TF32 (4.9e-4)
      float32  = { worst = 7.6e-6, nrms = 3.8e-6 },
      float64  = { worst = 1.5e-14, nrms = 7.5e-15, step = 2.3e-16, most = 9.4e-10 },
      -- one unit roundoff: the output's own rounding. An output of less than `enough` magnitudes may have `few` times that
      float16  = { worst = 4.9e-4, nrms = 4.9e-4, few = 2 },
      bfloat16 = { worst = 3.9e-3, nrms = 3.9e-3, few = 2 },
    },
  },

  -- on a real device candidate and baselines take turns, in rounds of random ABBA
  -- order, until it is known of each whether it is faster or slower, or nearly the same
  measure = {
    against = { "eager", "compile" },
    -- timed once, apart, when the run ends: the rest of what the report compares with
    matrix = { "eager_tf32", "compile_tf32" },
    matrix_samples = 20,
    warmup = 3,               -- runs before the first sample
    batch = 4,                -- samples in a row at most; two batches of each a round
    slice = 0.005,            -- seconds that a batch should not exceed
    rounds = 128,             -- at most
    precision = 0.01,         -- half the width of a speed-up's interval, relative;
    resolution = 2e-7,        --   or seconds, where that is more: events tell no less apart
    decisive = true,          -- stop at a sure "faster" or "slower", however wide
    error_rate = 0.01,        -- how often a verdict may be wrong
    same = 0.01,              -- a speed-up within 1 +- this is none
    budget = 1.0,             -- seconds, at most, but for the rounds that an interval needs
    processes = 4,            -- of Python candidates and of PyTorch beside them: how many of each take turns,
    process_seconds = 5.0,    --   where one loads within this, and
    process_bytes = 512 << 20, --  all of them together hold no more tensors than this; two, where one holds more
    slowest = 0.75,           -- samples below this share of the highest SM clock are discarded
    inputs_for = 1,           -- candidates in a row that are timed on the same secret inputs; a confirmation draws new ones
    launches = 20,            -- calls, one after another, to know what the host's launching costs
    ahead = true,             -- of a suite on a GPU: torch.compile builds a task, without data, before its turn has come
  },

  -- what would be a run's new best is evaluated again in a fresh worker on fresh seeds,
  -- and counts as what it is then; not where it was measured to be slower than all baselines
  confirm = {
    enabled = true,
    trials = 2,
  },

  -- what a turn that passed is looked at with: "none", "quick" (one pass of counters,
  -- tens of milliseconds and fresh inputs) or "default" (three); see cawb.profile
  profile = "none",

  -- how lines are sampled on a GPU (cawb.profile's `lines`): every 2^period clocks, into
  -- `buffer` bytes, for `budget` seconds or `most` executions
  lines = { period = 12, buffer = 64 << 20, budget = 0.05, most = 500 },

  -- what `compose` may use: tensor cores for float32 products and convolutions, in parts of 16 bits at
  -- float32's accuracy; the same computed in another way, where that is less work. Without them a suite shows what
  -- they are worth
  compose = { tensor_cores = true, rewrites = true },

  -- a plan with tunables is a family: how much of it is tried in one turn
  sweep = {
    variants = 8,             -- at most, spread evenly over all combinations
    trials = 1,               -- inputs a variant is verified on before it is timed
    samples = 30,             -- at most
    budget = 0.05,            -- seconds of samples, at most; three are taken in any case
  },

  -- after so long a process is killed and the request counts as failed
  -- how often a terminal's last line, and the store, say what goes on; seconds without a line after which that is printed
  -- where there is no terminal; 0: never
  live = { every = 1.0, lines = 0 },

  deadlines = {
    start = 120.0,              -- a process, its imports, its first contact
    compile = 30.0,
    load = 30.0,
    run = 10.0,                 -- one execution of a candidate
    measure = 30.0,
    task = 300.0,               -- anything asked of the task host
    rule = 10.0,                -- one rule about one candidate, or its reward
    python = 240.0,             -- a Python candidate's import, with what it compiles
    room = 30.0,                -- memory of a GPU that other programs hold is waited for
  },

  -- a candidate that faults on a GPU is executed once more under compute-sanitizer, for the
  -- line: where the tool is, and the task's tensors take at most so many bytes. With `races` one
  -- that passed there is executed under racecheck too, which takes seconds
  sanitize = { faults = true, races = false, memory = 256 << 20 },

  -- the jail of a Python candidate (tier 2): "auto", the strongest there is; "namespaces" or
  -- "landlock", that one or none; "none", no jail, for files that you would run anyway. Bytes
  -- of memory and of disk, processes, and seconds of processor time that it may use; 0: by the
  -- machine's size. Whether all that it starts is put into a control group, where there are any.
  tier2 = { jail = "auto", memory = 0, disk = 0, processes = 0, seconds = 1800, groups = true },

  -- disk for precompiled headers, which make cooperative_groups.h bearable, and the
  -- address space that the compiler may use: a template can ask for any amount
  compile = { headers = 512 << 20, memory = 16 << 30 },

  -- address space of the worker of a simulated device, tensors and all
  -- and how many blocks of a launch are executed, of those that stand for all; 0: all are;
  -- whether launches look for races, reads of what nothing has written and accesses to where
  -- a copy is under way, which takes a third to a half longer: a judge should; and how many
  -- threads execute blocks, the answer being the same: 0: one a core, where a launch is worth it
  simulate = { memory = 32 << 30, blocks = 0, sanitize = true, threads = 0 },

  -- what plan.lua may use: bytes and instructions of its own; calls of NVIDIA's libraries
  -- (gemm, conv), and the bytes on the device that one may take where it names no `workspace`
  plan = { memory = 32 << 20, instructions = 20000000, libraries = true, workspace = 32 << 20 },
}

-- cawb exec: whole CUDA C++ programs on the simulated device. nvcc compiles those of tests/sim/exec; without one the test is
-- skipped, and tests/sim/test_cudart.c still calls the runtime.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local program = require "cawb.sim.program"

local toolkit = "/usr/local/cuda/bin/nvcc"
local nvcc = core.fs.which "nvcc" or core.fs.kind(toolkit) == "file" and toolkit
local dir = check.folder()
local preload = os.getenv "CAWB_TEST_PRELOAD"            -- what a sanitized runtime needs ahead of all else

-- Standard output, what was told, and the exit status.
local function exec(words)
  local env = preload and ("LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0:handle_segv=0 "):format(preload) or ""
  local out, code = check.shell(("%s'%s' exec %s 2>%s/told"):format(env, core.program, words, dir))
  local f = assert(io.open(dir .. "/told"))
  local told = f:read "a"
  f:close()
  return out, told, code
end

check.test("what cannot be caught is said, with what to do", function()
  local _, told, code = exec ""
  check.equal(code, 2)
  check.matches(told, "a program is needed: cawb exec my%.cu")
  _, told, code = exec "mine.cu"
  check.equal(code, 2)
  check.matches(told, "there is no source mine%.cu")
  _, told, code = exec "--fast ./x"
  check.equal(code, 2)
  check.matches(told, "unknown flag '%-%-fast'; those of the program stand behind its name")
  _, told, code = exec(dir .. "/nowhere")
  check.equal(code, 2)
  check.matches(told, "there is no program .*/nowhere")
  _, told, code = exec "--device cuda:0 /bin/true"
  check.equal(code, 2)
  check.matches(told, "on a GPU start them by themselves")
  _, told, code = exec "--device sim:h1000 /bin/true"
  check.equal(code, 2)
  check.matches(told, "did you mean 'h100'")
  _, told, code = exec "/bin/true"
  check.equal(code, 3)
  check.matches(told, "did not call the CUDA runtime; nvcc %-cudart shared")
  check.write(dir .. "/static", "\127ELF libcudart_static_0123")
  _, told, code = exec(dir .. "/static")
  check.equal(code, 3)
  check.matches(told, "carries NVIDIA's runtime within it. .*nvcc %-cudart shared %-lineinfo")
  check.write(dir .. "/old", "\127ELF libcudart.so.11.0")
  _, told, code = exec(dir .. "/old")
  check.equal(code, 3)
  check.matches(told, "was made for CUDA 11; CUDA 12 and 13 are known")
end)

check.test("a program that ends by itself or by a signal keeps its status", function()
  local _, told, code = exec "/bin/sh -c 'kill -SEGV $$'"
  check.equal(code, 139)
  check.matches(told, "ended by signal 11: it may have used a pointer of cudaMalloc on the host")
  _, _, code = exec "/bin/sh -c 'exit 7'"
  check.equal(code, 7)
  local out = exec "/bin/echo 'two words' \"it's\""
  check.equal(out, "two words it's\n")
end)

-- Without nvcc: NVRTC and the C++ compiler. A sanitized runtime's addresses are none that g++ links.
local function built(words)
  return check.shell(("CAWB_HIDE_TOOLKIT=1 '%s' exec --quiet %s 2>&1"):format(core.program, words))
end

local whole = { vector_add = "1000 sums on", symbols = "variables keep what is written", race = "race%.cu line 6: warp %d writes",
  stray = "stray%.cu line 6: write of 4 bytes", streams = "copies beside kernels" }
for name, says in pairs(preload and {} or whole) do
  check.test(name .. ".cu is built without nvcc, and told by its own lines", function()
    local out = built(("tests/sim/exec/%s.cu"):format(name))
    if out:find("CUDA headers", 1, true) then return print "skipped: no headers from PyPI" end
    check.matches(out, says)
  end)
end

check.test("a program calls what nvcc declares by itself, without nvcc too", function()
  if preload then return end
  local out, code = built(check.write(dir .. "/bare.cu", '__global__ void one(int *p) { p[0] = 1; }\nint main() { int n = atoi("3"); void *m = malloc(n); memset(m, 0, n); '
    .. 'return (int)sqrt(9.0) == n ? 0 : 1; }\n'))
  check.equal(code, 0, out)
end)

check.test("a mistake in either half is told by the source's own line", function()
  if preload then return end
  local path = dir .. "/mistaken.cu"
  local function told(kernel, call)
    check.write(path, ("// a comment {\n__global__ void one(int *p) { p[0] = %s; }\nint main() { %s<<<1, 1>>>(nullptr); }\n"):format(kernel, call))
    return built(path)
  end
  check.matches(told("q", "one"), 'mistaken%.cu%(2%): error: identifier "q" is undefined')
  check.matches(told("1", "two"), "mistaken%.cu:3:%d+: error: [^\n]*two[^\n]* was not declared")
end)

if not nvcc then
  print "skipped: there is no nvcc here to compile the programs of tests/sim/exec with"
  return check.done()
end

local all = dir .. "/all"
local log, code = check.shell(("'%s' -cudart shared -lineinfo -gencode arch=compute_90,code=compute_90 -o '%s' tests/sim/exec/all.cu 2>&1")
  :format(nvcc, all))
assert(code == 0, log)

local right = { vector_add = "1000 sums on H100 SXM %(simulated%)", reduction = "three sums of 5000", product = "a product of 64 x 64",
  histogram = "4099 bytes counted", scan = "3001 running sums", transpose = "70 x 100 transposed",
  streams = "copies beside kernels", symbols = "variables keep what is written", cooperative = "a grid that waits" }

for name, says in pairs(right) do
  check.test(name .. " is right, and nothing is found", function()
    local out, told, status = exec(("'%s' %s"):format(all, name))
    check.equal(status, 0, out .. told)
    check.matches(out, says)
    check.matches(told, "times are modelled, not measured")
    check.matches(told, "nothing was found")
  end)
end

check.test("a race, a stray write and a read of what nothing wrote are told by kernel, file and line", function()
  local out, told, status = exec(("'%s' race"):format(all))
  check.equal(status, 1)
  check.equal(out, "done\n")
  check.matches(told, "race: shared memory: reverse, race.cu line 6: warp %d writes byte %d+ of shared memory, which warp %d read")
  check.matches(told, "1 found")
  out, told, status = exec(("--quiet '%s' stray"):format(all))
  check.equal(status, 1)
  check.equal(out, "done\n")
  check.equal(told, "fault: fill, stray.cu line 6: write of 4 bytes, 0 bytes past the end of the 1st cudaMalloc (400 bytes), "
    .. "by block (0,0,0) thread (100,0,0)\n")
end)

check.test("wrong calls are told, each once, and answered as CUDA answers them", function()
  local out, told, status = exec(("'%s' unwritten"):format(all))
  check.equal(status, 1)
  check.equal(out, "done\n")
  for _, pattern in ipairs { "unwritten: .*twice, unwritten.cu line 4: read of byte 0 of the 1st cudaMalloc, to which nothing was written",
    "call: cudaMemcpy: the destination is said to be on the device, and is not", "call: cudaMemcpy: a read of 256 bytes",
    "launch: twice: cannot be launched with a grid of %(1,1,1%) and blocks of %(2048,1,1%)",
    "launch: twice: 65536 bytes of dynamic shared memory, 49152 are allowed", "call: cudaFree: the pointer is not the beginning",
    "6 found" } do check.matches(told, pattern) end
end)

check.test("printf of kernels goes to standard output, thread after thread and block after block", function()
  local out, told, status = exec(("'%s' printing"):format(all))
  check.equal(status, 0, told)
  local tail = "|3.14|1.500000e+00|  42|2.2|100%]\n"
  local lines = { "before\n" }
  for block = 0, 1 do
    lines[#lines + 1] = ("block %d thread 0: block %d thread 1: [   -3|7   |ff|-5000000000|18446744073709551615|c|%s|  "):format(block, block,
      block == 1 and "text" or "") .. tail:sub(2)
  end
  check.equal(out, table.concat(lines) .. "no arguments\nafter 13\n")
  out, told, status = exec(("--quiet '%s' printing wrong"):format(all))
  check.equal(status, 1)
  check.equal(out, "")
  check.matches(told, "^fault: wrong, printing.cu line 15: .*printf%(%) of a string at an address where there is nothing")
end)

check.test("a call that is not known ends the program, and is named", function()
  local out, told, status = exec(("'%s' graph"):format(all))
  check.equal(status, 3)
  check.equal(out, "before\n")
  check.matches(told, "the program calls cudaGraphCreate, which cawb's CUDA runtime does not know")
end)

check.test("--json has the counts of each kernel; another device, another time", function()
  local out, _, status = exec(("--json '%s' vector_add 50000"):format(all))
  check.equal(status, 0)
  local r = assert(core.json.decode(out:match "\n({.*)"))
  check.equal(r.status, 0)
  check.equal(#r.found, 0)
  check.equal(r.kernels[1].name, "add")
  check.equal(r.kernels[1].launches, 1)
  check.equal(r.kernels[1].global_requests, 3 * math.ceil(50000 / 32))
  assert(r.seconds > r.kernels[1].seconds and r.kernels[1].bound.launch > 0)
  if not preload then
    local t4 = assert(program.run(all, { "reduction" }, "sim:t4"))
    assert(t4.stopped and t4.stopped.text:find "has no PTX for sm_75: compile it with nvcc %-arch=sm_75", t4.stopped.text)
  end
end)

check.test("a program that nvcc compiled without more ado says what docs/howto/exec.md shows", function()
  local plain = dir .. "/rows"
  log, code = check.shell(("'%s' -cudart shared -lineinfo -o '%s' examples/programs/rows.cu 2>&1"):format(nvcc, plain))
  assert(code == 0, log)
  local out, told, status = exec(plain)
  check.equal(status, 1)
  local f = assert(io.open "docs/howto/exec.md")
  local page = f:read "a"
  f:close()
  check.matches(out, "^512 rows in [%d.]+ us, 0 wrong\n$")
  for _, words in ipairs { "H100 SXM (simulated); times are modelled, not measured. All that was asked of the device: ",
    "race: shared memory: sum_rows, rows.cu line 15: warp 7 reads byte 0 of shared memory, which warp 0 wrote (line 13)", "1 found" } do
    assert(page:find(words, 1, true) and told:find(words, 1, true), told)
  end
end)

return check.done()

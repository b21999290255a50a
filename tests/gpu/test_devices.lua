-- Simulated devices: descriptions, parts of them, files of one's own, and what is wrong with them.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local devices = require "cawb.gpu.devices"

local folder = check.folder()

check.test("those that come along are complete and open", function()
  check.matches(" " .. table.concat(devices.names(), " ") .. " ", " a100 .* h100 .* t4 ")
  for _, name in ipairs(devices.names()) do
    local t = assert(devices.find(name))
    assert(t.model:find "simulated" and t.l2_rate > t.dram and t.latency_dram > t.latency_l2, name)
    local d <close> = assert(cawb.device("sim:" .. name))
    check.equal(d.info.arch, t.arch)
    check.equal(d.info.modelled, true)
    check.equal(d.info.sms, t.sms // 1)
  end
end)

check.test("a part of one has a part of what grows with multiprocessors", function()
  local whole, part = assert(devices.find "h100"), assert(devices.find "h100/16")
  check.equal(part.sms, 8)
  local share = 8 / 132
  for _, key in ipairs { "l2", "memory" } do check.equal(part[key], whole[key] * share // 1, key) end
  for _, key in ipairs { "dram", "l2_rate", "fp32", "fp16" } do check.equal(part[key], whole[key] * share, key) end
  for _, key in ipairs { "clock", "shared_sm", "registers_sm", "l1", "latency_dram", "launch" } do
    check.equal(part[key], whole[key], key)
  end
  check.matches(part.model, "1/16")
  local t, message, name = devices.find "h100/0"
  check.equal(t, nil)
  check.equal(name, "invalid")
  check.matches(message, "h100/0")
end)

local text
do
  local f = assert(io.open "lua/cawb/gpu/devices/t4.lua")
  text = f:read "a"
  f:close()
end

local function own(name, from, to)
  return check.write(("%s/%s.lua"):format(folder, name), (text:gsub(from, to, 1)))
end

check.test("Hopper is compiled for as itself, and keeps a part of its tensor cores for warpgroups", function()
  for name, arch in pairs { h100 = "sm_90a", h200 = "sm_90a", a100 = "sm_80" } do
    local hopper = arch == "sm_90a"
    check.equal(devices.find(name).arch, arch)
    check.equal(devices.find(name).mma_share, hopper and 0.66 or 1)
  end
end)

check.test("a file of one's own", function()
  local path = own("mine", 'model = "T4 %(simulated%)"', 'launch = 9e-6, model = "mine"')
  local t = assert(devices.find(path))
  check.equal(t.model, "mine")
  check.equal(t.launch, 9e-6, "over the constants")
  local d <close> = assert(cawb.device("sim:" .. path .. "/4"))
  check.equal(d.info.sms, 10)
  check.equal(d.info.rates.launch, 9e-6)
end)

check.test("what is wrong with a description is said, with the file", function()
  local function fails(path, pattern)
    local d, message, name = cawb.device("sim:" .. path)
    check.equal(d, nil, path)
    check.equal(name, "invalid", path)
    check.matches(message, pattern)
  end
  fails("h1000", "no simulated device 'sim:h1000' %(did you mean 'h100'%?%); there are a10, .*files of your own")
  fails("none/such.lua", "none/such.lua: there is no such file")
  fails(own("missing", "sms = 40, ", ""), "missing.lua: the figure 'sms' is missing")
  fails(own("unknown", "sms = 40", "smss = 40"), "unknown.lua: unknown figure 'smss' %(did you mean 'sms'%?%)")
  fails(own("kind", "sms = 40", "sms = 'many'"), "kind.lua: 'sms' must be a number, got string")
  fails(own("arch", 'arch = "sm_75"', 'arch = "75"'), "'arch' is like sm_90, not '75'")
  fails(own("suffix", 'arch = "sm_75"', 'arch = "sm_75b"'), "'arch' is like sm_90, not 'sm_75b'")
  fails(own("range", "sms = 40", "sms = -1"), "'sms' is a number from 1 to 4096")
  fails(own("syntax", "return {", "return return {"), "syntax.lua:%d+:")
  fails(own("reach", "return {", "io.open 'x' return {"), "attempt to index a nil value %(global 'io'%)")
  fails(own("nothing", "return {", "local t = {"), "must return a table of figures, got nil")
end)

check.test("the target of the compiler is the device's", function()
  local d <close> = assert(cawb.device "sim:t4")
  local built = assert(cawb.compile { source = "extern \"C\" __global__ void k() {}", device = d })
  local f <close> = assert(io.open(built.ptx))
  check.matches(f:read "a", "%.target sm_75")
end)

check.test("a spare worker waits for the one before it to end, and is no other then", function()
  local d <close> = assert(cawb.device "sim:h100")
  local first = d.worker:pid()
  d:begin_spare()
  d:begin_spare()                            -- there is one already
  d:settle()
  local spare = d.spare.worker:pid()
  check.equal(d.worker:pid(), first, "the worker")
  check.equal(d.workers, 1, "workers that answered")
  d:drop_worker()
  assert(d:call({ op = "unload" }, nil, 10))
  check.equal(d.worker:pid(), spare, "the worker after it")
  check.equal(d.workers, 2, "workers that answered")
  check.equal(d.spare, nil)
end)

check.test("a spare worker that died is made up for, and one that was begun is no proof that one starts", function()
  local d <close> = assert(cawb.device "sim:h100")
  d:begin_spare()
  local spare = d.spare.worker
  spare:kill()
  d:settle()
  d:drop_worker()
  assert(d:call({ op = "unload" }, nil, 10))
  assert(d.worker ~= spare, "another one")
  d:begin_spare()
  spare = d.spare.worker
  assert(d:renew())
  assert(d.worker ~= spare and not spare:alive() and not d.spare, "a new one")
end)

check.test("what a second compiler built ahead, the first one finds; with tunables nobody knows what to build", function()
  local compile, execute = require "cawb.gpu.compile", require "cawb.judge.worker.execute"
  local d <close> = assert(cawb.device("sim:h100", { cache = folder .. "/ahead" }))
  local source = '__global__ void f(float *y) { y[0] = N; }'
  local function candidate(plan) return cawb.candidate { source = source, plan = plan, defines = { N = 3 } } end
  execute.build_ahead(d, candidate [[local n = tunable("N", { 1, 2 })]])
  check.equal(d.builders, nil, "a compiler for it")
  execute.build_ahead(d, candidate [[launch("f", 1, 1, {})]])
  assert(d:ahead().compiler, "a compiler of its own")
  assert(d:ahead(2) ~= d:ahead() and not d:ahead(2).compiler, "another one, which has nothing to do")
  check.equal(assert(compile.compile { source = source, device = d, defines = { N = 3 } }).cached, true)
  check.equal(assert(compile.compile { source = source, device = d, defines = { N = 4 } }).cached, false)
  local builder = d:ahead().compiler
  d:close()
  assert(not builder:alive() and not d.builders)
end)

return check.done()

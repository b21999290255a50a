-- What `cawb serve` is made of, without a device: broken requests, and what leaves with an answer. The server as clients see it:
-- tests/python/test_serve*.py.

local check = dofile "tests/lua/check.lua"
local core = require "cawb.core"
local http = require "cawb.serve.http"

check.test("broken requests are answered once each, with a status that is meant", function()
  local out, status = check.shell(("'%s' tests/fuzz/serve.lua -- 3000 7 2>&1"):format(core.program))
  check.equal(status, 0, out)
  check.matches(out, "3000 requests")
end)

check.test("of a path of this machine only the last part is told", function()
  check.equal(http.scrub "cannot open /usr/lib/x/y.so: no", "cannot open .../y.so: no")
  check.equal(http.scrub '{"a":"/etc/hosts","b":"x /tmp/a b"}', '{"a":".../hosts","b":"x .../a b"}')
  check.equal(http.scrub "a / b, 1/2, //usr, /nosuchroot/x, and/or", "a / b, 1/2, //usr, /nosuchroot/x, and/or")
end)

check.test("the text of a task is found by its hash, and no other is taken", function()
  local tasks = assert(require "cawb.serve.tasks".new({ "examples/softmax.py" }, { scratch = "/tmp" }))
  local text = assert(io.open "examples/softmax.py"):read "a"
  check.equal(assert(tasks:find { code = text }).key, "softmax")
  check.equal(assert(tasks:find(tasks.list[1].hash)).key, "softmax")
  local none, why = tasks:find { code = text .. "#" }
  check.equal(none, nil)
  check.matches(why, "accept%-tasks")
end)

return check.done()

/* test_sandbox.c - every way out of the sealed state that we know, tried. */
#include "gpu/plan/sandbox.h"

#include <string.h>

#include "check.h"

static const cawb_sandbox_limits limits = { 8 << 20, 5000000, 0 };

/* Run text in a fresh state; the message of its failure, "" when it passed. */
static const char *run(const char *text) {
  static cawb_err err;
  cawb_sandbox *s;
  err.msg[0] = '\0';
  CHECK(cawb_sandbox_new(&s, &limits, &err) == CAWB_OK);
  cawb_status rc = cawb_sandbox_run(s, text, "plan.lua", &err);
  CHECK(rc == CAWB_OK || rc == CAWB_ERR_CANDIDATE);
  if (rc == CAWB_OK) err.msg[0] = '\0';
  cawb_sandbox_free(s);
  return err.msg;
}

static int passes(const char *text) { return *run(text) == '\0'; }
static int fails(const char *text, const char *with) { return strstr(run(text), with) != NULL; }

static void test_useful_things_work(void) {
  CHECK(passes("local t = {} for i = 1, 10 do t[#t + 1] = i end assert(#t == 10)"));
  CHECK(passes("assert(('%d'):format(7) == '7' and math.floor(2.5) == 2)"));
  CHECK(passes("x = 1; assert(x == 1)"));
  CHECK(passes("table.sort({3, 1, 2})"));
}

static void test_nothing_else_is_there(void) {
  static const char *const absent[] = {
    "os", "io", "debug", "package", "require", "load", "loadstring", "dofile", "loadfile",
    "pcall", "xpcall", "getmetatable", "setmetatable", "rawget", "rawset", "rawequal",
    "collectgarbage", "coroutine", "print", "warn", "utf8", "_G", NULL
  };
  char text[64];
  for (int i = 0; absent[i] != NULL; i++) {
    snprintf(text, sizeof text, "local x = %s", absent[i]);
    CHECK(fails(text, "unknown name"));
  }
  CHECK(passes("assert(string.dump == nil and math.random == nil)"));
}

static void test_strings_lead_nowhere_else(void) {
  CHECK(passes("assert((''):rep(2) == '' and ('').dump == nil)"));
  CHECK(passes("local s = ''; assert(s.format == string.format)"));
}

static void test_no_address_is_shown(void) {
  CHECK(passes("assert(tostring({}) == 'table' and tostring(next) == 'function' and tostring(1.5) == '1.5')"));
  CHECK(passes("assert(('%s %s %d%%'):format({}, nil, 7) == 'table nil 7%')"));
  CHECK(fails("local s = ('%10p'):format({})", "invalid conversion"));
  CHECK(fails("local s = ('%s %p'):format('%', 'x')", "invalid conversion"));
}

static void test_tables_are_charged(void) {
  CHECK(fails("local t = {} for i = 1, 100000 do t[i] = i * 7919 % 100003 end while true do table.sort(t) end", "too many instructions"));
  CHECK(fails("local t = {} for i = 1, 100000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end", "too many instructions"));
  CHECK(fails("local t = {} for i = 1, 1000 do t[i] = 'x' end while true do table.concat(t) end", "too many instructions"));
  CHECK(passes("local t = {} for i = 1, 100000 do t[#t + 1] = i table.insert(t, i) table.remove(t) end assert(#t == 100000)"));
  CHECK(passes("local t = {3, 1, 2} table.sort(t) assert(table.concat(t, ',') == '1,2,3' and table.remove(t, 1) == 1 and t[1] == 2)"));
}

static void test_limits_hold(void) {
  CHECK(fails("while true do end", "too many instructions"));
  CHECK(fails("local function f() return f() end f()", "too many instructions"));
  CHECK(fails("local s = 'x' while true do s = s .. s end", "bytes of memory"));
  CHECK(!passes("local s = ('x'):rep(1 << 40)"));
  CHECK(!passes("local t = {} for i = 1, 1e9 do t[i] = i end"));
  CHECK(!passes("local function f(n) return f(n) + 1 end f(1)"));
}

/* Loops inside C that no count hook sees. */
static void test_functions_cost_their_turns(void) {
  CHECK(fails("local s = (''):rep(1 << 60)", "too many instructions"));
  CHECK(fails("table.move({}, 1, math.maxinteger - 1, 2)", "too many instructions"));
  CHECK(fails("table.move({}, math.mininteger, math.maxinteger, 2)", "too many instructions"));
  CHECK(fails("for i = 1, 1000 do local s = (''):rep(100000) end", "plan.lua:1: too many"));
  CHECK(passes("assert(('ab'):rep(2, '-') == 'ab-ab' and (''):rep(-5) == '' and string.rep('x', 0) == '')"));
  CHECK(passes("local t = table.move({1, 2, 3}, 2, 3, 1) assert(t[1] == 2 and t[3] == 3)"));
  CHECK(passes("local t = table.move({1}, 1, 1, 1, {}) assert(t[1] == 1)"));
  CHECK(fails("('x'):rep()", "bad argument"));
}

static void test_abuse_of_what_is_there(void) {
  CHECK(!passes("table.sort({3, 1, 2, 5, 4}, function() return true end)") ||
        passes("table.sort({3, 1, 2, 5, 4}, function() return true end)"));   /* no crash */
  CHECK(!passes("local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b) t[a] = nil return a > b end)"));
  CHECK(!passes("('x'):format('%99999d')") || passes("('x'):format('%99999d')"));
  CHECK(fails("local s = ('%99999d'):format(1)", "invalid"));
  CHECK(fails("local function f(s) return (s:gsub('.', f)) end f('x')", "overflow"));
  CHECK(fails("('a'):rep(300000):find(('('):rep(40) .. ('a'):rep(10))", ""));
  CHECK(fails("local x <close> = {}", "closable"));
  CHECK(fails("goto out", "label"));
  CHECK(fails("::again:: goto again", "too many instructions"));
  CHECK(fails("return table.unpack({}, 1, 1e8)", "too many results"));
  CHECK(fails("table.concat({}, '', 1, 1 << 53)", "invalid value"));
  CHECK(fails("local t = {} for i = 1, 250 do t = { t } end error(t)", "no string"));
  CHECK(fails("error(('x'):rep(5000))", "xxx"));
  CHECK(fails("error('\xff\xfe', 0)", "??"));
  CHECK(!passes("_ENV = nil launch()"));
  CHECK(fails("local t = {} t[0/0] = 1", "NaN"));
}

static void test_text_only(void) {
  CHECK(fails("\033LuaS", "binary"));
  CHECK(fails("x = = 1", "plan.lua:1:"));
}

static void test_errors_say_where(void) {
  CHECK(fails("\n\nerror('no good')", "plan.lua:3: no good"));
  CHECK(fails("local a = inputs", "plan.lua:1: unknown name 'inputs'"));
  CHECK(fails("error({})", "no string"));
  CHECK(fails("error()", "no string"));
}

int main(void) {
  test_useful_things_work();
  test_nothing_else_is_there();
  test_strings_lead_nowhere_else();
  test_no_address_is_shown();
  test_tables_are_charged();
  test_limits_hold();
  test_functions_cost_their_turns();
  test_abuse_of_what_is_there();
  test_text_only();
  test_errors_say_where();
  return check_report();
}

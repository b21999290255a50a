/* launch.c - launch and memset: the steps that a plan records. */
#include <lauxlib.h>
#include <string.h>

#include "gpu/plan/record.h"

/* A table of dimensions has nothing but [1], [2] and [3]: {x = 8} would pass as {}. */
static void check_dim3(lua_State *L, const char *key) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lua_Integer i = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (i < 1 || i > 3)
      luaL_error(L, "launch: '%s' is a number or a list of up to three: {x, y, z}", key);
  }
}

/* {x, y, z}, {x, y} or a number, as three counts of at least 1. */
static void read_dim3(lua_State *L, const char *key, unsigned out[3], lua_Integer fallback) {
  int kind = lua_getfield(L, 2, key);
  if (kind == LUA_TNIL && fallback == 0)
    luaL_error(L, "launch: '%s' is missing; write { grid = ..., block = ... }", key);
  if (kind == LUA_TTABLE) check_dim3(L, key);
  out[0] = (unsigned)fallback;
  out[1] = out[2] = 1;
  for (int i = 0; i < 3 && kind != LUA_TNIL; i++) {
    int exact = 1;
    lua_Integer v = 1;
    if (kind == LUA_TTABLE) {
      if (lua_rawgeti(L, -1, i + 1) != LUA_TNIL) v = lua_tointegerx(L, -1, &exact);
      lua_pop(L, 1);
    } else if (i == 0) {
      v = lua_tointegerx(L, -1, &exact);
    }
    if (!exact) luaL_error(L, "launch: '%s' must be whole numbers", key);
    if (v < 1 || v > 0x7fffffff)
      luaL_error(L, "launch: '%s' has %I in dimension %d; it must be 1 to 2^31-1", key,
                 (LUAI_UACINT)v, i + 1);
    out[i] = (unsigned)v;
  }
  lua_pop(L, 1);
}

static void check_limits(lua_State *L, const cawb_plan *p, const cawb_step *s) {
  uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
  if (s->block[0] > 1024 || s->block[1] > 1024 || s->block[2] > 64 ||
      threads > p->setting->threads_block)
    luaL_error(L, "launch: a block of %d x %d x %d threads; the device allows %d in all",
               (int)s->block[0], (int)s->block[1], (int)s->block[2],
               (int)p->setting->threads_block);
  if (s->grid[1] > 65535 || s->grid[2] > 65535)
    luaL_error(L, "launch: a grid of %d x %d x %d blocks; dimensions 2 and 3 end at 65535",
               (int)s->grid[0], (int)s->grid[1], (int)s->grid[2]);
  if (s->shared > p->setting->shared_block)
    luaL_error(L, "launch: %I bytes of shared memory; the device allows %I a block",
               (LUAI_UACINT)s->shared, (LUAI_UACINT)p->setting->shared_block);
}

static int read_switch(lua_State *L, const char *key) {
  lua_getfield(L, 2, key);
  if (!lua_isnoneornil(L, -1) && !lua_isboolean(L, -1)) luaL_error(L, "launch: '%s' must be true or false", key);
  int on = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return on;
}

static void read_config(lua_State *L, const cawb_plan *p, cawb_step *s) {
  static const char *const keys[] = { "grid", "block", "shared", "cluster", "cooperative", "dependent", NULL };
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    int known = 0;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    for (int i = 0; keys[i] != NULL; i++) known |= strcmp(key, keys[i]) == 0;
    if (!known) luaL_error(L, "launch: unknown option '%s' (grid, block, shared, cluster, cooperative, dependent)", key);
  }
  read_dim3(L, "grid", s->grid, 0);
  read_dim3(L, "block", s->block, 0);
  read_dim3(L, "cluster", s->cluster, 1);
  lua_getfield(L, 2, "shared");
  lua_Integer shared = luaL_optinteger(L, -1, 0);
  if (shared < 0) luaL_error(L, "launch: 'shared' is negative");
  lua_pop(L, 1);
  s->shared = (size_t)shared;
  s->cooperative = read_switch(L, "cooperative");
  s->dependent = read_switch(L, "dependent");
  check_limits(L, p, s);
}

static const cawb_kernel *find_kernel(lua_State *L, const cawb_plan *p, const char *name) {
  const cawb_kernels *all = p->setting->kernels;
  const cawb_kernel *k = cawb_ptx_find(all, name);
  if (k != NULL) return k;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < all->count; i++) {
    if (i > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, all->list[i].plain);
  }
  luaL_pushresult(&b);
  luaL_error(L, "launch: there is no kernel '%s' in kernel.cu (it has: %s)", name,
             lua_tostring(L, -1));
  return NULL;
}

/*
** A launch that begins while the one before it ends ("programmatic dependent launch"). Each thread of it waits, ahead of its first access to
** memory, until that one has ended; so it ends after that one, and by induction after all before it. For that a kernel has to wait in every
** thread. The cache of ld.global.nc is for what nobody changes while this kernel runs, and it runs beside the one before. The first launch of
** a phase, and one behind a fill or a library's call, follow what is not known to be in this order. A kernel whose code is not so is launched
** plainly: what a compiler makes of a text is not known before.
*/
static void check_dependent(lua_State *L, const cawb_plan *p, const cawb_step *s) {
  const plan_list *l = &p->phases[p->phase];
  if (!s->dependent) return;
  if (s->cooperative) luaL_error(L, "launch: 'dependent' and 'cooperative' exclude each other");
  if (l->count < 2 || l->steps[l->count - 2].step.kind != CAWB_STEP_LAUNCH)
    luaL_error(L, "launch: 'dependent' is for a launch right behind another one in the same phase");
}

static cJSON *dims(const unsigned d[3]) {
  int v[3] = { (int)d[0], (int)d[1], (int)d[2] };
  return cJSON_CreateIntArray(v, 3);
}

plan_step *plan_new_step(lua_State *L, cawb_plan *p, cawb_step_kind kind) {
  if (p->phases[p->phase].count == PLAN_MAX_STEPS)
    luaL_error(L, "a plan of more than %d steps", PLAN_MAX_STEPS);
  plan_step *s = plan_add_step(p);
  if (s == NULL) plan_no_memory(L, p);
  s->step.kind = kind;
  s->text = cJSON_CreateObject();
  if (s->text == NULL) plan_no_memory(L, p);
  return s;
}

int plan_launch(lua_State *L) {
  cawb_plan *p = plan_self(L);
  const char *name = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  if (p->setting->kernels == NULL) return 0;           /* only looking for tunables */
  const cawb_kernel *k = find_kernel(L, p, name);
  plan_step *s = plan_new_step(L, p, CAWB_STEP_LAUNCH);
  s->step.kernel = k->name;
  read_config(L, p, &s->step);
  check_dependent(L, p, &s->step);
  s->step.dependent = s->step.dependent && k->waits;
  plan_put(L, p, s->text, "kernel", cJSON_CreateString(k->plain));
  plan_put(L, p, s->text, "grid", dims(s->step.grid));
  plan_put(L, p, s->text, "block", dims(s->step.block));
  plan_put(L, p, s->text, "shared", cJSON_CreateNumber((double)s->step.shared));
  if (s->step.dependent) plan_put(L, p, s->text, "dependent", cJSON_CreateTrue());
  plan_pack_args(L, p, s, k, 3);
  return 0;
}

int plan_memset(lua_State *L) {
  cawb_plan *p = plan_self(L);
  const plan_handle *h = plan_handle_at(L, 1);
  luaL_argcheck(L, h != NULL, 1, "a tensor is expected");
  luaL_argcheck(L, h->view < 0, 1, "a view is not filled, only a whole tensor");
  lua_Integer value = luaL_optinteger(L, 2, 0);
  if (value < INT32_MIN || value > UINT32_MAX)
    return luaL_error(L, "memset: %I is no pattern of 32 bits", (LUAI_UACINT)value);
  const cawb_plan_tensor *t = &p->tensors[h->tensor];
  int writable = t->role == CAWB_PLAN_SCRATCH ||
                 (t->role == CAWB_PLAN_OUTPUT && p->phase == CAWB_PLAN_CALL);
  if (!writable) return luaL_error(L, "memset: %s is not an output or scratch", t->spec.label);
  if (t->spec.bytes % 4 != 0)
    return luaL_error(L, "memset: %s has %I bytes, not a multiple of 4", t->spec.label,
                      (LUAI_UACINT)t->spec.bytes);
  plan_step *s = plan_new_step(L, p, CAWB_STEP_FILL);
  s->target = h->tensor;
  s->step.size = t->spec.bytes;
  s->step.pattern = (uint32_t)value;
  plan_put(L, p, s->text, "memset", cJSON_CreateString(t->spec.label));
  return 0;
}

/*
** record.h - the record behind a plan, shared by plan.c (its life),
** environment.c (what plan.lua sees), launch.c and declare.c (what it
** calls), view.c (handles of tensors), args.c (a launch's arguments) and
** library.c, gemm.c, conv.c (a library's call).
*/
#ifndef CAWB_PLAN_RECORD_H
#define CAWB_PLAN_RECORD_H

#include <lua.h>

#include "gpu/plan/plan.h"

enum { PLAN_MAX_STEPS = 1 << 14, PLAN_MAX_TENSORS = 1 << 14, PLAN_MAX_ARGS = 1 << 18 };

typedef struct plan_ref {         /* where an address goes: in a parameter block, */
  size_t at;                      /*   or which operand of a library call it is */
  size_t tensor;
  size_t plus;                    /* bytes behind the tensor's address */
} plan_ref;

typedef struct plan_view {        /* another shape of a tensor, or of a part of it */
  cawb_tensor spec;
  size_t tensor, plus;
} plan_view;

typedef struct plan_handle {      /* what plan.lua holds: no data is behind it */
  size_t tensor;
  long view;                      /* -1: the tensor itself */
} plan_handle;

typedef struct plan_step {
  cawb_step step;
  unsigned char *args;            /* owned; step.args points here */
  plan_ref *refs;                 /* owned; nrefs of them */
  size_t nrefs;
  size_t target;                  /* FILL: the tensor */
  cawb_gemm *gemm;                /* owned; step.gemm, as is the next */
  cawb_conv *conv;
  cJSON *text;                    /* owned; the step in words */
} plan_step;

typedef struct plan_list {
  plan_step *steps;
  cawb_step *bound;               /* the steps alone, for the device */
  size_t count;
} plan_list;

struct cawb_plan {
  const cawb_plan_setting *setting;   /* valid while recording */
  cawb_plan_tensor *tensors;
  size_t ntensors;
  plan_view *views;
  size_t nviews;
  size_t workspace;               /* 1 + the scratch that library calls share; 0: none yet */
  plan_list phases[2];            /* by cawb_plan_phase */
  cawb_step *reset;               /* owned; see cawb_plan_reset */
  cawb_plan_phase phase;          /* being recorded */
  size_t nargs;                   /* of all launches */
  cJSON *tunables;                /* as declared; NULL: not declared */
  int declared;                   /* all of them were read, and are right */
  int probing;                    /* stop at tunables{} */
  int starved;                    /* memory ended: not the candidate's fault */
};

/* Add an empty step to the phase being recorded; NULL when out of memory. */
plan_step *plan_add_step(cawb_plan *p);

/* Add a tensor and return its index, or -1 when out of memory. */
long plan_add_tensor(cawb_plan *p, const cawb_tensor *spec, cawb_plan_role role);

/* The same for a step with its `text`, and for a tensor; they raise. */
plan_step *plan_new_step(lua_State *L, cawb_plan *p, cawb_step_kind kind);
size_t plan_new_tensor(lua_State *L, cawb_plan *p, const cawb_tensor *spec, cawb_plan_role role);

/* Put inputs, outputs, params and the functions into the state. For lua_pcall. */
int plan_open(lua_State *L);

/* What plan.lua calls; the plan is the first upvalue. */
int plan_launch(lua_State *L);
int plan_memset(lua_State *L);
int plan_scratch(lua_State *L);
int plan_prepare(lua_State *L);
int plan_tunables(lua_State *L);
int plan_make_view(lua_State *L);
int plan_gemm(lua_State *L);
int plan_conv(lua_State *L);

cawb_plan *plan_self(lua_State *L);
__attribute__((noreturn)) int plan_no_memory(lua_State *L, cawb_plan *p);   /* raises */

/* Put `item` into an object, or with no key into an array, which then owns it.
** Raises where the item is NULL or memory ends. */
void plan_put(lua_State *L, cawb_plan *p, cJSON *parent, const char *key, cJSON *item);

/* Make the handles' type known to the state, once. */
void plan_open_handles(lua_State *L, cawb_plan *p);
void plan_push_handle(lua_State *L, size_t tensor);
void plan_push_plain(lua_State *L, const cJSON *value);   /* number, boolean or string */

/* The handle at `index`, or NULL; its shape, and where it begins in its tensor. */
const plan_handle *plan_handle_at(lua_State *L, int index);
const cawb_tensor *plan_spec(const cawb_plan *p, const plan_handle *h);
size_t plan_plus(const cawb_plan *p, const plan_handle *h);

/*
** Check the Lua values from `first` to the top against the kernel's signature
** and pack them. Raises with the argument's number and what was expected.
*/
void plan_pack_args(lua_State *L, cawb_plan *p, plan_step *s, const cawb_kernel *k,
                    int first);

#endif

/*
** library.h - what gemm{...} and conv{...} have in common: a table of options, of
** which some are tensors. Everything raises, with the call's name and what to change.
*/
#ifndef CAWB_PLAN_LIBRARY_H
#define CAWB_PLAN_LIBRARY_H

#include "gpu/plan/record.h"

typedef struct plan_call {
  lua_State *L;
  cawb_plan *p;
  const char *name;            /* "gemm" */
  plan_ref refs[CAWB_OPERANDS];
  size_t bytes[CAWB_OPERANDS]; /* that each of them spans */
  size_t nrefs;
} plan_call;

/* Begin with the options at index 1, whose keys end with NULL; 0 when nothing is to be done,
** as when the plan is only asked for its tunables. */
int plan_call_begin(plan_call *c, lua_State *L, const char *name, const char *const *keys);

/* The tensor under `key` as operand number `at`, or NULL if there is none and it is not
** `needed`. The one that is written to is read last, by plan_call_output. */
const cawb_tensor *plan_call_input(plan_call *c, const char *key, size_t at, int needed);
const cawb_tensor *plan_call_output(plan_call *c, const char *key, size_t at);

/* Bytes that the address of operand `at` is a multiple of. */
unsigned plan_call_align(const plan_call *c, size_t at);

/* float32, float16 or bfloat16. */
cawb_dtype plan_call_dtype(const plan_call *c, const char *key, const cawb_tensor *t);

/* How products are formed from factors of this type; "float32" where nothing is said. */
cawb_compute plan_call_compute(const plan_call *c, cawb_dtype t);

/* One of `words`, which end with NULL, by its number; -1 where nothing is said. */
int plan_call_word(const plan_call *c, const char *key, const char *const *words);
int plan_call_flag(const plan_call *c, const char *key);
double plan_call_number(const plan_call *c, const char *key, double fallback);
int64_t plan_call_count(const plan_call *c, const char *key, int64_t fallback, int64_t least);

/* A number for all of `n` dimensions, or a list of n. */
void plan_call_counts(const plan_call *c, const char *key, int64_t *out, int n, int64_t fallback,
                      int64_t least);

/* The option `workspace`, and memory for it as an operand. */
size_t plan_call_workspace(plan_call *c);

/* The step with its operands; its description begins with "kind". */
plan_step *plan_call_step(plan_call *c, cawb_step_kind kind);
void plan_call_describe(const plan_call *c, plan_step *s, const char *key, cJSON *value);

/* Push "{2, 3}". */
const char *plan_push_sizes(lua_State *L, const int64_t *sizes, int n);

#endif

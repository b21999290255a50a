/*
** plan.h - a candidate's plan, recorded. plan.lua runs once in a sealed state
** and only declares: fills, launches, scratch memory, tunables. What it declared
** is then bound to addresses and executed by a device any number of times.
** Every mistake in a plan is CAWB_ERR_CANDIDATE with a line and what to change.
*/
#ifndef CAWB_PLAN_PLAN_H
#define CAWB_PLAN_PLAN_H

#include <cjson/cJSON.h>

#include "gpu/device/device.h"
#include "gpu/ptx/kernels.h"
#include "gpu/plan/sandbox.h"
#include "base/tensor.h"

typedef struct cawb_plan cawb_plan;

/* What a plan may refer to. All borrowed for the length of the call. */
typedef struct cawb_plan_setting {
  const cJSON *inputs, *outputs;        /* arrays of tensor specs and plain values */
  const cJSON *params;                  /* array of tensor specs with "name" */
  const cawb_kernels *kernels;          /* NULL: launches are not checked nor kept */
  const cJSON *tunables;                /* chosen values by name, or NULL: defaults */
  unsigned threads_block;               /* the device's limits, */
  size_t shared_block;                  /*   from cawb_device_info */
  int no_libraries;                     /* 1: gemm and conv are refused */
  int modelled;                         /* 1: library calls take no workspace */
  size_t workspace;                     /* bytes for those that name none */
  cawb_sandbox_limits limits;
} cawb_plan_setting;

typedef enum cawb_plan_role {
  CAWB_PLAN_INPUT, CAWB_PLAN_OUTPUT, CAWB_PLAN_PARAM, CAWB_PLAN_SCRATCH
} cawb_plan_role;

typedef struct cawb_plan_tensor {
  cawb_tensor spec;
  cawb_plan_role role;
  cawb_addr addr;                       /* to be set by the caller before bind */
} cawb_plan_tensor;

typedef enum cawb_plan_phase { CAWB_PLAN_PREPARE, CAWB_PLAN_CALL } cawb_plan_phase;

/* Record `text`. */
cawb_status cawb_plan_new(cawb_plan **out, const char *text,
                          const cawb_plan_setting *setting, cawb_err *err);
void        cawb_plan_free(cawb_plan *p);

/*
** Run `text` only up to its tunables{...}, and return what that declares as
** [{"name":"block","values":[128,256]}], sorted by name; [] when it declares none.
*/
cawb_status cawb_plan_tunables(cJSON **out, const char *text,
                               const cawb_plan_setting *setting, cawb_err *err);

/* The tensors that it knows, inputs first. The caller writes their addresses... */
cawb_plan_tensor *cawb_plan_tensors(cawb_plan *p, size_t *count);
/* ...and has them entered into every step. */
void cawb_plan_bind(cawb_plan *p);

const cawb_step *cawb_plan_steps(const cawb_plan *p, cawb_plan_phase phase, size_t *count);

/*
** What makes the next call start from nothing: outputs and scratch filled with
** `pattern`, then the steps of prepare. Valid until the next reset, or free.
*/
cawb_status cawb_plan_reset(cawb_plan *p, uint32_t pattern, const cawb_step **steps,
                            size_t *count, cawb_err *err);

/* Whether a tensor outlives a call: scratch that prepare is given, but for a library's own room for work. */
int cawb_plan_lasts(const cawb_plan *p, size_t tensor);

/* What a device chose for the library calls of a phase, one for each step: for describe.
** CAWB_ERR_MEMORY at most. */
cawb_status cawb_plan_chose(cawb_plan *p, cawb_plan_phase phase, const cawb_choice *choices,
                            cawb_err *err);

/* The steps of a phase in words: [{"kernel","grid","block","shared","args"}, ...]; a
** library's call has "kind" ("gemm", "conv") and no "kernel".
** The caller's; NULL when out of memory. */
cJSON *cawb_plan_describe(const cawb_plan *p, cawb_plan_phase phase);

/* Everything that executing it elsewhere takes: {"tensors":[{"role","bytes"}], "prepare", "call":
** [{"kind":"launch","kernel","grid","block","cluster","shared","cooperative","dependent","args":hex,"refs":[[at,tensor,plus]]},
** {"kind":"fill","tensor","bytes","pattern"}, {"kind":"library"}]}; tensors count from 0. The caller's;
** NULL when out of memory. */
cJSON *cawb_plan_export(const cawb_plan *p);

#endif

/* module.h - a module: the kernels of one text of PTX, and its variables. */
#ifndef CAWB_SIM_READ_MODULE_H
#define CAWB_SIM_READ_MODULE_H

#include "sim/instructions/insn.h"
#include "sim/memory/device.h"

struct cawb_module {
  sim_device *device;
  sim_function *functions;      /* entries */
  cawb_addr *variables;         /* regions of the module's own variables */
  char **names;                 /* of each, as PTX spells it */
  size_t nvariables, variables_room, variables_bytes;
  unsigned char *initial;       /* values of those that kernels may store to: see variables.c */
};

/* ptx_parse.c */
cawb_status sim_module_parse(sim_device *d, const char *ptx, cawb_module **out, cawb_err *err);
void        sim_module_free(cawb_module *m);
sim_function *sim_module_find(const cawb_module *m, const char *name);

/* refuse.c: `out` is filled and cut to `room` */
#define SIM_ELSEWHERE "use a real one (--device cuda:0)"
#define SIM_UNKNOWN "not known to the simulated device; " SIM_ELSEWHERE
const char *sim_family(const char *what, size_t size);   /* "tensor-core instructions"; NULL: none */
void sim_refusal(char *out, size_t room, const char *what, size_t size);

#endif

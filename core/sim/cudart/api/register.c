/* register.c - what nvcc makes a program call before main, and when it ends. */
#include "sim/cudart/modules.h"

#include "sim/cudart/note.h"

/* What the program's own code points to; `data` is a fat binary. */
typedef struct wrapper {
  int magic, version;
  const void *data, *more;
} wrapper;

CUDART(void **, __cudaRegisterFatBinary, const wrapper *w) {
  cawb_cudart *rt = cawb_cudart_enter();
  cawb_cuda_module *m = cawb_modules_add(rt, w->data);
  cawb_cudart_leave(rt, m != NULL ? CAWB_CUDA_OK : CAWB_CUDA_MEMORY);
  return (void **)m;
}

CUDART(void, __cudaRegisterFatBinaryEnd, void **module) { (void)module; }
CUDART(void, __cudaUnregisterFatBinary, void **module) { (void)module; }     /* all end together, with the runtime */

CUDART(char, __cudaInitModule, void **module) {
  (void)module;
  return 1;
}

CUDART(void, __cudaRegisterFunction, void **module, const char *host, char *unused, const char *name, int limit, void *a,
       void *b, void *c, void *d, int *e) {
  cawb_cudart *rt = cawb_cudart_enter();
  (void)unused; (void)limit; (void)a; (void)b; (void)c; (void)d; (void)e;
  cawb_modules_add_kernel((cawb_cuda_module *)module, host, name);
  cawb_cudart_leave(rt, CAWB_CUDA_OK);
}

CUDART(void, __cudaRegisterVar, void **module, char *host, char *unused, const char *name, int is_extern, size_t size,
       int constant, int global) {
  cawb_cudart *rt = cawb_cudart_enter();
  (void)unused; (void)is_extern; (void)constant; (void)global;
  cawb_modules_add_variable((cawb_cuda_module *)module, host, name, size);
  cawb_cudart_leave(rt, CAWB_CUDA_OK);
}

CUDART(void, __cudaRegisterManagedVar, void **module, void **host, char *unused, const char *name, int is_extern,
       size_t size, int constant, int global) {
  cawb_cudart *rt = cawb_cudart_enter();
  (void)module; (void)host; (void)unused; (void)name; (void)is_extern; (void)size; (void)constant; (void)global;
  cawb_note_stop(rt, "code", "a __managed__ variable: use cudaMallocManaged, or a __device__ variable with cudaMemcpyToSymbol");
  cawb_cudart_leave(rt, CAWB_CUDA_OK);
}

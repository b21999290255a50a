/* driver.c - finds libcuda and resolves the table's functions by name. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WITHOUT_GPU "or use --device sim:h100"

/* The loader's own path first; then where installers and containers put it. */
static const char *const places[] = {
  "libcuda.so.1",
  "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
  "/usr/local/nvidia/lib64/libcuda.so.1",
  "/usr/lib64/libcuda.so.1",
  "/usr/lib/wsl/lib/libcuda.so.1",
  NULL
};

typedef struct symbol {
  const char *name;
  size_t offset;               /* of its pointer in cawb_cuda_driver */
} symbol;

#define SPELL(name) #name
#define SYMBOL(name) { SPELL(name), offsetof(cawb_cuda_driver, name) },
static const symbol symbols[] = { CAWB_CUDA_FUNCTIONS(SYMBOL) };

/*
** NODELETE: the driver starts threads of its own, so its code must stay mapped
** after the last dlclose.
*/
static void *open_library(const char *path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static cawb_status find_library(cawb_cuda_driver *cu, const char *path,
                                const char *who, cawb_err *err) {
  const char *only[] = { path, NULL };
  char broken[512] = "";       /* why a file that is there cannot be used */
  for (const char *const *p = path != NULL ? only : places; *p != NULL; p++) {
    cu->library = open_library(*p);
    if (cu->library != NULL) return CAWB_OK;
    const char *why = dlerror();
    if (**p == '/' && access(*p, F_OK) == 0 && why != NULL)
      snprintf(broken, sizeof broken, "%s", why);
  }
  if (broken[0] != '\0')
    return cawb_fail(err, CAWB_ERR_MISSING, "%s: the NVIDIA driver's library cannot be "
                     "loaded (%s): repair the driver, " WITHOUT_GPU, who, broken);
  return cawb_fail(err, CAWB_ERR_MISSING, "%s: no NVIDIA driver on this machine (%s not "
                   "found): install the driver, " WITHOUT_GPU, who,
                   path != NULL ? path : places[0]);
}

/* The older name measures the same; CUDA 12 drivers may have only that one. */
static const char *older_name(const char *name) {
  return strcmp(name, "cuEventElapsedTime_v2") == 0 ? "cuEventElapsedTime" : NULL;
}

static cawb_status resolve(cawb_cuda_driver *cu, const char *who, cawb_err *err) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *f = dlsym(cu->library, symbols[i].name);
    if (f == NULL && older_name(symbols[i].name) != NULL)
      f = dlsym(cu->library, older_name(symbols[i].name));
    if (f == NULL)
      return cawb_fail(err, CAWB_ERR_MISSING, "%s: the NVIDIA driver has no %s, it is older "
                       "than CUDA 12: update the driver, " WITHOUT_GPU, who, symbols[i].name);
    memcpy((char *)cu + symbols[i].offset, &f, sizeof f);
  }
  return CAWB_OK;
}

static cawb_status start(cawb_cuda_driver *cu, const char *who, cawb_err *err) {
  CUresult r = cu->cuInit(0);
  if (r == CUDA_SUCCESS) return CAWB_OK;
  if (r == CUDA_ERROR_NO_DEVICE)
    return cawb_cuda_driver_fail(cu, r, err, CAWB_ERR_MISSING,
      "%s: the NVIDIA driver is there but shows no GPU (see nvidia-smi and "
      "CUDA_VISIBLE_DEVICES), " WITHOUT_GPU, who);
  return cawb_cuda_driver_fail(cu, r, err, CAWB_ERR_MISSING,
    "%s: the NVIDIA driver does not start (see nvidia-smi), " WITHOUT_GPU, who);
}

cawb_status cawb_cuda_driver_open(cawb_cuda_driver *cu, const char *path,
                                  const char *who, cawb_err *err) {
  memset(cu, 0, sizeof *cu);
  cawb_status s = find_library(cu, path, who, err);
  if (s == CAWB_OK) s = resolve(cu, who, err);
  if (s == CAWB_OK) s = start(cu, who, err);
  if (s != CAWB_OK) cawb_cuda_driver_close(cu);
  return s;
}

void cawb_cuda_driver_close(cawb_cuda_driver *cu) {
  if (cu->library != NULL) dlclose(cu->library);
  memset(cu, 0, sizeof *cu);
}

cawb_status cawb_cuda_driver_fail(const cawb_cuda_driver *cu, CUresult result,
                                  cawb_err *err, cawb_status code, const char *fmt, ...) {
  if (err == NULL) return code;
  va_list ap;
  va_start(ap, fmt);
  err->code = code;
  vsnprintf(err->msg, sizeof err->msg, fmt, ap);
  va_end(ap);
  const char *name = NULL, *text = NULL;
  cu->cuGetErrorName(result, &name);      /* both leave NULL for a code that is */
  cu->cuGetErrorString(result, &text);    /* newer than this driver */
  size_t used = strlen(err->msg);
  if (name == NULL)
    snprintf(err->msg + used, sizeof err->msg - used, ": CUDA error %d", (int)result);
  else
    snprintf(err->msg + used, sizeof err->msg - used, ": %s, %s", name,
             text != NULL ? text : "no description");
  return code;
}

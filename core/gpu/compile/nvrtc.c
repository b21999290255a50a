/*
** nvrtc.c - see nvrtc.h. The only file that includes nvrtc.h; nothing of
** NVRTC is linked. The builtins library, which NVRTC opens by its bare name, is opened
** first from the folder that NVRTC came from, so the loader already has it. The
** library stays in the process when closed: it does not give back all it took, and
** precompiled headers are bound to the address of its heap.
*/
#include "gpu/compile/nvrtc.h"

#include <dirent.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cawb_nvrtc {
  cawb_found found;
  void *library, *builtins;
  int major, minor;
  __typeof__(nvrtcVersion) *version;
  __typeof__(nvrtcGetErrorString) *error_string;
  __typeof__(nvrtcCreateProgram) *create;
  __typeof__(nvrtcDestroyProgram) *destroy;
  __typeof__(nvrtcCompileProgram) *compile;
  __typeof__(nvrtcGetProgramLogSize) *log_size;
  __typeof__(nvrtcGetProgramLog) *log;
  __typeof__(nvrtcGetPTXSize) *ptx_size;
  __typeof__(nvrtcGetPTX) *ptx;
  __typeof__(nvrtcGetCUBINSize) *cubin_size;
  __typeof__(nvrtcGetCUBIN) *cubin;
};

/* ------------------------------------------------------------------ opening */

/* Open libnvrtc-builtins.so.* beside `path`. Absent: NVRTC will say so itself. */
static void *open_builtins(const char *path) {
  static const char stem[] = "libnvrtc-builtins.so.";
  char folder[4096], file[8192];
  void *handle = NULL;
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return NULL;
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  DIR *d = opendir(folder);
  if (d == NULL) return NULL;
  for (struct dirent *e; handle == NULL && (e = readdir(d)) != NULL;) {
    if (strncmp(e->d_name, stem, sizeof stem - 1) != 0) continue;
    snprintf(file, sizeof file, "%s/%s", folder, e->d_name);
    handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  closedir(d);
  return handle;
}

static cawb_status bind(cawb_nvrtc *n, cawb_err *err) {
  const struct { const char *name; void *slot; } symbols[] = {
    { "nvrtcVersion", &n->version }, { "nvrtcGetErrorString", &n->error_string },
    { "nvrtcCreateProgram", &n->create }, { "nvrtcDestroyProgram", &n->destroy },
    { "nvrtcCompileProgram", &n->compile }, { "nvrtcGetProgramLogSize", &n->log_size },
    { "nvrtcGetProgramLog", &n->log }, { "nvrtcGetPTXSize", &n->ptx_size },
    { "nvrtcGetPTX", &n->ptx }, { "nvrtcGetCUBINSize", &n->cubin_size },
    { "nvrtcGetCUBIN", &n->cubin }
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *address = dlsym(n->library, symbols[i].name);
    if (address == NULL)
      return cawb_fail(err, CAWB_ERR_MISSING, "%s has no %s: it is too old, install CUDA 12.0 "
                       "or later", n->found.path, symbols[i].name);
    memcpy(symbols[i].slot, &address, sizeof address);
  }
  return CAWB_OK;
}

static cawb_status load(cawb_nvrtc *n, cawb_err *err) {
  n->builtins = open_builtins(n->found.path);
  n->library = dlopen(n->found.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (n->library == NULL)
    return cawb_fail(err, CAWB_ERR_MISSING, "%s (from %s) cannot be loaded: %s",
                     n->found.path, n->found.origin, dlerror());
  cawb_status code = bind(n, err);
  if (code != CAWB_OK) return code;
  if (n->version(&n->major, &n->minor) != NVRTC_SUCCESS || n->major < 12)
    return cawb_fail(err, CAWB_ERR_MISSING, "%s is NVRTC %d.%d: install CUDA 12.0 or later",
                     n->found.path, n->major, n->minor);
  return CAWB_OK;
}

cawb_status cawb_nvrtc_open(cawb_nvrtc **out, const cawb_places *places, cawb_err *err) {
  *out = NULL;
  cawb_nvrtc *n = calloc(1, sizeof *n);
  if (n == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the compiler");
  cawb_status code = cawb_locate_library(&n->found, places, "libnvrtc.so", err);
  if (code == CAWB_OK) code = load(n, err);
  if (code == CAWB_OK) *out = n;
  else cawb_nvrtc_close(n);
  return code;
}

void cawb_nvrtc_close(cawb_nvrtc *n) {
  if (n == NULL) return;
  if (n->library != NULL) dlclose(n->library);
  if (n->builtins != NULL) dlclose(n->builtins);
  free(n);
}

void cawb_nvrtc_version(const cawb_nvrtc *n, int *major, int *minor) {
  *major = n->major;
  *minor = n->minor;
}

const cawb_found *cawb_nvrtc_found(const cawb_nvrtc *n) { return &n->found; }

/* ---------------------------------------------------------------- compiling */

/*
** Fetch one of NVRTC's results with its pair of getters. There is one more byte
** than NVRTC asks for, so that a text is terminated whatever NVRTC did.
*/
static char *fetch(nvrtcProgram p, nvrtcResult (*ask)(nvrtcProgram, size_t *),
                   nvrtcResult (*get)(nvrtcProgram, char *), size_t *size) {
  *size = 0;
  if (ask(p, size) != NVRTC_SUCCESS) *size = 0;
  char *data = calloc(1, *size + 1);
  if (data != NULL && *size > 0 && get(p, data) != NVRTC_SUCCESS) *size = 0;
  return data;
}

static cawb_status collect(cawb_nvrtc *n, nvrtcProgram p, nvrtcResult result,
                           cawb_nvrtc_output *out, cawb_err *err) {
  size_t size;
  out->log = fetch(p, n->log_size, n->log, &size);
  if (out->log == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the log");
  if (result != NVRTC_SUCCESS) return CAWB_OK;
  out->ptx = fetch(p, n->ptx_size, n->ptx, &size);
  out->cubin = fetch(p, n->cubin_size, n->cubin, &out->cubin_size);
  if (out->ptx == NULL || out->cubin == NULL)
    return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the compiled code");
  if (size == 0 || out->cubin_size == 0)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "NVRTC %d.%d gave no cubin or no PTX: name a "
                     "real architecture such as sm_90", n->major, n->minor);
  return CAWB_OK;
}

static cawb_status judge(cawb_nvrtc *n, nvrtcResult result, cawb_err *err) {
  const char *why = n->error_string(result);
  switch (result) {
    case NVRTC_SUCCESS: return CAWB_OK;
    case NVRTC_ERROR_COMPILATION:
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "the source does not compile");
    case NVRTC_ERROR_OUT_OF_MEMORY:
      return cawb_fail(err, CAWB_ERR_MEMORY, "NVRTC ran out of memory");
    case NVRTC_ERROR_INVALID_OPTION:
      return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "NVRTC %d.%d does not accept these options",
                       n->major, n->minor);
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      return cawb_fail(err, CAWB_ERR_MISSING, "%s: libnvrtc-builtins is not beside %s: "
                       "reinstall that package", why, n->found.path);
    default:
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "NVRTC gave up on the source: %s", why);
  }
}

cawb_status cawb_nvrtc_compile(cawb_nvrtc *n, const char *source, const char *name,
                               const char *const *options, int count,
                               cawb_nvrtc_output *out, cawb_err *err) {
  nvrtcProgram p = NULL;
  memset(out, 0, sizeof *out);
  nvrtcResult result = n->create(&p, source, name, 0, NULL, NULL);
  if (result != NVRTC_SUCCESS)
    return cawb_fail(err, CAWB_ERR_MEMORY, "NVRTC cannot start: %s", n->error_string(result));
  result = n->compile(p, count, options);
  cawb_status code = collect(n, p, result, out, err);
  n->destroy(&p);
  return code == CAWB_OK ? judge(n, result, err) : code;
}

void cawb_nvrtc_output_free(cawb_nvrtc_output *out) {
  free(out->log);
  free(out->ptx);
  free(out->cubin);
  memset(out, 0, sizeof *out);
}

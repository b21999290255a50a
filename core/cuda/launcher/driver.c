/* driver.c - see driver.h. */
#include "cuda/launcher/driver.h"

#include <dlfcn.h>
#include <pthread.h>

typedef struct entry { const char *name; size_t at; } entry;

#define ENTRY(field, name) { name, offsetof(driver, field) }

static const entry needed[] = {
  ENTRY(get_context, "cuCtxGetCurrent"), ENTRY(load, "cuModuleLoadData"), ENTRY(unload, "cuModuleUnload"),
  ENTRY(find, "cuModuleGetFunction"), ENTRY(set, "cuFuncSetAttribute"), ENTRY(launch, "cuLaunchKernelEx"),
  ENTRY(fill, "cuMemsetD32Async"), ENTRY(name, "cuGetErrorName"), ENTRY(is_capturing, "cuStreamIsCapturing"),
};
static const entry early[] = {
  ENTRY(get_device, "cuCtxGetDevice"), ENTRY(about_device, "cuDeviceGetAttribute"), ENTRY(add_edges, "cuGraphAddDependencies_v2"),
};
static const entry graphs[] = {
  ENTRY(graph_new, "cuGraphCreate"), ENTRY(graph_free, "cuGraphDestroy"), ENTRY(add_kernel, "cuGraphAddKernelNode"),
  ENTRY(add_memset, "cuGraphAddMemsetNode"), ENTRY(set_attribute, "cuGraphKernelNodeSetAttribute"),
  ENTRY(instantiate, "cuGraphInstantiateWithFlags"), ENTRY(set_kernel, "cuGraphExecKernelNodeSetParams"),
  ENTRY(set_memset, "cuGraphExecMemsetNodeSetParams"), ENTRY(graph_launch, "cuGraphLaunch"), ENTRY(exec_free, "cuGraphExecDestroy"),
};

static driver found;
static int usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int take(void *library, const entry *list, size_t n) {
  int all = 1;
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(library, list[i].name);
    *(void **)((char *)&found + list[i].at) = f;
    all = all && f != NULL;
  }
  return all;
}

static void load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return;
  usable = take(library, needed, sizeof needed / sizeof *needed);
  found.has_early = take(library, early, sizeof early / sizeof *early);
  found.has_graphs = take(library, graphs, sizeof graphs / sizeof *graphs);
}

const driver *cawb_launcher_driver(void) {
  pthread_once(&once, load);
  return usable ? &found : NULL;
}

/*
** launcher.c - runs the plans of a promoted operator on a stream of the caller's. Made by cawb
** promote; cc -O2 -shared -fPIC -o launcher.so launcher.c -ldl. Of the CUDA driver it uses
** what it loads by name, and no header. It allocates nothing on the GPU and never waits, so
** it may be captured into a graph after its first call.
*/
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { unsigned at, tensor; size_t plus; } ref;
typedef struct {
  const char *kernel;               /* NULL: fill a tensor */
  unsigned grid[3], block[3], cluster[3];
  size_t shared;                    /* bytes; of a fill its words */
  int cooperative;                  /* all blocks are under way at once */
  int dependent;                    /* it may begin while the launch before it ends */
  const unsigned char *args;
  size_t args_size;
  const ref *refs;
  unsigned nrefs;                   /* of a fill: the tensor */
  uint32_t pattern;
} step;
typedef struct { unsigned module; const step *steps; unsigned nsteps; } plan;

@DATA@

enum { PLANS = sizeof plans / sizeof *plans, MODULES = sizeof modules / sizeof *modules, CONTEXTS = 32,
       MOST_ARGS = 4096, MAX_DYNAMIC_SHARED = 8, NON_PORTABLE_CLUSTER = 14, CLUSTER_DIMENSION = 4, COOPERATIVE = 2, PROGRAMMATIC_SERIALIZATION = 6 };

/* As the driver API has them. */
typedef struct { int id; char pad[4]; union { char bytes[64]; unsigned dim[3]; } value; } attribute;
typedef struct { unsigned grid[3], block[3], shared; void *stream; attribute *attrs; unsigned nattrs; } config;

static struct {
  int (*get_context)(void **);
  int (*load)(void **, const void *);
  int (*find)(void **, void *, const char *);
  int (*set)(void *, int, int);
  int (*launch)(const config *, void *, void **, void **);
  int (*fill)(unsigned long long, unsigned, size_t, void *);
  int (*name)(int, const char **);
} cuda;

static struct { void *context, *modules[MODULES]; } loaded[CONTEXTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fail(char *said, size_t room, const char *what, int code) {
  const char *name = "";
  if (code != 0 && cuda.name != NULL) cuda.name(code, &name);
  snprintf(said, room, "%s%s%s", what, *name ? ": " : "", name);
  return code != 0 ? code : -1;
}

static int open_driver(void) {
  if (cuda.name != NULL) return 1;
  void *h = dlopen("libcuda.so.1", RTLD_NOW);
  if (h == NULL) return 0;
  *(void **)&cuda.get_context = dlsym(h, "cuCtxGetCurrent");
  *(void **)&cuda.load = dlsym(h, "cuModuleLoadData");
  *(void **)&cuda.find = dlsym(h, "cuModuleGetFunction");
  *(void **)&cuda.set = dlsym(h, "cuFuncSetAttribute");
  *(void **)&cuda.launch = dlsym(h, "cuLaunchKernelEx");
  *(void **)&cuda.fill = dlsym(h, "cuMemsetD32Async");
  *(void **)&cuda.name = dlsym(h, "cuGetErrorName");
  return cuda.get_context && cuda.load && cuda.find && cuda.set && cuda.launch && cuda.fill && cuda.name;
}

/* The module of a plan in the current context. */
static int module_of(void **out, unsigned which, char *said, size_t room) {
  void *context = NULL;
  if (!open_driver()) return fail(said, room, "libcuda.so.1 cannot be opened, or is too old", 0);
  int rc = cuda.get_context(&context);
  if (rc != 0 || context == NULL) return fail(said, room, "no CUDA context is current", rc);
  unsigned i = 0;
  while (i < CONTEXTS && loaded[i].context != NULL && loaded[i].context != context) i++;
  if (i == CONTEXTS) return fail(said, room, "too many CUDA contexts", 0);
  loaded[i].context = context;
  if (loaded[i].modules[which] == NULL) {
    rc = cuda.load(&loaded[i].modules[which], modules[which]);
    if (rc != 0) return fail(said, room, "the kernels cannot be loaded", rc);
  }
  *out = loaded[i].modules[which];
  return 0;
}

static int launch(const step *s, int dependent, void *module, void *stream, void **tensors, char *said, size_t room) {
  unsigned char args[MOST_ARGS];
  size_t size = s->args_size;
  void *function;
  if (size > sizeof args) return fail(said, room, "too many arguments", 0);
  memcpy(args, s->args, size);
  for (unsigned i = 0; i < s->nrefs; i++) {
    uint64_t address = (uint64_t)(uintptr_t)tensors[s->refs[i].tensor] + s->refs[i].plus;
    memcpy(args + s->refs[i].at, &address, sizeof address);
  }
  int rc = cuda.find(&function, module, s->kernel);
  if (rc == 0 && s->shared > 0) rc = cuda.set(function, MAX_DYNAMIC_SHARED, (int)s->shared);
  unsigned blocks = s->cluster[0] * s->cluster[1] * s->cluster[2];
  if (rc == 0 && blocks > 8) rc = cuda.set(function, NON_PORTABLE_CLUSTER, 1);
  if (rc != 0) return fail(said, room, s->kernel, rc);
  attribute a[3];
  unsigned n = 0;
  memset(a, 0, sizeof a);
  if (blocks > 1) {
    a[n].id = CLUSTER_DIMENSION;
    memcpy(a[n++].value.dim, s->cluster, sizeof s->cluster);
  }
  if (s->cooperative) {
    a[n].id = COOPERATIVE;
    a[n++].value.dim[0] = 1;
  }
  if (dependent) {
    a[n].id = PROGRAMMATIC_SERIALIZATION;
    a[n++].value.dim[0] = 1;
  }
  config c = { .shared = (unsigned)s->shared, .stream = stream, .attrs = a, .nattrs = n };
  memcpy(c.grid, s->grid, sizeof c.grid);
  memcpy(c.block, s->block, sizeof c.block);
  void *extra[] = { (void *)1, args, (void *)2, &size, NULL };   /* the block, its size, the end */
  rc = cuda.launch(&c, function, NULL, extra);
  return rc == 0 ? 0 : fail(said, room, s->kernel, rc);
}

/* Run `count` steps of plan `which`, from step `first` on, on `stream`; 0, or a code with words in `said`. */
int cawb_promoted_launch(int which, unsigned first, unsigned count, void *stream, void **tensors, char *said,
                         size_t room) {
  void *module = NULL;
  if (which < 0 || which >= (int)PLANS) return fail(said, room, "there is no such plan", 0);
  const plan *p = &plans[which];
  if (first > p->nsteps || count > p->nsteps - first) return fail(said, room, "there are no such steps", 0);
  pthread_mutex_lock(&lock);
  int rc = module_of(&module, p->module, said, room);
  pthread_mutex_unlock(&lock);
  for (unsigned i = first; rc == 0 && i < first + count; i++) {
    const step *s = &p->steps[i];
    if (s->kernel != NULL) rc = launch(s, s->dependent && i > first, module, stream, tensors, said, room);
    else {
      rc = cuda.fill((unsigned long long)(uintptr_t)tensors[s->nrefs], s->pattern, s->shared, stream);
      if (rc != 0) rc = fail(said, room, "a fill", rc);
    }
  }
  return rc;
}

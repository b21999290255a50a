/* launcher.c - see launcher.h. */
#include "cuda/launcher/launcher.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launcher/driver.h"

enum { MOST_ARGS = 32764, PORTABLE_CLUSTER = 8 };    /* bytes, blocks: CUDA C++ programming guide */

struct cawb_launcher {
  const cawb_launcher_step *steps;
  size_t n;
  void *module, **functions;         /* by step; NULL for a fill */
  pthread_mutex_t lock;
  unsigned char *args;               /* parameter blocks of the last graph launch, one behind the other */
  size_t *at;                        /* of each step in `args` */
  unsigned char *fresh;              /* room for one block */
  void *graph, *exec, **nodes;       /* the graph, where there is one: an executable one is changed by the nodes of its source */
  size_t first, count;               /* its steps */
  int no_graph;                      /* none can be made */
  int early;                         /* kernels may begin while the one before them ends */
  uint64_t made, changed, started, begun_early;
};

static int fail(const driver *cu, char *said, size_t room, const char *what, int code) {
  const char *name = "";
  if (code != 0 && cu != NULL) cu->name(code, &name);
  snprintf(said, room, "%s%s%s", what, name != NULL && *name ? ": " : "", name != NULL ? name : "");
  return code != 0 ? code : -1;
}

static unsigned blocks_of(const cawb_launcher_step *s) { return s->cluster[0] * s->cluster[1] * s->cluster[2]; }

/* ---- a package ---- */

static int ready(cawb_launcher *p, size_t i, const driver *cu, char *said, size_t room) {
  const cawb_launcher_step *s = &p->steps[i];
  if (s->args_size > MOST_ARGS) return fail(NULL, said, room, "a kernel has too many arguments", 0);
  if (s->kernel == NULL) return 0;
  int rc = cu->find(&p->functions[i], p->module, s->kernel);
  /* the default, 48 KiB, is for a kernel's own __shared__ variables too */
  if (rc == 0 && s->shared > 0) rc = cu->set(p->functions[i], MAX_DYNAMIC_SHARED, (int)s->shared);
  if (rc == 0 && blocks_of(s) > PORTABLE_CLUSTER) rc = cu->set(p->functions[i], NON_PORTABLE_CLUSTER, 1);
  return rc == 0 ? 0 : fail(cu, said, room, s->kernel, rc);
}

/* Drivers from CUDA 12.3 on have edges of graphs for that, too. */
static int may_begin_early(const driver *cu) {
  int device = 0, major = 0;
  return cu->has_early && cu->get_device(&device) == 0 && cu->about_device(&major, COMPUTE_CAPABILITY_MAJOR, device) == 0 &&
         major >= LEAST_DEPENDENT;
}

static int make_room(cawb_launcher *p) {
  size_t size = 1, largest = 1;
  p->functions = calloc(p->n + 1, sizeof *p->functions);
  p->nodes = calloc(p->n + 1, sizeof *p->nodes);
  p->at = calloc(p->n + 1, sizeof *p->at);
  if (p->at == NULL) return 0;
  for (size_t i = 0; i < p->n; i++) {
    size_t own = p->steps[i].kernel != NULL ? p->steps[i].args_size : sizeof(uint64_t);
    p->at[i] = size;
    size += own;
    largest = own > largest ? own : largest;
  }
  p->args = calloc(1, size);
  p->fresh = calloc(1, largest);
  return p->functions != NULL && p->nodes != NULL && p->args != NULL && p->fresh != NULL;
}

int cawb_launcher_new(cawb_launcher **out, const void *image, const cawb_launcher_step *steps, size_t n, char *said, size_t room) {
  const driver *cu = cawb_launcher_driver();
  void *context = NULL;
  *out = NULL;
  if (cu == NULL) return fail(NULL, said, room, "libcuda.so.1 cannot be opened, or is older than CUDA 11.8", 0);
  int rc = cu->get_context(&context);
  if (rc != 0 || context == NULL) return fail(cu, said, room, "no CUDA context is current", rc);
  cawb_launcher *p = calloc(1, sizeof *p);
  if (p == NULL) return fail(NULL, said, room, "out of memory", 0);
  p->steps = steps;
  p->n = n;
  p->early = may_begin_early(cu);
  pthread_mutex_init(&p->lock, NULL);
  rc = make_room(p) ? 0 : fail(NULL, said, room, "out of memory", 0);
  if (rc == 0 && (rc = cu->load(&p->module, image)) != 0) fail(cu, said, room, "the kernels cannot be loaded", rc);
  for (size_t i = 0; rc == 0 && i < n; i++) rc = ready(p, i, cu, said, room);
  if (rc == 0) *out = p;
  else cawb_launcher_free(p);
  return rc;
}

static void drop_graph(cawb_launcher *p, const driver *cu) {
  if (p->exec != NULL) cu->exec_free(p->exec);
  if (p->graph != NULL) cu->graph_free(p->graph);
  p->exec = p->graph = NULL;
}

void cawb_launcher_free(cawb_launcher *p) {
  if (p == NULL) return;
  const driver *cu = cawb_launcher_driver();
  drop_graph(p, cu);
  if (p->module != NULL) cu->unload(p->module);
  pthread_mutex_destroy(&p->lock);
  free(p->functions);
  free(p->nodes);
  free(p->at);
  free(p->args);
  free(p->fresh);
  free(p);
}

void cawb_launcher_counts(cawb_launcher *p, uint64_t counts[4]) {
  counts[0] = p->made;
  counts[1] = p->changed;
  counts[2] = p->started;
  counts[3] = p->begun_early;
}

/* ---- one step after the other ---- */

/* The parameter block of a step with these addresses; of a fill, the address. */
static void fill_block(unsigned char *block, const cawb_launcher_step *s, const uint64_t *tensors) {
  if (s->kernel == NULL) {
    memcpy(block, &tensors[s->tensor], sizeof *tensors);
    return;
  }
  memcpy(block, s->args, s->args_size);
  for (uint64_t i = 0; i < s->nrefs; i++) {
    uint64_t address = tensors[s->refs[i].tensor] + s->refs[i].plus;
    memcpy(block + s->refs[i].at, &address, sizeof address);
  }
}

enum { ATTRIBUTES = 3 };

static unsigned attributes_of(const cawb_launcher_step *s, attribute out[ATTRIBUTES]) {
  unsigned n = 0;
  memset(out, 0, ATTRIBUTES * sizeof *out);
  if (blocks_of(s) > 1) {
    out[n].id = CLUSTER_DIMENSION;
    memcpy(out[n++].value.dim, s->cluster, sizeof s->cluster);
  }
  if (s->cooperative) {
    out[n].id = COOPERATIVE;
    out[n++].value.number = 1;
  }
  return n;
}

/* Whether a kernel may begin while the one before it ends: one of ours, too, among these steps. What a caller has on the stream is not known. */
static int begins_early(const cawb_launcher *p, size_t i, size_t first) {
  return p->early && p->steps[i].dependent && i > first && p->steps[i - 1].kernel != NULL;
}

static int start(cawb_launcher *p, size_t i, size_t first, const driver *cu, void *stream, const uint64_t *tensors) {
  const cawb_launcher_step *s = &p->steps[i];
  if (s->kernel == NULL) return s->bytes == 0 ? 0 : cu->fill(tensors[s->tensor], s->pattern, (size_t)s->bytes / 4, stream);
  attribute attrs[ATTRIBUTES];
  size_t size = (size_t)s->args_size;
  config c = { .shared = s->shared, .stream = stream, .attrs = attrs, .nattrs = attributes_of(s, attrs) };
  if (begins_early(p, i, first)) {
    attrs[c.nattrs].id = PROGRAMMATIC_SERIALIZATION;
    attrs[c.nattrs++].value.number = 1;
    p->begun_early++;
  }
  memcpy(c.grid, s->grid, sizeof c.grid);
  memcpy(c.block, s->block, sizeof c.block);
  fill_block(p->fresh, s, tensors);
  void *extra[] = { (void *)ARGUMENTS_BUFFER, p->fresh, (void *)ARGUMENTS_SIZE, &size, (void *)ARGUMENTS_END };
  p->started++;
  return cu->launch(&c, p->functions[i], NULL, size != 0 ? extra : NULL);
}

static int start_all(cawb_launcher *p, size_t first, size_t count, const driver *cu, void *stream, const uint64_t *tensors, char *said,
                     size_t room) {
  for (size_t i = first; i < first + count; i++) {
    int rc = start(p, i, first, cu, stream, tensors);
    if (rc != 0) return fail(cu, said, room, p->steps[i].kernel != NULL ? p->steps[i].kernel : "a fill", rc);
  }
  return 0;
}

/* ---- as a graph ---- */

static unsigned char *block_of(cawb_launcher *p, size_t i) { return p->args + p->at[i]; }

static size_t block_size(const cawb_launcher_step *s) { return s->kernel != NULL ? (size_t)s->args_size : sizeof(uint64_t); }

static memset_node memset_of(const cawb_launcher_step *s, const unsigned char *block) {
  memset_node m = { .value = s->pattern, .element = 4, .width = (size_t)s->bytes / 4, .height = 1 };
  memcpy(&m.address, block, sizeof m.address);
  return m;
}

/* `extra` and `size` have to live as long as the node's description. */
static kernel_node kernel_of(cawb_launcher *p, size_t i, void *extra[5], size_t *size) {
  const cawb_launcher_step *s = &p->steps[i];
  kernel_node k = { .function = p->functions[i], .shared = s->shared, .extra = extra };
  memcpy(k.grid, s->grid, sizeof k.grid);
  memcpy(k.block, s->block, sizeof k.block);
  *size = (size_t)s->args_size;
  extra[0] = (void *)ARGUMENTS_BUFFER;
  extra[1] = block_of(p, i);
  extra[2] = (void *)ARGUMENTS_SIZE;
  extra[3] = size;
  extra[4] = (void *)ARGUMENTS_END;
  return k;
}

/* The edge by which a kernel begins once every block of the one before it has said so or ended. */
static int add_early_edge(const driver *cu, void *graph, const void *before, const void *node) {
  enum { PROGRAMMATIC = 1 };                        /* CU_GRAPH_KERNEL_NODE_PORT_, CU_GRAPH_DEPENDENCY_TYPE_ */
  const edge how = { .from_port = PROGRAMMATIC, .type = PROGRAMMATIC };
  return cu->add_edges(graph, &before, &node, &how, 1);
}

static int add_node(cawb_launcher *p, size_t i, const driver *cu, void *graph, const void *before) {
  const cawb_launcher_step *s = &p->steps[i];
  int early = before != NULL && begins_early(p, i, p->first);
  const void *const *after = before != NULL && !early ? &before : NULL;
  size_t nafter = after != NULL;
  if (s->kernel == NULL) {
    void *context = NULL;
    memset_node m = memset_of(s, block_of(p, i));
    int rc = cu->get_context(&context);
    return rc != 0 ? rc : cu->add_memset(&p->nodes[i], graph, after, nafter, &m, context);
  }
  void *extra[5];
  size_t size;
  attribute attrs[ATTRIBUTES];
  kernel_node k = kernel_of(p, i, extra, &size);
  if (size == 0) k.extra = NULL;
  unsigned n = attributes_of(s, attrs);
  int rc = cu->add_kernel(&p->nodes[i], graph, after, nafter, &k);
  for (unsigned a = 0; rc == 0 && a < n; a++) rc = cu->set_attribute(p->nodes[i], attrs[a].id, &attrs[a].value);
  if (rc == 0 && early) rc = add_early_edge(cu, graph, before, p->nodes[i]);
  p->begun_early += rc == 0 && early;
  return rc;
}

/* One node behind the other, as a stream has them. */
static int make_graph(cawb_launcher *p, size_t first, size_t count, const driver *cu, const uint64_t *tensors) {
  void *before = NULL;
  int rc = cu->graph_new(&p->graph, 0);
  p->first = first;
  p->count = count;
  for (size_t i = first; rc == 0 && i < first + count; i++) {
    fill_block(block_of(p, i), &p->steps[i], tensors);
    if (p->steps[i].kernel == NULL && p->steps[i].bytes == 0) continue;
    rc = add_node(p, i, cu, p->graph, before);
    before = p->nodes[i];
  }
  if (rc == 0) rc = cu->instantiate(&p->exec, p->graph, 0);
  p->made += rc == 0;
  return rc;
}

/* Nodes whose addresses are others than at the last launch. */
static int update_graph(cawb_launcher *p, const driver *cu, const uint64_t *tensors) {
  int rc = 0;
  for (size_t i = p->first; rc == 0 && i < p->first + p->count; i++) {
    const cawb_launcher_step *s = &p->steps[i];
    fill_block(p->fresh, s, tensors);
    if (p->nodes[i] == NULL || memcmp(p->fresh, block_of(p, i), block_size(s)) == 0) continue;
    memcpy(block_of(p, i), p->fresh, block_size(s));
    p->changed++;
    if (s->kernel == NULL) {
      void *context = NULL;
      memset_node m = memset_of(s, block_of(p, i));
      rc = cu->get_context(&context);
      if (rc == 0) rc = cu->set_memset(p->exec, p->nodes[i], &m, context);
    } else {
      void *extra[5];
      size_t size;
      kernel_node k = kernel_of(p, i, extra, &size);
      rc = cu->set_kernel(p->exec, p->nodes[i], &k);
    }
  }
  return rc;
}

/* 0 where the graph was launched. What fails before its launch has started nothing. */
static int run_graph(cawb_launcher *p, size_t first, size_t count, const driver *cu, void *stream, const uint64_t *tensors) {
  int rc = p->exec == NULL ? make_graph(p, first, count, cu, tensors) : p->first == first && p->count == count ? update_graph(p, cu, tensors) : -1;
  if (rc == 0) rc = cu->graph_launch(p->exec, stream);
  return rc;
}

/* The same, each kernel behind the end of the one before it. */
static int run_full_graph(cawb_launcher *p, const driver *cu, void *stream, const uint64_t *tensors) {
  drop_graph(p, cu);
  p->early = 0;
  return run_graph(p, p->first, p->count, cu, stream, tensors);
}

static int may_graph(cawb_launcher *p, const driver *cu, void *stream) {
  int capturing = 0;
  if (p->no_graph || !cu->has_graphs) return 0;
  return cu->is_capturing(stream, &capturing) == 0 && capturing == 0;
}

int cawb_launcher_run(cawb_launcher *p, size_t first, size_t count, int graph, void *stream, const uint64_t *tensors, char *said,
                      size_t room) {
  const driver *cu = cawb_launcher_driver();
  if (first > p->n || count > p->n - first) return fail(NULL, said, room, "there are no such steps", 0);
  pthread_mutex_lock(&p->lock);
  int rc = -1;
  if (graph && may_graph(p, cu, stream)) {
    rc = run_graph(p, first, count, cu, stream, tensors);
    if (rc != 0 && p->early && p->first == first && p->count == count) rc = run_full_graph(p, cu, stream, tensors);
    p->no_graph = rc != 0;
  }
  if (rc != 0) rc = start_all(p, first, count, cu, stream, tensors, said, room);
  pthread_mutex_unlock(&p->lock);
  return rc;
}

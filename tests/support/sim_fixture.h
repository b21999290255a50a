/*
** sim_fixture.h - for tests of the simulated device: a device with a module of
** tests/sim/ptx on it, arguments packed as PTX lays them out, one launch in a line.
*/
#ifndef CAWB_TESTS_SIM_FIXTURE_H
#define CAWB_TESTS_SIM_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim_figures.h"

typedef struct sim_fixture {
  cawb_device *d;
  cawb_module *m;
  cawb_err err;
  cawb_report report;
  unsigned char args[512];
  size_t args_size;
} sim_fixture;

/* As the build compiled it; to be freed. */
static inline char *fixture_text(const char *file) {
  char path[1024], *text;
  size_t size;
  cawb_err err;
  snprintf(path, sizeof path, "%s/%s", CAWB_PTX, file);
  if (cawb_slurp(&text, &size, path, &err) == CAWB_OK) return text;
  fprintf(stderr, "%s\n", err.msg);
  exit(1);
}

static inline void fixture_load(sim_fixture *x, const char *file) {
  char *ptx = fixture_text(file);
  cawb_image image = { .ptx = ptx };
  if (cawb_device_load(x->d, &image, &x->m, &x->err) != CAWB_OK) {
    fprintf(stderr, "%s: %s\n", file, x->err.msg);
    exit(1);
  }
  free(ptx);
}

static inline void fixture_open(sim_fixture *x, const char *file) {
  memset(x, 0, sizeof *x);
  if (open_h100(&x->d, &x->err) != CAWB_OK) {
    fprintf(stderr, "%s\n", x->err.msg);
    exit(1);
  }
  fixture_load(x, file);
}

static inline void fixture_close(sim_fixture *x) {
  cawb_device_unload(x->d, x->m);
  cawb_device_close(x->d);
}

/* A tensor of `size` bytes with `data` in it (NULL: left as it is). */
static inline cawb_addr tensor(sim_fixture *x, const char *label, const void *data, size_t size) {
  cawb_addr a = 0;
  if (cawb_device_alloc(x->d, size, label, &a, &x->err) != CAWB_OK ||
      (data != NULL && cawb_device_write(x->d, a, data, size, &x->err) != CAWB_OK)) {
    fprintf(stderr, "%s: %s\n", label, x->err.msg);
    exit(1);
  }
  return a;
}

static inline void fetch_tensor(sim_fixture *x, void *to, cawb_addr a, size_t size) {
  if (cawb_device_read(x->d, to, a, size, &x->err) != CAWB_OK) {
    fprintf(stderr, "%s\n", x->err.msg);
    exit(1);
  }
}

static inline void arg_bytes(sim_fixture *x, const void *p, size_t size, size_t align) {
  x->args_size = (x->args_size + align - 1) / align * align;
  memcpy(x->args + x->args_size, p, size);
  x->args_size += size;
}
#define ARG(x, type, value) do { type v_ = (value); arg_bytes((x), &v_, sizeof v_, sizeof v_); } while (0)

/* Launch with the arguments gathered so far, and forget them. */
static inline cawb_status launch(sim_fixture *x, const char *kernel, unsigned gx, unsigned gy,
                                 unsigned bx, unsigned by, size_t shared) {
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = kernel, .grid = { gx, gy, 1 }, .block = { bx, by, 1 },
                  .cluster = { 1, 1, 1 }, .shared = shared, .args = x->args, .args_size = x->args_size };
  x->args_size = 0;
  memset(&x->err, 0, sizeof x->err);
  return cawb_device_run(x->d, x->m, &s, 1, &x->report, &x->err);
}

/* A fixed sequence of floats in [-1, 1). */
static inline float noise(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}

#endif

/*
** sim_launch.c - the simulated device for Python's ctypes: load PTX, launch a kernel
** with a ready block of arguments. Memory is the device's own, see device/device.h.
*/
#include <stdio.h>

#include "sim_figures.h"

/* Called by name; NULL is success, else it is what went wrong. */
const char *sim_launch_open(const char *ptx);
void sim_launch_close(void);
cawb_addr sim_launch_tensor(const void *data, size_t size);
void sim_launch_fetch(void *to, cawb_addr a, size_t size);
void sim_launch_forget(cawb_addr a);
const char *sim_launch_run(const char *kernel, unsigned blocks, unsigned slots, unsigned threads,
                           const void *args, size_t size);

typedef struct sim_launch {
  cawb_device *device;
  cawb_module *module;
  cawb_err err;
} sim_launch;

static sim_launch it;          /* one in a test process */

const char *sim_launch_open(const char *ptx) {
  cawb_image image = { .ptx = ptx };
  if (open_h100(&it.device, &it.err) != CAWB_OK ||
      cawb_device_load(it.device, &image, &it.module, &it.err) != CAWB_OK)
    return it.err.msg;
  return NULL;
}

void sim_launch_close(void) {
  cawb_device_unload(it.device, it.module);
  cawb_device_close(it.device);
}

cawb_addr sim_launch_tensor(const void *data, size_t size) {
  cawb_addr a = 0;
  if (cawb_device_alloc(it.device, size, "tensor", &a, &it.err) != CAWB_OK ||
      cawb_device_write(it.device, a, data, size, &it.err) != CAWB_OK)
    return 0;
  return a;
}

void sim_launch_fetch(void *to, cawb_addr a, size_t size) {
  cawb_device_read(it.device, to, a, size, &it.err);
}

void sim_launch_forget(cawb_addr a) { cawb_device_free(it.device, a); }

/* A race counts as going wrong. */
const char *sim_launch_run(const char *kernel, unsigned blocks, unsigned slots, unsigned threads,
                           const void *args, size_t size) {
  cawb_report report = { 0 };
  cawb_step step = { .kind = CAWB_STEP_LAUNCH, .kernel = kernel, .grid = { blocks, slots, 1 },
                     .block = { threads, 1, 1 }, .cluster = { 1, 1, 1 },
                     .args = args, .args_size = size };
  if (cawb_device_run(it.device, it.module, &step, 1, &report, &it.err) != CAWB_OK)
    return it.err.msg;
  if (report.races == 0) return NULL;
  snprintf(it.err.msg, sizeof it.err.msg, "%s", report.race);
  return it.err.msg;
}

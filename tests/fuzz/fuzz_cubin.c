/*
** fuzz_cubin.c - a cubin beside a kernel's PTX, and a launch of it that is counted. The first byte:
** 0 for bytes that are the whole file; else they are, cut after so many sixteenths, the
** machine code and the line program.
*/
#include "sim_figures.h"
#include "tiny_cubin.h"
#include "fuzz.h"

static const char ptx[] =
  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
  ".reg .b32 %r<3>; .reg .pred %q;\n.shared .align 4 .b8 s[64];\nld.param.u32 %r1, [n];\n"
  "L:\nst.shared.u32 [s], %r1;\nM:\nld.shared.u32 %r2, [s];\nbar.sync 0;\nadd.s32 %r1, %r1, -1;\n"
  "and.b32 %r2, %r1, 3;\nsetp.ne.s32 %q, %r2, 0;\n@%q bra M;\nsetp.gt.s32 %q, %r1, 0;\n@%q bra L;\nret;\n}\n";

static void count(const void *cubin, size_t size) {
  static const unsigned n = 25;
  cawb_device *d;
  cawb_module *m;
  cawb_err err;
  cawb_profile p = { 0 };
  cawb_image image = { ptx, cubin, size };
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
                  .cluster = { 1, 1, 1 }, .args = &n, .args_size = sizeof n };
  FUZZ_CHECK(open_h100(&d, &err) == CAWB_OK && cawb_device_load(d, &image, &m, &err) == CAWB_OK);
  FUZZ_CHECK(cawb_device_profile(d, m, &s, 1, NULL, 0, &p, &err) == CAWB_OK);
  for (size_t i = 0; i < p.count; i++)
    if (strcmp(p.list[i].metric, "smsp__inst_executed.sum") == 0)
      FUZZ_CHECK(p.list[i].value > 0 && p.list[i].value < 1e12);
  cawb_profile_free(&p);
  cawb_device_unload(d, m);
  cawb_device_close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  size_t rest = size - 1, cut = rest * (data[0] & 15) / 16 / 16 * 16, room = rest + 4096;
  unsigned char *file = malloc(room);
  FUZZ_CHECK(file != NULL);
  if (data[0] == 0) memcpy(file, data + 1, room = rest);
  else room = tiny_make(file, room, data + 1, cut, data + 1 + cut, rest - cut, 29);
  unsigned char *own = realloc(file, room);
  FUZZ_CHECK(own != NULL);
  count(own, room);
  free(own);
  return 0;
}

/*
** compile.c - compile_ptx SOURCE.cu OUT.ptx [SITE-PACKAGES]: what tests of the simulated device execute,
** by the NVRTC that all tests find. The build runs it.
*/
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "gpu/compile/nvrtc.h"

static cawb_err err;

static cawb_status open_nvrtc(cawb_nvrtc **n, cawb_includes *in, const char *site_packages) {
  cawb_places places;
  cawb_places_default(&places, site_packages);
  cawb_status s = cawb_nvrtc_open(n, &places, &err);
  return s == CAWB_OK ? cawb_locate_includes(in, &places, &err) : s;
}

static cawb_status compile(cawb_nvrtc *n, const cawb_includes *in, const char *path, cawb_nvrtc_output *out) {
  static char folders[sizeof in->list / sizeof *in->list][sizeof in->list->path + 2];
  const char *options[8] = { "-arch=sm_90", "-lineinfo", "-DINFINITY=__int_as_float(0x7f800000)",
                             "-I" CAWB_SOURCE "/core/gpu/compile/headers" };
  char *text;
  size_t size;
  cawb_status s = cawb_slurp(&text, &size, path, &err);
  if (s != CAWB_OK) return s;
  for (int i = 0; i < in->count; i++) {
    snprintf(folders[i], sizeof folders[i], "-I%s", in->list[i].path);
    options[4 + i] = folders[i];
  }
  s = cawb_nvrtc_compile(n, text, path, options, 4 + in->count, out, &err);
  free(text);
  return s;
}

static int save(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  int written = f != NULL && fputs(text, f) >= 0, closed = f != NULL && fclose(f) == 0;
  if (!written || !closed) perror(path);
  return written && closed;
}

int main(int argc, char **argv) {
  cawb_nvrtc *n = NULL;
  cawb_includes in;
  cawb_nvrtc_output out = { 0 };
  if (argc < 3) return 2;
  cawb_status s = open_nvrtc(&n, &in, argv[3]);
  if (s == CAWB_OK) s = compile(n, &in, argv[1], &out);
  if (s != CAWB_OK) fprintf(stderr, "%s: %s\n%s", argv[1], err.msg, out.log != NULL ? out.log : "");
  int saved = s == CAWB_OK && save(argv[2], out.ptx);
  cawb_nvrtc_output_free(&out);
  cawb_nvrtc_close(n);
  return !saved;
}

/* test_locate.c - the search order over made-up installations in a scratch folder. */
#include "base/locate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char root[64] = "/tmp/cawb-locate-XXXXXX";

/* Make an empty file below the scratch folder, with the folders above it. */
static void touch(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", root, name);
  for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
    *p = '\0';
    mkdir(path, 0755);
    *p = '/';
  }
  FILE *f = fopen(path, "w");
  if (f != NULL) fclose(f);
}

static const char *at(char *room, const char *name) {
  snprintf(room, 512, "%s/%s", root, name);
  return room;
}

static int ends(const char *text, const char *tail) {
  size_t n = strlen(text), m = strlen(tail);
  return n >= m && strcmp(text + n - m, tail) == 0;
}

static void order(void) {
  char a[512], b[512], c[512], d[512];
  cawb_places p = { at(a, "one"), at(b, "two"), at(c, "three"), at(d, "site") };
  cawb_found f;
  cawb_err err;
  CHECK(cawb_locate_library(&f, &p, "libthing.so", &err) == CAWB_OK);
  CHECK(ends(f.path, "/one/lib64/libthing.so.12") && strcmp(f.origin, "CAWB_CUDA_HOME") == 0);
  p.cawb_cuda_home = NULL;
  CHECK(cawb_locate_library(&f, &p, "libthing.so", &err) == CAWB_OK);
  CHECK(ends(f.path, "/two/targets/x86_64-linux/lib/libthing.so.13.1"));
  p.cuda_home = "";
  CHECK(cawb_locate_library(&f, &p, "libthing.so", &err) == CAWB_OK);
  CHECK(ends(f.path, "/three/lib64/libthing.so"));
  p.toolkit = NULL;
  CHECK(cawb_locate_library(&f, &p, "libthing.so", &err) == CAWB_OK);
  CHECK(ends(f.path, "/site/nvidia/cu13/lib/libthing.so.13"));
  CHECK(strcmp(f.origin, "PyPI packages") == 0);
}

static void versions(void) {
  char a[512];
  cawb_places p = { at(a, "two"), NULL, NULL, NULL };
  cawb_found f;
  cawb_err err;
  CHECK(cawb_locate_library(&f, &p, "libthing.so.12", &err) == CAWB_OK);
  CHECK(ends(f.path, "/libthing.so.12"));             /* exactly, not the highest */
  CHECK(cawb_locate_library(&f, &p, "libthing-builtins.so", &err) == CAWB_ERR_MISSING);
  CHECK(cawb_locate_library(&f, &p, "libthin.so", &err) == CAWB_ERR_MISSING);
}

static void loader(void) {
  cawb_places none = { NULL, NULL, NULL, NULL };
  cawb_found f;
  cawb_err err;
  CHECK(cawb_locate_library(&f, &none, "libm.so", &err) == CAWB_OK);
  CHECK(f.path[0] == '/' && strstr(f.path, "libm.so.") != NULL);
  CHECK(strcmp(f.origin, "the loader's path") == 0);
}

static void message(void) {
  char a[512];
  cawb_places p = { NULL, at(a, "two"), NULL, "/nowhere/site-packages" };
  cawb_found f;
  cawb_err err;
  CHECK(cawb_locate_library(&f, &p, "libnvrtc-nothing.so", &err) == CAWB_ERR_MISSING);
  CHECK(f.path[0] == '\0');
  CHECK(strstr(err.msg, "CAWB_CUDA_HOME (not set)") != NULL);
  CHECK(strstr(err.msg, "CUDA_HOME (") != NULL && strstr(err.msg, "/two)") != NULL);
  CHECK(strstr(err.msg, "/nowhere/site-packages/nvidia") != NULL);
  CHECK(strstr(err.msg, "the loader's path") != NULL);
  CHECK(strstr(err.msg, "pip install nvidia-cuda-nvrtc") != NULL);
}

static void headers(void) {
  char a[512], b[512];
  cawb_places p = { at(a, "one"), NULL, NULL, at(b, "site") };
  cawb_includes in;
  cawb_err err;
  CHECK(cawb_locate_includes(&in, &p, &err) == CAWB_OK && in.count == 2);
  CHECK(ends(in.list[0].path, "/one/include") && ends(in.list[1].path, "/one/include/cccl"));
  p.cawb_cuda_home = NULL;
  CHECK(cawb_locate_includes(&in, &p, &err) == CAWB_OK && in.count == 2);
  CHECK(ends(in.list[0].path, "/nvidia/cuda_runtime/include"));
  CHECK(ends(in.list[1].path, "/nvidia/cuda_cccl/include"));
  p.site_packages = NULL;
  CHECK(cawb_locate_includes(&in, &p, &err) == CAWB_ERR_MISSING && in.count == 0);
  CHECK(strstr(err.msg, "CAWB_CUDA_HOME") != NULL);
}

/* A list of Python folders: the second counts where the first has nothing. */
static void several_pythons(void) {
  char list[1100];
  snprintf(list, sizeof list, "%s/empty:%s/site", root, root);
  cawb_places p = { NULL, NULL, NULL, list };
  cawb_found f;
  cawb_err err;
  CHECK(cawb_locate_library(&f, &p, "libthing.so", &err) == CAWB_OK);
  CHECK(ends(f.path, "/site/nvidia/cu13/lib/libthing.so.13"));
}

int main(void) {
  if (mkdtemp(root) == NULL) return 1;
  touch("one/lib64/libthing.so.12");
  touch("two/targets/x86_64-linux/lib/libthing.so");
  touch("two/targets/x86_64-linux/lib/libthing.so.12");
  touch("two/targets/x86_64-linux/lib/libthing.so.13.1");
  touch("two/targets/x86_64-linux/lib/libthing.so.13.0");
  touch("two/targets/x86_64-linux/lib/libthing.so.txt");
  touch("three/lib64/libthing.so");
  touch("site/nvidia/cu13/lib/libthing.so.13");
  touch("site/nvidia/cuda_thing/lib/libthing.so.12");
  touch("one/include/cuda_fp16.h");
  touch("one/include/cccl/nv/target");
  touch("site/nvidia/cuda_runtime/include/cuda_fp16.h");
  touch("site/nvidia/cuda_cccl/include/nv/target");
  order();
  versions();
  loader();
  message();
  headers();
  several_pythons();
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(system(command) == 0);
  return check_report();
}

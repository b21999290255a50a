/*
** locate.c - see locate.h. A toolkit keeps libraries in lib64, targets/ or
** extras/CUPTI; PyPI has nvidia/cu13/lib for CUDA 13 and one folder for each
** library (nvidia/cuda_nvrtc/lib) for CUDA 12.
*/
#include "base/locate.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

typedef struct origin {
  const char *name, *root;
} origin;

enum { TOOLKITS = 3 };

void cawb_places_default(cawb_places *p, const char *site_packages) {
  int hide = getenv("CAWB_HIDE_TOOLKIT") != NULL;
  p->cawb_cuda_home = hide ? NULL : getenv("CAWB_CUDA_HOME");
  p->cuda_home = hide ? NULL : getenv("CUDA_HOME");
  p->toolkit = hide ? NULL : "/usr/local/cuda";
  p->site_packages = site_packages;
}

static void toolkits(origin o[TOOLKITS], const cawb_places *p) {
  o[0] = (origin){ "CAWB_CUDA_HOME", p->cawb_cuda_home };
  o[1] = (origin){ "CUDA_HOME", p->cuda_home };
  o[2] = (origin){ "the usual toolkit folder", p->toolkit };
}

static int searched(const char *root) { return root != NULL && root[0] != '\0'; }

/* Format a path; 0 when it would not fit, so that it is never cut short. */
__attribute__((format(printf, 2, 3)))
static int path_of(char path[4096], const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(path, 4096, fmt, ap);
  va_end(ap);
  return n >= 0 && n < 4096;
}

static void name_origin(cawb_found *out, const char *name) {
  snprintf(out->origin, sizeof out->origin, "%s", name);
}

/* ---------------------------------------------------------------- libraries */

/*
** How well does `file` answer to `name`? 0: not at all; 1: the bare stem
** ("libnvrtc.so", often a link for compilers only); more: its version, 13.0 as
** 13000001. A name with a version in it ("libcuda.so.1") must match exactly.
*/
static long fitness(const char *file, const char *name) {
  size_t n = strlen(name);
  if (strncmp(file, name, n) != 0) return 0;
  if (file[n] == '\0') return 1;
  if (file[n] != '.' || n < 3 || strcmp(name + n - 3, ".so") != 0) return 0;
  const char *version = file + n + 1;
  if (strspn(version, "0123456789.") != strlen(version)) return 0;
  char *end;
  long major = strtol(version, &end, 10);
  long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
  if (major > 9999) major = 9999;
  if (minor > 99999) minor = 99999;
  return 1 + major * 1000000 + minor * 10 + 1;
}

/* Look through one folder; improve `out` where a file fits better than `best`. */
static void look(cawb_found *out, long *best, const char *folder, const char *name) {
  DIR *d = opendir(folder);
  if (d == NULL) return;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    char path[4096];
    long fit = fitness(e->d_name, name);
    if (fit <= *best || !path_of(path, "%s/%s", folder, e->d_name)) continue;
    if (access(path, R_OK) != 0) continue;  /* a link to nowhere */
    memcpy(out->path, path, sizeof path);
    *best = fit;
  }
  closedir(d);
}

static int look_toolkit(cawb_found *out, const char *root, const char *name) {
  static const char *const folders[] = {
    "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
    "extras/CUPTI/lib64"
  };
  long best = 0;
  for (size_t i = 0; i < sizeof folders / sizeof *folders && best == 0; i++) {
    char folder[4096];
    if (path_of(folder, "%s/%s", root, folders[i])) look(out, &best, folder, name);
  }
  return best > 0;
}

/* Call `visit` for every package folder of one nvidia/, in alphabetical order. */
static void packages_of(const char *root, void (*visit)(void *, const char *), void *arg) {
  struct dirent **entries;
  int n = scandir(root, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char folder[4096];
    if (entries[i]->d_name[0] != '.' && path_of(folder, "%s/%s", root, entries[i]->d_name))
      visit(arg, folder);
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

/* The same for each nvidia/ of the list. */
static void packages(const char *list, void (*visit)(void *, const char *), void *arg) {
  while (searched(list)) {
    size_t n = strcspn(list, ":");
    char root[4096];
    if (path_of(root, "%.*s/nvidia", (int)n, list)) packages_of(root, visit, arg);
    list += n + (list[n] == ':');
  }
}

typedef struct library_search {
  cawb_found *out;
  const char *name;
  long best;
} library_search;

static void visit_library(void *arg, const char *package) {
  library_search *s = arg;
  char folder[4096];
  if (path_of(folder, "%s/lib", package)) look(s->out, &s->best, folder, s->name);
}

/* Ask the loader: it knows ld.so.conf, LD_LIBRARY_PATH and its own folders. What it
** found stays in the process: NVIDIA's C++ libraries leak when they are unloaded. */
static int loader_has(cawb_found *out, const char *file) {
  void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  struct link_map *map = NULL;
  if (handle == NULL) return 0;
  int known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/';
  int fits = path_of(out->path, "%s", known ? map->l_name : file);
  dlclose(handle);
  return fits;
}

/* The loader cannot be asked for "any version": try major versions downwards. */
static int look_loader(cawb_found *out, const char *name) {
  size_t n = strlen(name);
  if (n > 3 && strcmp(name + n - 3, ".so") == 0)
    for (int major = 29; major > 0; major--) {
      char file[256];
      snprintf(file, sizeof file, "%s.%d", name, major);
      if (loader_has(out, file)) return 1;
    }
  return loader_has(out, name);
}

/* ------------------------------------------------------- saying what is missing */

static const char *remedy(const char *name) {
  static const struct { const char *stem, *text; } known[] = {
    { "libcuda.", "install NVIDIA's driver; a machine without a GPU can use --device sim:h100" },
    { "libnvrtc", "install a CUDA toolkit (12.0 or later) and set CAWB_CUDA_HOME to it, or "
                  "'pip install nvidia-cuda-nvrtc' in the Python that cawb uses" },
    { "libcupti", "install a CUDA toolkit and set CAWB_CUDA_HOME to it, or "
                  "'pip install nvidia-cuda-cupti' in the Python that cawb uses" },
    { "libcublasLt", "install a CUDA toolkit and set CAWB_CUDA_HOME to it, or "
                     "'pip install nvidia-cublas' in the Python that cawb uses" },
    { "libcudnn", "'pip install nvidia-cudnn-cu13' (-cu12 with CUDA 12) in the Python that cawb "
                  "uses, or install NVIDIA's package and set CAWB_CUDA_HOME to where it went" },
    { "include", "install a CUDA toolkit and set CAWB_CUDA_HOME to it, or "
                 "'pip install nvidia-cuda-runtime' in the Python that cawb uses" }
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(name, known[i].stem, strlen(known[i].stem)) == 0) return known[i].text;
  return "install a CUDA toolkit and set CAWB_CUDA_HOME to it";
}

static cawb_status missing(const cawb_places *p, const char *what, const char *key,
                           int loader, cawb_err *err) {
  origin o[TOOLKITS];
  cawb_bytes where = { 0 };
  toolkits(o, p);
  for (int i = 0; i < TOOLKITS; i++)
    if (searched(o[i].root)) cawb_bytes_print(&where, "%s (%s), ", o[i].name, o[i].root);
    else cawb_bytes_print(&where, "%s (not set), ", o[i].name);
  if (searched(p->site_packages))
    cawb_bytes_print(&where, "PyPI packages (%s/nvidia)", p->site_packages);
  else cawb_bytes_text(&where, "PyPI packages (no Python chosen)");
  if (loader) cawb_bytes_text(&where, ", the loader's path");
  cawb_status code = cawb_fail(err, CAWB_ERR_MISSING, "%s not found; searched %s: %s", what,
                               where.failed ? "everywhere" : where.data, remedy(key));
  cawb_bytes_free(&where);
  return code;
}

cawb_status cawb_locate_library(cawb_found *out, const cawb_places *p,
                                const char *name, cawb_err *err) {
  origin o[TOOLKITS];
  library_search s = { out, name, 0 };
  memset(out, 0, sizeof *out);
  toolkits(o, p);
  for (int i = 0; i < TOOLKITS; i++)
    if (searched(o[i].root) && look_toolkit(out, o[i].root, name)) {
      name_origin(out, o[i].name);
      return CAWB_OK;
    }
  packages(p->site_packages, visit_library, &s);
  if (s.best > 0) {
    name_origin(out, "PyPI packages");
    return CAWB_OK;
  }
  if (look_loader(out, name)) {
    name_origin(out, "the loader's path");
    return CAWB_OK;
  }
  memset(out, 0, sizeof *out);
  return missing(p, name, name, 1, err);
}

/* ------------------------------------------------------------------ headers */

static int has_file(const char *folder, const char *name) {
  char path[4096];
  return path_of(path, "%s/%s", folder, name) && access(path, R_OK) == 0;
}

/* Add `folder` if it holds `marker`, and its cccl/ (where CUDA 13 keeps cuda/std). */
static void add_folder(cawb_includes *out, const char *folder, const char *marker,
                       const char *name) {
  int most = (int)(sizeof out->list / sizeof *out->list);
  if (out->count >= most || !has_file(folder, marker)) return;
  cawb_found *f = &out->list[out->count];
  if (!path_of(f->path, "%s", folder)) return;
  name_origin(f, name);
  out->count++;
  char cccl[4096];
  if (path_of(cccl, "%s/cccl", folder)) add_folder(out, cccl, "nv/target", name);
}

typedef struct include_search {
  cawb_includes *out;
  const char *marker;
  int most;              /* folders to stop at */
} include_search;

static void visit_include(void *arg, const char *package) {
  include_search *s = arg;
  char folder[4096];
  if (s->out->count < s->most && path_of(folder, "%s/include", package))
    add_folder(s->out, folder, s->marker, "PyPI packages");
}

/* cuda_fp16.h marks CUDA's own headers; nv/target those of CCCL. */
static void look_packages(cawb_includes *out, const char *list) {
  include_search cuda = { out, "cuda_fp16.h", 1 }, cccl = { out, "nv/target", 2 };
  packages(list, visit_include, &cuda);
  if (out->count == 1) packages(list, visit_include, &cccl);  /* CUDA 12: its own package */
}

cawb_status cawb_locate_includes(cawb_includes *out, const cawb_places *p, cawb_err *err) {
  static const char *const folders[] = { "include", "targets/x86_64-linux/include",
                                         "targets/sbsa-linux/include" };
  origin o[TOOLKITS];
  memset(out, 0, sizeof *out);
  toolkits(o, p);
  for (int i = 0; i < TOOLKITS; i++)
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
      char folder[4096];
      if (!searched(o[i].root) || !path_of(folder, "%s/%s", o[i].root, folders[k])) continue;
      add_folder(out, folder, "cuda_fp16.h", o[i].name);
      if (out->count > 0) return CAWB_OK;
    }
  look_packages(out, p->site_packages);
  if (out->count > 0) return CAWB_OK;
  return missing(p, "CUDA's header folder (cuda_fp16.h)", "include", 0, err);
}

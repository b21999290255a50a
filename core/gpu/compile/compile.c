/*
** compile.c - see compile.h. The text that NVRTC gets is the source with the
** defines put in as #define lines behind the #include lines at its top, so that
** sweeping a define does not change the precompiled headers; #line keeps positions.
*/
#include "gpu/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/store/cache.h"
#include "base/clock.h"
#include "gpu/compile/log.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/ptx/mangle.h"
#include "gpu/compile/pch.h"
#include "base/sha256.h"
#include "gpu/compile/source_check.h"

enum {
  OPTIONS_MOST = 32,
  LONG_SOURCE = 1 << 16,       /* bytes */
  STATIC_SHARED = 48 << 10, CONSTANT = 64 << 10   /* bytes; of every architecture (CUDA */
};                                                /* programming guide, compute capabilities) */

struct cawb_compiler {
  cawb_nvrtc *nvrtc;
  cawb_pch *pch;               /* NULL: none are made */
  char *cache;
  cawb_includes includes;
  cawb_err no_includes;        /* why there are none, said when a source needs them */
  char *include_options[5];    /* -I and a folder each */
  int ninclude_options;
};

/* One request on its way. */
typedef struct job {
  cawb_compiler *compiler;
  const cawb_compile_request *request;
  cawb_compile_result *result;
  cawb_err *err;
  char *source;                /* a copy, checked */
  cawb_source_head head;
  cawb_bytes defines, flags;   /* see flags.h */
  char arch[32];
  const char *options[OPTIONS_MOST];
  int noptions;
} job;

/* ------------------------------------------------------------------ opening */

/* NVRTC has precompiled headers since CUDA 12.8. */
static int has_pch(const cawb_nvrtc *n) {
  int major, minor;
  cawb_nvrtc_version(n, &major, &minor);
  return major > 12 || (major == 12 && minor >= 8);
}

static cawb_status add_include(cawb_compiler *c, const char *folder, cawb_err *err) {
  char **option = &c->include_options[c->ninclude_options];
  if (asprintf(option, "-I%s", folder) >= 0) {
    c->ninclude_options++;
    return CAWB_OK;
  }
  *option = NULL;
  return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the compiler");
}

static cawb_status set_up(cawb_compiler *c, const cawb_compiler_setting *s, cawb_err *err) {
  cawb_status code = cawb_nvrtc_open(&c->nvrtc, s->places, err);
  if (code != CAWB_OK) return code;
  c->cache = strdup(s->cache);
  if (c->cache == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the compiler");
  code = cawb_locate_includes(&c->includes, s->places, &c->no_includes);
  if (code != CAWB_OK && code != CAWB_ERR_MISSING) return cawb_fail(err, code, "%s", c->no_includes.msg);
  code = s->headers != NULL ? add_include(c, s->headers, err) : CAWB_OK;
  for (int i = 0; i < c->includes.count && code == CAWB_OK; i++)
    code = add_include(c, c->includes.list[i].path, err);
  if (code != CAWB_OK) return code;
  if (s->scratch == NULL || s->pch_bytes == 0 || !has_pch(c->nvrtc)) return CAWB_OK;
  return cawb_pch_open(&c->pch, s->scratch, s->pch_bytes, err);
}

cawb_status cawb_compiler_open(cawb_compiler **out, const cawb_compiler_setting *setting,
                               cawb_err *err) {
  *out = NULL;
  cawb_compiler *c = calloc(1, sizeof *c);
  if (c == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the compiler");
  cawb_status code = set_up(c, setting, err);
  if (code == CAWB_OK) *out = c;
  else cawb_compiler_close(c);
  return code;
}

void cawb_compiler_close(cawb_compiler *c) {
  if (c == NULL) return;
  cawb_pch_close(c->pch);
  cawb_nvrtc_close(c->nvrtc);
  for (int i = 0; i < c->ninclude_options; i++) free(c->include_options[i]);
  free(c->cache);
  free(c);
}

void cawb_compiler_version(const cawb_compiler *c, int *major, int *minor) {
  cawb_nvrtc_version(c->nvrtc, major, minor);
}

const cawb_found *cawb_compiler_library(const cawb_compiler *c) {
  return cawb_nvrtc_found(c->nvrtc);
}


/* ----------------------------------------------------------------- checking */

static cawb_status check_size(job *j) {
  const cawb_compile_request *r = j->request;
  if (r->size > CAWB_COMPILE_MAX_SOURCE)
    return cawb_fail(j->err, CAWB_ERR_CANDIDATE, "the source has %zu bytes: at most %u are taken",
                     r->size, CAWB_COMPILE_MAX_SOURCE);
  const char *nul = memchr(r->source, '\0', r->size);
  if (nul != NULL)
    return cawb_fail(j->err, CAWB_ERR_CANDIDATE, "the source has a NUL byte at offset %zu: "
                     "it must be plain text", (size_t)(nul - r->source));
  j->source = strndup(r->source, r->size);
  if (j->source == NULL) return cawb_fail(j->err, CAWB_ERR_MEMORY, "no memory for the source");
  if (j->source[strspn(j->source, " \t\r\n\v\f")] == '\0')
    return cawb_fail(j->err, CAWB_ERR_CANDIDATE, "the source is empty: write at least one "
                     "extern \"C\" __global__ function");
  return CAWB_OK;
}

/* "sm_90", "sm_90a": of a device, not of a candidate. */
static cawb_status check_arch(job *j) {
  const char *arch = j->request->arch;
  size_t n = strncmp(arch, "sm_", 3) == 0 ? strspn(arch + 3, "0123456789") : 0;
  if (n < 2 || n > 3 || strlen(arch + 3 + n) > 1 || strspn(arch + 3 + n, "af") != strlen(arch + 3 + n))
    return cawb_fail(j->err, CAWB_ERR_INVALID, "'%.40s' is not an architecture such as sm_90", arch);
  snprintf(j->arch, sizeof j->arch, "-arch=%s", arch);
  return CAWB_OK;
}

static cawb_status check(job *j) {
  const cawb_compile_request *r = j->request;
  cawb_status code = check_arch(j);
  if (code == CAWB_OK) code = check_size(j);
  if (code == CAWB_OK) code = cawb_compile_options(&j->flags, r->options, r->noptions, j->err);
  if (code == CAWB_OK) code = cawb_compile_defines(&j->defines, r->defines, r->ndefines, j->err);
  if (code == CAWB_OK) code = cawb_source_check(j->source, &j->head, j->err);
  return code;
}

static void add_option(job *j, const char *option) {
  if (j->noptions < OPTIONS_MOST) j->options[j->noptions++] = option;
}

/* Whether a source is long enough for several threads: kernels are optimised side by side then. From 13.0 on. */
static int is_long(const job *j) {
  int major = 0, minor = 0;
  cawb_nvrtc_version(j->compiler->nvrtc, &major, &minor);
  return major >= 13 && j->request->size > LONG_SOURCE;
}

/* What NVRTC is told, the candidate's own options among it. */
static void gather_options(job *j) {
  cawb_compiler *c = j->compiler;
  int std = 0;
  add_option(j, j->arch);
  if (is_long(j)) add_option(j, "--split-compile=8");
  add_option(j, "--ptxas-options=-v");
  add_option(j, "-lineinfo");
  for (size_t at = 0; at < j->flags.size; at += strlen(j->flags.data + at) + 1) {
    const char *flag = j->flags.data + at;
    std |= strncmp(flag, "-std=", 5) == 0;
    if (strcmp(flag, "-lineinfo") != 0) add_option(j, flag);
  }
  if (!std) add_option(j, "-std=c++17");
  add_option(j, "-DINFINITY=__int_as_float(0x7f800000)");   /* nvcc's own headers */
  add_option(j, "-DNAN=__int_as_float(0x7fffffff)");        /* have these two */
  for (int i = 0; i < c->ninclude_options; i++) add_option(j, c->include_options[i]);
}

/* The digest of everything that the result depends on. The first field changes
** when this file changes what it stores or how it compiles. */
static void make_key(job *j) {
  int version[2];
  cawb_sha256 s;
  cawb_sha256_start(&s);
  cawb_sha256_field(&s, "compile 1", 9);
  cawb_nvrtc_version(j->compiler->nvrtc, &version[0], &version[1]);
  cawb_sha256_field(&s, version, sizeof version);
  for (int i = 0; i < j->noptions; i++) cawb_sha256_field(&s, j->options[i], strlen(j->options[i]));
  cawb_sha256_field(&s, "", 0);
  cawb_sha256_field(&s, j->defines.data, j->defines.size);
  cawb_sha256_field(&s, j->request->source, j->request->size);
  cawb_sha256_end_hex(&s, j->result->key);
}

/* ---------------------------------------------------------------- compiling */

/* The text for NVRTC; `headers` replaces the #include lines at the top if not NULL. */
static void write_text(job *j, cawb_bytes *out, const char *headers) {
  if (headers != NULL) cawb_pch_prefix(out, headers);
  else cawb_bytes_add(out, j->source, j->head.size);
  if (out->size > 0 && out->data[out->size - 1] != '\n') cawb_bytes_text(out, "\n");
  if (j->defines.size > 0) {
    cawb_bytes_text(out, "#line 1 \"defines\"\n");
    cawb_bytes_add(out, j->defines.data, j->defines.size);
  }
  if (headers != NULL || j->defines.size > 0)
    cawb_bytes_print(out, "#line %u \"kernel.cu\"\n", j->head.line);
  cawb_bytes_text(out, j->source + j->head.size);
}

static cawb_status run_nvrtc(job *j, const char *headers, int noptions,
                             cawb_nvrtc_output *output) {
  cawb_bytes text = { 0 };
  cawb_status code = CAWB_ERR_MEMORY;
  write_text(j, &text, headers);
  if (text.failed) cawb_fail(j->err, code, "no memory for the source");
  else code = cawb_nvrtc_compile(j->compiler->nvrtc, text.data, "kernel.cu", j->options,
                                 noptions, output, j->err);
  cawb_bytes_free(&text);
  return code;
}

/*
** With precompiled headers where the source starts with #include lines. NVRTC
** speaks of "precompiled header" only when it will not take one: then once more
** without, so that nothing about them reaches the log.
*/
static cawb_status build(job *j, cawb_nvrtc_output *output) {
  cawb_compiler *c = j->compiler;
  char option[128];
  const char *file = NULL;
  if (c->pch != NULL && j->head.size > 0 && j->noptions + 2 <= OPTIONS_MOST)
    file = cawb_pch_find(c->pch, c->nvrtc, j->head.headers.data, j->options, j->noptions);
  if (file == NULL) return run_nvrtc(j, NULL, j->noptions, output);
  snprintf(option, sizeof option, "--use-pch=%s", file);
  j->options[j->noptions] = option;
  j->options[j->noptions + 1] = "--pch-messages=false";
  cawb_status code = run_nvrtc(j, j->head.headers.data, j->noptions + 2, output);
  if (output->log == NULL || strstr(output->log, "precompiled header") == NULL) return code;
  cawb_nvrtc_output_free(output);
  cawb_pch_refuse(c->pch);
  return run_nvrtc(j, NULL, j->noptions, output);
}

/* ptxas checks sizes last, and then says nothing but what it counted. */
static cawb_status explain_silence(job *j, const char *log) {
  char name[512];
  if (strstr(log, "ptxas info") == NULL) return CAWB_ERR_CANDIDATE;
  size_t bytes = cawb_compile_log_shared(log, STATIC_SHARED, name, sizeof name);
  if (bytes == 0)
    return cawb_fail(j->err, CAWB_ERR_CANDIDATE, "ptxas refuses the source without a reason: is "
                     "there more than %d bytes of __constant__?", CONSTANT);
  char *plain = cawb_mangle_plain(name);
  cawb_fail(j->err, CAWB_ERR_CANDIDATE, "ptxas: kernel '%s' uses %zu bytes of static shared memory; "
            "a block may have %d of static: declare it extern __shared__ and ask for it in the "
            "plan (shared = bytes)", plain != NULL ? plain : name, bytes, STATIC_SHARED);
  free(plain);
  return CAWB_ERR_CANDIDATE;
}

/* A header that is not there may be missing from the machine. */
static cawb_status explain_header(job *j, cawb_status code, const char *line) {
  const cawb_includes *in = &j->compiler->includes;
  if (in->count == 0)
    return cawb_fail(j->err, CAWB_ERR_MISSING, "%s: %s", line, j->compiler->no_includes.msg);
  const char *less = strstr(line, "\"crt/") != NULL
    ? "'pip install nvidia-cuda-crt' of its nvidia-cuda-runtime's version into that Python, or " : "";
  return cawb_fail(j->err, code, "%s (headers come from %.200s; if it is one of CUDA's own, "
                   "%sinstall a full toolkit and set CAWB_CUDA_HOME)", line, in->list[0].path, less);
}

/* Name the first error. */
static cawb_status explain(job *j, cawb_status code, const char *log) {
  char line[700];
  int major, minor;
  cawb_compiler_version(j->compiler, &major, &minor);
  if (log == NULL) return code;
  if (!cawb_compile_log_error(log, line, sizeof line))
    return code == CAWB_ERR_CANDIDATE ? explain_silence(j, log) : code;
  if (strstr(line, "open source file") != NULL) return explain_header(j, code, line);
  if (code == CAWB_ERR_UNSUPPORTED)
    return cawb_fail(j->err, code, "NVRTC %d.%d cannot compile for %s: %s", major, minor,
                     j->request->arch, line);
  return cawb_fail(j->err, code, "%s", line);
}

static cawb_status take_kernels(job *j, const char *ptx, const char *log) {
  cawb_status code = cawb_ptx_kernels(&j->result->kernels, ptx, log, j->err);
  if (code != CAWB_OK || j->result->kernels.count > 0) return code;
  if (cawb_source_is_blank(j->request->source)) return CAWB_OK;
  return cawb_fail(j->err, CAWB_ERR_CANDIDATE, "the source compiles but offers no kernel: write an "
                   "extern \"C\" __global__ function (a template needs an explicit instantiation)");
}

static cawb_status take_path(job *j, char **out, const char *name) {
  char path[4096];
  cawb_status code = cawb_cache_path(path, j->compiler->cache, j->result->key, name, j->err);
  if (code != CAWB_OK) return code;
  *out = strdup(path);
  return *out != NULL ? CAWB_OK : cawb_fail(j->err, CAWB_ERR_MEMORY, "no memory for a path");
}

/* A result from the cache, if it is there. */
static cawb_status recall(job *j) {
  cawb_compile_result *r = j->result;
  cawb_cache_item items[] = { { "ptx", NULL, 0 }, { "cubin", NULL, 0 }, { "log", NULL, 0 } };
  cawb_status code = cawb_cache_get(j->compiler->cache, r->key, items, 3, &r->cached, j->err);
  if (code != CAWB_OK || !r->cached) return code;
  r->log = items[2].data;
  code = take_kernels(j, items[0].data, r->log);
  free(items[0].data);
  free(items[1].data);
  return code;
}

static cawb_status keep(job *j, const cawb_nvrtc_output *output) {
  const cawb_cache_item items[] = {
    { "ptx", output->ptx, strlen(output->ptx) }, { "cubin", output->cubin, output->cubin_size },
    { "log", j->result->log, strlen(j->result->log) }
  };
  return cawb_cache_put(j->compiler->cache, j->result->key, items, 3, j->err);
}

static cawb_status compile(job *j) {
  cawb_nvrtc_output output = { 0 };
  cawb_status code = build(j, &output);
  if (output.log != NULL) {
    cawb_compile_log_tidy(output.log, CAWB_COMPILE_MAX_LOG);
    j->result->log = output.log;
    output.log = NULL;
  }
  if (code == CAWB_ERR_CANDIDATE || code == CAWB_ERR_UNSUPPORTED)
    code = explain(j, code, j->result->log);
  if (code == CAWB_OK) code = take_kernels(j, output.ptx, j->result->log);
  if (code == CAWB_OK) code = keep(j, &output);
  cawb_nvrtc_output_free(&output);
  return code;
}

static cawb_status work(job *j) {
  cawb_status code = check(j);
  if (code != CAWB_OK) return code;
  gather_options(j);
  make_key(j);
  code = recall(j);
  if (code == CAWB_OK && !j->result->cached) code = compile(j);
  if (code == CAWB_OK) code = take_path(j, &j->result->ptx, "ptx");
  if (code == CAWB_OK) code = take_path(j, &j->result->cubin, "cubin");
  return code;
}

cawb_status cawb_compiler_compile(cawb_compiler *c, const cawb_compile_request *request,
                                  cawb_compile_result *result, cawb_err *err) {
  job j = { .compiler = c, .request = request, .result = result, .err = err };
  double start = cawb_clock_now();
  memset(result, 0, sizeof *result);
  cawb_status code = work(&j);
  result->ok = code == CAWB_OK;
  result->seconds = cawb_clock_now() - start;
  cawb_source_head_free(&j.head);
  cawb_bytes_free(&j.defines);
  cawb_bytes_free(&j.flags);
  free(j.source);
  return code;
}

void cawb_compile_result_free(cawb_compile_result *result) {
  free(result->log);
  free(result->ptx);
  free(result->cubin);
  cawb_ptx_free(&result->kernels);
  memset(result, 0, sizeof *result);
}

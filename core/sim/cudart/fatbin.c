/*
** fatbin.c - see fatbin.h. A header of 16 bytes (magic number, version, its own size, size of all entries), then entries:
** each with a header that says what it is, how large, for which architecture, and how it is compressed.
*/
#include "sim/cudart/fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudart/unpack.h"

#define MAGIC UINT32_C(0xba55ed50)

enum { KIND_PTX = 1, KIND_MACHINE = 2, HEAD_LEAST = 64, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, WHOLE_MOST = 1 << 28 };

typedef struct entry {
  unsigned kind, arch;
  uint64_t flags;
  const unsigned char *text;
  size_t size, whole;          /* as it stands there, and unpacked */
} entry;

static uint64_t number(const unsigned char *at, unsigned bytes) {
  uint64_t v = 0;
  memcpy(&v, at, bytes);
  return v;
}

/* Returns where the next entry begins, NULL behind the last one. */
static const unsigned char *read_entry(entry *e, const unsigned char *at, const unsigned char *end) {
  if (end - at < HEAD_LEAST) return NULL;
  uint64_t head = number(at + 4, 4), size = number(at + 8, 8), packed = number(at + 16, 4);
  if (head < HEAD_LEAST || head > (uint64_t)(end - at) || size > (uint64_t)(end - at) - head || packed > size) return NULL;
  *e = (entry){ (unsigned)number(at, 2), (unsigned)number(at + 28, 4), number(at + 40, 8), at + head, size, size };
  if (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) {
    e->size = packed;
    e->whole = number(at + 56, 8);
  }
  return at + head + size;
}

/* A copy, with a NUL behind it. */
static cawb_status unpack(const entry *e, unsigned char **out, cawb_err *err) {
  if (e->whole > WHOLE_MOST) return cawb_fail(err, CAWB_ERR_INVALID, "%zu bytes of device code in one piece", e->whole);
  *out = malloc(e->whole + 1);
  if (*out == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for device code");
  (*out)[e->whole] = '\0';
  if (e->flags & FLAG_ZSTD) return cawb_unpack_zstd(*out, e->whole, e->text, e->size, err);
  if (e->flags & FLAG_LZ4) return cawb_unpack_lz4(*out, e->whole, e->text, e->size, err);
  memcpy(*out, e->text, e->whole);
  return CAWB_OK;
}

static void choose(const unsigned char *data, unsigned arch, entry *ptx, entry *machine) {
  const unsigned char *at = data + number(data + 6, 2), *end = at + number(data + 8, 8);
  entry e;
  while (at != NULL && (at = read_entry(&e, at, end)) != NULL) {
    if (e.kind == KIND_PTX && e.arch <= arch && e.arch >= ptx->arch) *ptx = e;
    if (e.kind == KIND_MACHINE && e.arch == arch) *machine = e;
  }
}

cawb_status cawb_fatbin_read(cawb_fatbin *out, const void *data, unsigned arch, cawb_err *err) {
  entry ptx = { .arch = 0 }, machine = { .arch = 0 };
  memset(out, 0, sizeof *out);
  if (data == NULL || number(data, 4) != MAGIC)
    return cawb_fail(err, CAWB_ERR_INVALID, "what the program registered is no device code of nvcc's");
  choose(data, arch, &ptx, &machine);
  if (ptx.text == NULL)
    return cawb_fail(err, CAWB_ERR_MISSING, "the program has no PTX for sm_%u: compile it with nvcc -arch=sm_%u, and "
                     "without -rdc=true, which leaves no PTX that is complete", arch, arch);
  cawb_status status = unpack(&ptx, (unsigned char **)&out->ptx, err);
  if (status != CAWB_OK || machine.text == NULL) return status;
  if (unpack(&machine, &out->cubin, NULL) == CAWB_OK) out->cubin_size = machine.whole;
  else free(out->cubin), out->cubin = NULL;      /* only the modelled time is poorer for it */
  return CAWB_OK;
}

void cawb_fatbin_free(cawb_fatbin *f) {
  free(f->ptx);
  free(f->cubin);
  memset(f, 0, sizeof *f);
}

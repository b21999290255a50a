/* unpack.c - see unpack.h. */
#include "sim/cudart/unpack.h"

#include <dlfcn.h>
#include <string.h>

typedef struct lz4 {
  unsigned char *out;
  size_t at, whole;            /* of what comes out */
  const unsigned char *in, *end;
} lz4;

/* A length of 15 goes on in further bytes, up to one that is no 255. 0: the text ends before. */
static int lz4_length(lz4 *z, size_t *n) {
  unsigned char byte;
  if (*n != 15) return 1;
  do {
    if (z->in == z->end) return 0;
    byte = *z->in++;
    *n += byte;
  } while (byte == 255);
  return 1;
}

static int lz4_literals(lz4 *z, size_t n) {
  if (!lz4_length(z, &n) || n > (size_t)(z->end - z->in) || n > z->whole - z->at) return 0;
  memcpy(z->out + z->at, z->in, n);
  z->in += n;
  z->at += n;
  return 1;
}

/* What stood `back` bytes ago, which may reach into what it makes. */
static int lz4_match(lz4 *z, size_t n) {
  if (z->end - z->in < 2) return 0;
  size_t back = z->in[0] | (size_t)z->in[1] << 8;
  z->in += 2;
  if (!lz4_length(z, &n)) return 0;
  n += 4;
  if (back == 0 || back > z->at || n > z->whole - z->at) return 0;
  for (size_t i = 0; i < n; i++, z->at++) z->out[z->at] = z->out[z->at - back];
  return 1;
}

cawb_status cawb_unpack_lz4(unsigned char *out, size_t whole, const unsigned char *in, size_t size, cawb_err *err) {
  lz4 z = { out, 0, whole, in, in + size };
  int sound = 1;
  while (sound && z.in < z.end && z.at < whole) {
    unsigned token = *z.in++;
    sound = lz4_literals(&z, token >> 4) && (z.in == z.end || z.at == whole || lz4_match(&z, token & 15));
  }
  if (sound && z.at == whole) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID, "compressed device code is broken; compile with -no-compress");
}

cawb_status cawb_unpack_zstd(unsigned char *out, size_t whole, const unsigned char *in, size_t size, cawb_err *err) {
  size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  void *found = library != NULL ? dlsym(library, "ZSTD_decompress") : NULL;
  memcpy(&decompress, &found, sizeof found);
  size_t n = found != NULL ? decompress(out, whole, in, size) : 0;
  if (library != NULL) dlclose(library);
  if (found == NULL)
    return cawb_fail(err, CAWB_ERR_MISSING, "the device code is compressed, and there is no libzstd.so.1 here: compile "
                     "with -no-compress");
  if (n == whole) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID, "compressed device code is broken; compile with -no-compress");
}

/* memory.c - see memory.h. */
#include "sim/cudart/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/cudart/note.h"

/* -------------------------------------------------------------- the list of blocks */

/* How many begin at or before `at`. */
static size_t before(const cawb_cudart *rt, cawb_addr at) {
  size_t low = 0, high = rt->nblocks;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (rt->blocks[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static int add(cawb_cudart *rt, cawb_cuda_block b) {
  if (rt->nblocks == rt->blocks_room) {
    size_t room = rt->blocks_room > 0 ? 2 * rt->blocks_room : 64;
    cawb_cuda_block *grown = realloc(rt->blocks, room * sizeof *grown);
    if (grown == NULL) return CAWB_CUDA_MEMORY;
    rt->blocks = grown;
    rt->blocks_room = room;
  }
  if (rt->blocks == NULL) return CAWB_CUDA_MEMORY;
  size_t i = before(rt, b.at);
  memmove(&rt->blocks[i + 1], &rt->blocks[i], (rt->nblocks - i) * sizeof *rt->blocks);
  rt->blocks[i] = b;
  rt->nblocks++;
  return CAWB_CUDA_OK;
}

static cawb_cuda_block *at_or_before(const cawb_cudart *rt, cawb_addr a) {
  size_t n = before(rt, a);
  return n > 0 ? &rt->blocks[n - 1] : NULL;
}

const cawb_cuda_block *cawb_memory_at(const cawb_cudart *rt, const void *p) {
  const cawb_cuda_block *b = at_or_before(rt, (cawb_addr)p);
  return b != NULL && (cawb_addr)p - b->at < (b->size > 0 ? b->size : 1) ? b : NULL;
}

int cawb_memory_know(cawb_cudart *rt, cawb_addr at, size_t size) {
  const cawb_cuda_block *b = at_or_before(rt, at);
  if (b != NULL && b->at == at) return CAWB_CUDA_OK;
  return add(rt, (cawb_cuda_block){ at, size, CAWB_BLOCK_VARIABLE });
}

/* ------------------------------------------------------------------ allocations */

/* For messages: "the 2nd cudaMalloc". */
static void label(cawb_cudart *rt, const char *call, char out[48]) {
  static const char *const ends[] = { "th", "st", "nd", "rd" };
  size_t n = ++rt->allocations, last = n % 10;
  snprintf(out, 48, "the %zu%s %s", n, last < 4 && n / 10 % 10 != 1 ? ends[last] : "th", call);
}

/* From now on reads of what nothing has written are noticed. */
static cawb_status poison(cawb_cudart *rt, cawb_addr at, size_t size) {
  cawb_step s = { .kind = CAWB_STEP_FILL, .addr = at, .size = size / 4 * 4, .pattern = UINT32_MAX, .poison = 1 };
  cawb_report ignored;
  cawb_err err;
  return cawb_device_run(rt->device, NULL, &s, 1, &ignored, &err);
}

int cawb_memory_new(cawb_cudart *rt, void **out, size_t size, const char *call) {
  char name[48];
  cawb_addr at;
  cawb_err err;
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK || out == NULL) return error != CAWB_CUDA_OK ? error : CAWB_CUDA_VALUE;
  *out = NULL;
  if (size == 0) return CAWB_CUDA_OK;
  label(rt, call, name);
  if (cawb_device_alloc(rt->device, size, name, &at, &err) != CAWB_OK || poison(rt, at, size) != CAWB_OK)
    return CAWB_CUDA_MEMORY;
  *out = (void *)at;                           /* NOLINT: an address of the device */
  return add(rt, (cawb_cuda_block){ at, size, CAWB_BLOCK_DEVICE });
}

/* Attach the file at an address that is free here too. Those that are not are held until one is found, so that
** each is tried once. */
static void *attach(cawb_cudart *rt, const cawb_share *share, int tries) {
  cawb_addr at;
  cawb_err err;
  if (tries == 0 || cawb_device_attach(rt->device, share, &at, &err) != CAWB_OK) return NULL;
  void *p = mmap((void *)at, share->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, share->fd, 0);
  if (p == (void *)at) return p;               /* NOLINT: an address of the device */
  if (p != MAP_FAILED) munmap(p, share->size);
  p = attach(rt, share, tries - 1);
  cawb_device_detach(rt->device, at);
  return p;
}

int cawb_memory_new_both(cawb_cudart *rt, void **out, size_t size, int kind, const char *call) {
  enum { TRIES = 2000 };
  char name[48];
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK || out == NULL) return error != CAWB_CUDA_OK ? error : CAWB_CUDA_VALUE;
  *out = NULL;
  if (size == 0) return CAWB_CUDA_OK;
  label(rt, call, name);
  cawb_share share = { .fd = memfd_create("cawb", MFD_CLOEXEC), .size = size, .label = name };
  if (share.fd >= 0 && ftruncate(share.fd, (off_t)size) == 0) *out = attach(rt, &share, TRIES);
  if (share.fd >= 0) close(share.fd);
  return *out != NULL ? add(rt, (cawb_cuda_block){ (cawb_addr)*out, size, kind }) : CAWB_CUDA_MEMORY;
}

static int both(const cawb_cuda_block *b) { return b->kind == CAWB_BLOCK_PINNED || b->kind == CAWB_BLOCK_MANAGED; }

static void give_back(cawb_cudart *rt, const cawb_cuda_block *b) {
  if (both(b)) {
    munmap((void *)b->at, b->size);            /* NOLINT: mapped here at the device's address */
    cawb_device_detach(rt->device, b->at);
  } else if (b->kind == CAWB_BLOCK_DEVICE) cawb_device_free(rt->device, b->at);
}

static int wrong(cawb_cudart *rt, const char *call, const char *what) {
  char text[1200];
  snprintf(text, sizeof text, "%s: %s", call, what);
  cawb_note_found(rt, "call", text, "");
  return CAWB_CUDA_VALUE;
}

int cawb_memory_free(cawb_cudart *rt, const void *p, const char *call) {
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK || p == NULL) return error;
  cawb_cuda_block *b = at_or_before(rt, (cawb_addr)p);
  if (b == NULL || b->at != (cawb_addr)p || b->kind == CAWB_BLOCK_VARIABLE)
    return wrong(rt, call, "the pointer is not the beginning of an allocation, or was freed before");
  give_back(rt, b);
  memmove(b, b + 1, (size_t)(&rt->blocks[rt->nblocks] - (b + 1)) * sizeof *b);
  rt->nblocks--;
  return CAWB_CUDA_OK;
}

void cawb_memory_free_all(cawb_cudart *rt) {
  for (size_t i = 0; i < rt->nblocks; i++) give_back(rt, &rt->blocks[i]);
  free(rt->blocks);
  rt->blocks = NULL;
  rt->nblocks = rt->blocks_room = 0;
}

/* ----------------------------------------------------------------------- copies */

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

/* What both sides see is right in any direction. NULL: nothing is wrong. */
static const char *misnamed(const cawb_cuda_block *to, const cawb_cuda_block *from, int kind) {
  int to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
  int from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
  if (kind == BY_ADDRESS) return NULL;
  if (to_device && to == NULL) return "the destination is said to be on the device, and is not: it is memory of the host";
  if (from_device && from == NULL) return "the source is said to be on the device, and is not: it is memory of the host";
  if (!to_device && to != NULL && !both(to)) return "the destination is said to be on the host, and is on the device";
  if (!from_device && from != NULL && !both(from)) return "the source is said to be on the host, and is on the device";
  return NULL;
}

static int failed(cawb_cudart *rt, const char *call, const cawb_err *err) { return wrong(rt, call, err->msg); }

int cawb_memory_copy(cawb_cudart *rt, void *to, const void *from, size_t size, int kind, const char *call) {
  cawb_err err;
  cawb_status status = CAWB_OK;
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK || size == 0) return error;
  if (kind < HOST_TO_HOST || kind > BY_ADDRESS) return CAWB_CUDA_DIRECTION;
  const cawb_cuda_block *there = cawb_memory_at(rt, to), *here = cawb_memory_at(rt, from);
  const char *why = misnamed(there, here, kind);
  if (why != NULL) return wrong(rt, call, why);
  if (there != NULL && here != NULL) status = cawb_device_copy(rt->device, (cawb_addr)to, (cawb_addr)from, size, &err);
  else if (there != NULL) status = cawb_device_write(rt->device, (cawb_addr)to, from, size, &err);
  else if (here != NULL) status = cawb_device_read(rt->device, to, (cawb_addr)from, size, &err);
  else memmove(to, from, size);
  return status == CAWB_OK ? CAWB_CUDA_OK : failed(rt, call, &err);
}

int cawb_memory_set(cawb_cudart *rt, void *to, int value, size_t size, const char *call) {
  enum { PIECE = 4096 };
  unsigned char piece[PIECE];
  cawb_err err;
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK || size == 0) return error;
  if (cawb_memory_at(rt, to) == NULL) return wrong(rt, call, "the destination is not on the device");
  memset(piece, value, PIECE);
  for (size_t at = 0; at < size; at += PIECE) {
    size_t n = size - at < PIECE ? size - at : PIECE;
    if (cawb_device_write(rt->device, (cawb_addr)to + at, piece, n, &err) != CAWB_OK) return failed(rt, call, &err);
  }
  return CAWB_CUDA_OK;
}

int cawb_memory_way(const cawb_cudart *rt, const void *to, const void *from) {
  const cawb_cuda_block *there = cawb_memory_at(rt, to), *here = cawb_memory_at(rt, from);
  int up = there != NULL && there->kind != CAWB_BLOCK_PINNED, down = here != NULL && here->kind != CAWB_BLOCK_PINNED;
  return up && !down ? CAWB_ENGINE_UP : down && !up ? CAWB_ENGINE_DOWN : CAWB_ENGINE_KERNELS;
}

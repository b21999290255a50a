/*
** launcher.h - a library of its own: runs the packages of the backend of torch.compile on a stream of the caller's, in the caller's
** process and context. It loads the CUDA driver by name, allocates nothing on the GPU and never waits. Descriptions are borrowed:
** they stay until cawb_launcher_free. A package may be used by several threads.
**
** Functions return 0, or another number with words in `said` (`room` bytes).
*/
#ifndef CAWB_CUDA_LAUNCHER_H
#define CAWB_CUDA_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>

/* Where in a parameter block which tensor's address goes, `plus` bytes behind it. */
typedef struct cawb_launcher_ref { uint64_t at, tensor, plus; } cawb_launcher_ref;

typedef struct cawb_launcher_step {
  const char *kernel;               /* NULL: `bytes` of `tensor` are filled with `pattern` */
  uint32_t grid[3], block[3], cluster[3], shared, cooperative, dependent, pattern;
  const unsigned char *args;
  uint64_t args_size;
  const cawb_launcher_ref *refs;
  uint64_t nrefs, tensor, bytes;
} cawb_launcher_step;

typedef struct cawb_launcher cawb_launcher;

/* Load machine code (`image`, a cubin, or PTX with a zero at its end) into the current context, and find the kernels of steps. */
int cawb_launcher_new(cawb_launcher **out, const void *image, const cawb_launcher_step *steps, size_t n, char *said, size_t room);

/*
** Enqueue steps `first` to `first` + `count` - 1. `tensors` are addresses by number. With `graph`, these steps are one CUDA graph: made at
** the first such call, whose range later ones have to have, and changed where addresses have changed. What no graph can be made of, and a
** stream that is being captured, gets plain launches. A kernel whose step is `dependent` begins while the one before it among these steps ends,
** where chip and driver can do so.
*/
int cawb_launcher_run(cawb_launcher *p, size_t first, size_t count, int graph, void *stream, const uint64_t *tensors, char *said, size_t room);

/* How many graphs were made, nodes of them changed, and kernels started one by one; how many of these and of the nodes begin early. */
void cawb_launcher_counts(cawb_launcher *p, uint64_t counts[4]);

void cawb_launcher_free(cawb_launcher *p);       /* in the context of cawb_launcher_new; NULL is a no-op */

#endif

/* fuzz_ptx.c - the table of kernels, from PTX and behind a byte 1 the compiler's log. */
#include "fuzz.h"
#include "ptx/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size), *log = strchr(text, 1);
  cawb_kernels kernels;
  cawb_err err;
  if (log != NULL) *log++ = '\0';
  if (cawb_ptx_kernels(&kernels, text, log, &err) == CAWB_OK) {
    for (size_t i = 0; i < kernels.count; i++) {
      const cawb_kernel *k = &kernels.list[i];
      size_t end = 0;
      for (size_t p = 0; p < k->nparams; p++) {       /* apart, in order, inside the block */
        FUZZ_CHECK(k->params[p].offset >= end);
        end = k->params[p].offset + k->params[p].size;
      }
      FUZZ_CHECK(end <= k->args_size);
      FUZZ_CHECK(cawb_ptx_find(&kernels, k->name) != NULL);
      cawb_ptx_find(&kernels, k->plain);
    }
  } else {
    FUZZ_CHECK(kernels.count == 0 && kernels.list == NULL && err.msg[0] != '\0');
  }
  cawb_ptx_free(&kernels);
  free(text);
  return 0;
}

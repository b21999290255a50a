/* fuzz_ptx.c - the table of kernels, from PTX and behind a byte 1 the compiler's log; and the census. */
#include "fuzz.h"
#include "gpu/ptx/census.h"
#include "gpu/ptx/kernels.h"

/* A census says of each parameter what is done to it, or that nothing is known. */
static void census(const char *text) {
  cJSON *all;
  cawb_err err;
  FUZZ_CHECK(cawb_census_new(&all, text, &err) == CAWB_OK && all != NULL);
  const cJSON *function, *lost = cJSON_GetObjectItemCaseSensitive(all, "lost");
  cJSON_ArrayForEach(function, cJSON_GetObjectItemCaseSensitive(all, "functions")) {
    const cJSON *param, *params = cJSON_GetObjectItemCaseSensitive(function, "params");
    FUZZ_CHECK(cJSON_IsArray(params) && (lost == NULL || cJSON_GetArraySize(params) == 0));
    cJSON_ArrayForEach(param, params) FUZZ_CHECK(cJSON_GetObjectItemCaseSensitive(param, "maybe") != NULL);
  }
  cJSON_Delete(all);
}

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
  census(text);
  free(text);
  return 0;
}

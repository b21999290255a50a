/* fuzz_source.c - the check of what a source includes. What passed once passes again. */
#include "fuzz.h"
#include "gpu/compile/source_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  cawb_source_head head, again;
  cawb_err err;
  size_t length = strlen(text);
  if (cawb_source_check(text, &head, &err) == CAWB_OK) {
    FUZZ_CHECK(strlen(text) == length && head.size <= length && head.line >= 1);
    FUZZ_CHECK(cawb_source_check(text, &again, &err) == CAWB_OK);
    FUZZ_CHECK(again.size == head.size && again.includes == head.includes);
    cawb_source_head_free(&again);
  }
  cawb_source_head_free(&head);
  free(text);
  return 0;
}

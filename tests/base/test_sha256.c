/* test_sha256.c - NIST's example vectors, and that pieces equal the whole. */
#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static int is(const char *text, size_t size, const char *expected) {
  char hex[65];
  cawb_sha256_hex(text, size, hex);
  return strcmp(hex, expected) == 0;
}

static void vectors(void) {
  const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  const char *four = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
  CHECK(is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  CHECK(is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  CHECK(is(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
  CHECK(is(four, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"));
}

static void million(void) {
  char *a = malloc(1000000);
  if (a == NULL) return;
  memset(a, 'a', 1000000);
  CHECK(is(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
  free(a);
}

/* Every split of 150 bytes crosses every position of the block and the padding. */
static void pieces(void) {
  char text[150], whole[65], parts[65];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7);
  for (size_t size = 0; size <= sizeof text; size++) {
    cawb_sha256_hex(text, size, whole);
    for (size_t cut = 0; cut <= size; cut += 5) {
      cawb_sha256 s;
      cawb_sha256_start(&s);
      cawb_sha256_add(&s, text, cut);
      cawb_sha256_add(&s, text + cut, size - cut);
      cawb_sha256_end_hex(&s, parts);
      CHECK(strcmp(whole, parts) == 0);
    }
  }
}

static void fields(void) {
  char one[65], other[65];
  cawb_sha256 s;
  cawb_sha256_start(&s);
  cawb_sha256_field(&s, "ab", 2);
  cawb_sha256_field(&s, "c", 1);
  cawb_sha256_end_hex(&s, one);
  cawb_sha256_start(&s);
  cawb_sha256_field(&s, "a", 1);
  cawb_sha256_field(&s, "bc", 2);
  cawb_sha256_end_hex(&s, other);
  CHECK(strcmp(one, other) != 0);
}

int main(void) {
  vectors();
  million();
  pieces();
  fields();
  return check_report();
}

/* test_secret.c - keys leave the environment, and texts. */
#include "base/http/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int redacts(const cawb_secrets *s, const char *text, const char *want) {
  cawb_bytes out = { 0 };
  cawb_secrets_redact(s, text, strlen(text), &out);
  int same = !out.failed && strcmp(out.data != NULL ? out.data : "", want) == 0;
  cawb_bytes_free(&out);
  return same;
}

static void test_environment(void) {
  cawb_secrets *s;
  cawb_err err;
  setenv("SOME_API_KEY", "abcdefgh-1", 1);
  setenv("OTHER_AUTH_TOKEN", "tokentoken", 1);
  setenv("SHORT_API_KEY", "abc", 1);
  setenv("API_KEYS", "left alone", 1);
  CHECK(cawb_secrets_new(&s, &err) == CAWB_OK);
  CHECK(getenv("SOME_API_KEY") == NULL && getenv("OTHER_AUTH_TOKEN") == NULL);
  CHECK(getenv("API_KEYS") != NULL);
  CHECK(strcmp(cawb_secrets_env(s, "SOME_API_KEY"), "abcdefgh-1") == 0);
  CHECK(cawb_secrets_env(s, "NO_API_KEY") == NULL);
  setenv("MY_OWN", "another-key", 1);                /* any name, once it is asked for */
  CHECK(strcmp(cawb_secrets_env(s, "MY_OWN"), "another-key") == 0 && getenv("MY_OWN") == NULL);
  CHECK(redacts(s, "a abcdefgh-1 b tokentoken another-keyabcdefgh-", "a [key] b [key] [key]abcdefgh-"));
  CHECK(redacts(s, "abc", "abc"));                   /* too short to be told from a word */
  cawb_secrets_free(s);
}

static void test_file(void) {
  cawb_secrets *s;
  cawb_err err;
  char path[] = "secret-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0 && write(fd, "key-of-a-file\r\nmore\n", 20) == 20 && close(fd) == 0);
  CHECK(cawb_secrets_new(&s, &err) == CAWB_OK);
  const char *key = cawb_secrets_file(s, path, &err);
  CHECK(key != NULL && strcmp(key, "key-of-a-file") == 0);
  CHECK(redacts(s, "<key-of-a-file>", "<[key]>"));
  CHECK(truncate(path, 0) == 0);
  CHECK(cawb_secrets_file(s, path, &err) == NULL && err.code == CAWB_ERR_INVALID);
  unlink(path);
  CHECK(cawb_secrets_file(s, path, &err) == NULL && err.code == CAWB_ERR_MISSING);
  cawb_secrets_free(s);
}

int main(void) {
  test_environment();
  test_file();
  cawb_secrets_free(NULL);
  return check_report();
}

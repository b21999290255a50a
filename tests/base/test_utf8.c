/* test_utf8.c - bytes that are no UTF-8 become question marks, all others stay. */
#include "base/utf8.h"

#include <string.h>

#include "check.h"
#include "base/err.h"

static int becomes(const char *from, const char *to) {
  char text[64];
  snprintf(text, sizeof text, "%s", from);
  cawb_utf8_clean(text);
  return strcmp(text, to) == 0;
}

int main(void) {
  static const char *const good[] = { "", "plain", "na\xc3\xafve", "\xe2\x82\xac", "\xf0\x9f\x9a\x80",
    "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf", "\x01\t\n" };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK(becomes(good[i], good[i]) && cawb_utf8_flaw(good[i]) == NULL);
  CHECK(becomes("a\xff" "b", "a?b"));
  CHECK(becomes("\x80", "?"));
  CHECK(becomes("\xc0\xaf", "??"));                 /* '/' in disguise */
  CHECK(becomes("\xe0\x80\xaf", "???"));
  CHECK(becomes("\xed\xa0\x80", "???"));            /* a surrogate */
  CHECK(becomes("\xf4\x90\x80\x80", "????"));       /* beyond the last character */
  CHECK(becomes("\xe2\x82", "??"));                 /* cut short */
  CHECK(becomes("\xe2\x82\xe2\x82\xac", "??\xe2\x82\xac"));
  CHECK(becomes("\xf0\x9f\x9a", "???"));
  static const char flawed[] = "na\xc3\xafve\xe2\x82";
  CHECK(cawb_utf8_flaw(flawed) == flawed + 6);
  cawb_err err;
  char longer[2048];
  memset(longer, 'x', sizeof longer);
  longer[sizeof err.msg - 2] = '\xc3';              /* its second byte has no room */
  longer[sizeof err.msg - 1] = '\xa9';
  longer[sizeof longer - 1] = '\0';
  cawb_fail(&err, CAWB_ERR_IO, "%s", longer);
  CHECK(strlen(err.msg) == sizeof err.msg - 1 && err.msg[sizeof err.msg - 2] == '?');
  return check_report();
}

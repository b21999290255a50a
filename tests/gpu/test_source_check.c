/*
** test_source_check.c - what may be included, through every disguise that the
** front end of NVRTC was seen to accept, and what must not be mistaken for it.
*/
#include "gpu/compile/source_check.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static cawb_source_head head;
static cawb_err err;
static char text[4096];

static cawb_status run(const char *source) {
  cawb_source_head_free(&head);
  memset(&err, 0, sizeof err);
  snprintf(text, sizeof text, "%s", source);
  return cawb_source_check(text, &head, &err);
}

#define F "\"/etc/passwd\""

static void refused(void) {
  static const struct { const char *source, *words; } table[] = {
    { "#include " F, "kernel.cu(1): #include of '/etc/passwd'" },
    { "int a;\n\n  #  include " F, "kernel.cu(3)" },
    { "#include </etc/passwd>", "absolute path" },
    { "#include \"../x.h\"", "'..'" }, { "#include <a/../../b>", "'..'" }, { "#include <a/..>", "'..'" },
    { "#include <a\\b>", "character" }, { "#include <~/x>", "character" }, { "#include <>", "empty" },
    { "#include <a", "no end" }, { "#include \"a>\n", "no end" },
    { "#define H <a.h>\n#include H", "literal name" }, { "#include", "literal name" },
    { "#include <a.h> int x;", "only a comment" },
    { "%:include " F, "absolute" }, { "%: include " F, "absolute" },
    { "/* a */ # /* b\n */ include /**/ " F, "kernel.cu(2)" },
    { "#inc\\\nlude " F, "absolute" }, { "#\\\r\ninclude " F, "absolute" },
    { "#include \\\n" F, "kernel.cu(2)" },
    { "// a \\\n b\n#include " F, "kernel.cu(3)" },
    { "\v\f\t#include " F, "absolute" },
    { "a /*\n*/ #include " F, "absolute" },          /* NVRTC does take that one */
    { "#if 0\ndon't /*\n#endif\n#include " F "\n*/", "kernel.cu(4)" },
    { "'\"'\n#include " F, "absolute" }, { "\"\\\"/*\"\n#include " F, "absolute" },
    { "R\"x()\" /* )x\"\n#include " F "\n*/", "absolute" },
    { "1'0'/*'\n#include " F "\n*/", "absolute" },
    { "xR\"(\"\n#include " F "\n)\"", "absolute" },
    { "1R\"(\"\n#include " F "\n)\"", "absolute" },
    { "\"a\"R\"(\"\n#include " F "\n)\"", "blank between" },
    { "R\"(\n#include " F "\n)\"", "raw string" }, { "R\"(\n%:x)\"", "raw string" },
    { "R\"(", "no end" }, { "R\"a b(x)a b\"", "malformed" },
    { "1'000 /* a */", "own line" },
    { "#if __has_include(" F ")", "__has_include" }, { "#if __has_include(X)", "literal name" },
    { "#define H __has_include", "macro" }, { "#if __has_include_next(<a>)", "use __has_include" },
    { "#if __has_embed(<a>)", "use __has_include" },
    { "#include_next <a.h>", "not allowed" }, { "#import <a.h>", "not allowed" },
    { "#embed <a.h>", "not allowed" }, { "#line 1 \"x\"", "remove #line" },
    { "# 1 \"x\"", "line marker" }, { "?\?=include " F, "trigraph" }, { "// ?\?/\n", "trigraph" },
    { "int a;\r#include " F, "carriage return" }, { "int \x1a;", "control character" },
    { "int a;\n// caf\xe9\n", "kernel.cu(2): the byte 0xe9 is no UTF-8" },
    { "/*\n\n\xff*/", "kernel.cu(3): the byte 0xff" }, { "\"\xe2\x82\"", "byte 0xe2" },
    { "\xef\xbb\xbf#include <a.h>", "not ASCII" }, { "int $a;", "not ASCII" },
    { "int a = __TIME__[7];", "kernel.cu(1): __DATE__ and __TIME__ differ from build to build" },
    { "\n#ifdef __DA\\\nTE__\n#endif", "kernel.cu(3): __DATE__ and __TIME__" },
    { "#define C(a, b) a##b\nint a = C(__TI, x)[0];", "kernel.cu(2): __DATE__ and __TIME__" },
    { "C(__, TIME__)", "__DATE__ and __TIME__" }
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    cawb_status code = run(table[i].source);
    CHECK(code == CAWB_ERR_CANDIDATE && strstr(err.msg, table[i].words) != NULL);
    if (code != CAWB_ERR_CANDIDATE || strstr(err.msg, table[i].words) == NULL)
      fprintf(stderr, "  source: %s\n  message: %s\n", table[i].source, err.msg);
  }
}

static void accepted(void) {
  static const char *const table[] = {
    "", "#", "#\n", "#pragma unroll 4\n", "#include <cuda_fp16.h>", "#include \"cooperative_groups/reduce.h\" // x",
    "#include <cuda/std/cstdint>\r\n", "#include <a..b.h>", "// #include " F, "/*\n#include " F "\n*/",
    "\"#include /x\"", "const char *s = \"\\\"#include\";", "'#'", "a # include " F, "#define S(x) #x\n",
    "#define C(a, b) a ## b\n", "#ifdef __has_include\n#endif\n", "#if defined(__has_include)\n#endif",
    "#if __has_include(<cuda_fp16.h>) && __has_include(\"mma.h\")\n#endif", "asm(R\"(add.s32 %0;)\");",
    "asm(R\"(\n add.s32 %0;\n)\");", "int n = 1'000'000; // million", "// don't\n/* don't */",
    "/* \xc3\xa9 $ */ const char *s = \"\xc3\xa9 $\";", "0x1.8p+3f 1e-5f .5f", "#error don't /*\n", "u8R", "\\", "/", "/*", "'",
    "int __T_, DATE, __, TIME, E__, __TIMER__; // __TIME__", "\"__DATE__\""
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    CHECK(run(table[i]) == CAWB_OK);
    if (err.msg[0] != '\0') fprintf(stderr, "  source: %s\n  message: %s\n", table[i], err.msg);
  }
}

static int head_is(const char *source, size_t size, unsigned line, const char *headers) {
  return run(source) == CAWB_OK && head.size == size && head.line == line
    && strcmp(head.headers.data != NULL ? head.headers.data : "", headers) == 0;
}

static void heads(void) {
  CHECK(head_is("#include <a>\nint x;", 13, 2, "#include <a>\n"));
  CHECK(head_is("// v1\n\n#include \"a\"\n/* x */\n#include <b/c>\n\nint x;\n#include <d>\n", 43, 6,
                "#include <a>\n#include <b/c>\n"));
  CHECK(head.includes == 3);
  CHECK(head_is("#include <a> /* 1\n 2 */ // 3 \\\n4\nx", 33, 4, "#include <a>\n"));
  CHECK(head_is("#include <a>", 12, 1, "#include <a>\n"));
  CHECK(head_is("#define X\n#include <a>\n", 0, 1, "") && head.includes == 1);
  CHECK(head_is("#pragma once\n#include <a>\n", 0, 1, ""));
  CHECK(head_is("int x;\n#include <a>\n", 0, 1, "") && head.includes == 1);
  CHECK(head_is("#include <a>\n#if 1\n#include <b>\n#endif\n", 13, 2, "#include <a>\n"));
  CHECK(head_is("int x;", 0, 1, "") && head.includes == 0);
}

/* Quotes become angles in place: nothing else of the text changes. */
static void rewriting(void) {
  CHECK(run("int a;\n # include /**/ \"mma.h\" // \"x\"\n\"y\"") == CAWB_OK);
  CHECK(strcmp(text, "int a;\n # include /**/ <mma.h> // \"x\"\n\"y\"") == 0);
  CHECK(run("#include \"a\\\n.h\"\n") == CAWB_OK && strcmp(text, "#include <a\\\n.h>\n") == 0);
}

/* Every prefix of something tangled, in a heap block that ends with it (ASan). */
static void prefixes(void) {
  static const char tangled[] =
    "#include \"a\\\n.h\" /* x\n*/\n%:define A R\"x(a)\" )x\" 'b' u8R\"(q)\" 1'0.5e+3\n"
    "#if __has_include(<a>) // \\\nb\n#endif\n\"\\\\\" '\\''\\\r\n/**/#/**/include<b>";
  for (size_t i = 0; i <= sizeof tangled - 1; i++) {
    char *copy = strndup(tangled, i);
    if (copy == NULL) return;
    cawb_source_head_free(&head);
    cawb_status code = cawb_source_check(copy, &head, &err);
    CHECK(code == CAWB_OK || code == CAWB_ERR_CANDIDATE);
    free(copy);
  }
}

int main(void) {
  refused();
  accepted();
  heads();
  rewriting();
  prefixes();
  cawb_source_head_free(&head);
  return check_report();
}

/*
** source_check.c - see source_check.h. A lexer for the phases of translation that
** decide what is a directive: line splices, comments, literals ([lex.phases],
** [lex.pptoken]). Where a compiler could see it otherwise than this file does
** (lone carriage returns, trigraphs, # inside raw strings) the source is refused.
*/
#include "gpu/compile/source_check.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { NAME_MOST = 256 };

typedef struct lexer {
  char *at;
  unsigned line;
  int fresh;                   /* only blanks and comments so far on this line */
  int defining;                /* inside a #define */
  int glued;                   /* a literal ended right here: a word would be its suffix */
  int separated;               /* this line holds a number with ' in it */
  unsigned suspect;            /* the line of a comment behind such a number, or 0 */
  int open;                    /* still in the run of #include lines at the top */
  char *start;
  cawb_source_head *head;
  cawb_err *err;
} lexer;

static cawb_status refuse(lexer *l, unsigned line, const char *why) {
  return cawb_fail(l->err, CAWB_ERR_CANDIDATE, "kernel.cu(%u): %s", line, why);
}

/* ---------------------------------------------------------------- characters */

/* Skip the line splices at the cursor, then show the character there. */
static char peek(lexer *l) {
  for (;;) {
    size_t n = l->at[0] != '\\' ? 0 : l->at[1] == '\n' ? 2
      : l->at[1] == '\r' && l->at[2] == '\n' ? 3 : 0;
    if (n == 0) return *l->at;
    l->at += n;
    l->line++;
  }
}

static char take(lexer *l) {
  char c = peek(l);
  if (c == '\n') l->line++;
  if (c != '\0') l->at++;
  return c;
}

/* Take `c` if it comes next. */
static int accept(lexer *l, char c) {
  if (peek(l) != c) return 0;
  take(l);
  return 1;
}

/* The character behind the next one. */
static char peek_second(const lexer *l) {
  lexer ahead = *l;
  take(&ahead);
  return peek(&ahead);
}

static int blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

static int digit(char c) { return c >= '0' && c <= '9'; }

static int word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int word_part(char c) { return word_start(c) || digit(c); }

/*
** Both opening characters are taken; the newline that ends // stays. NVRTC's front
** end takes a # behind a comment of several lines for a directive, whatever stands
** in front of the comment; so does this.
*/
static void skip_comment(lexer *l, char kind) {
  if (kind == '/') {
    while (peek(l) != '\n' && peek(l) != '\0') take(l);
    return;
  }
  for (char last = '\0', c; (c = take(l)) != '\0'; last = c) {
    if (last == '*' && c == '/') return;
    if (c == '\n') l->fresh = 1;
  }
}

/* Blanks and comments, up to a newline outside of comments. */
static void skip_blanks(lexer *l) {
  for (;;) {
    char c = peek(l), second = '\0';
    if (c == '/') second = peek_second(l);
    if (blank(c)) {
      take(l);
    } else if (second == '/' || second == '*') {
      if (l->separated && second == '*') l->suspect = l->line;
      take(l);
      take(l);
      skip_comment(l, second);
    } else {
      return;
    }
  }
}

/* ------------------------------------------------------------------- tokens */

static void take_word(lexer *l, char word[NAME_MOST]) {
  size_t n = 0;
  while (word_part(peek(l))) {
    char c = take(l);
    if (n + 1 < NAME_MOST) word[n++] = c;
  }
  word[n] = '\0';
}

/*
** A number may hold ' between digits: 1'000 does not open a character. In a group
** that #if skips, NVRTC's front end thinks it does, and so does not see a comment
** open behind it: such lines are refused.
*/
static void skip_number(lexer *l) {
  for (;;) {
    char c = peek(l);
    if (c == '\'' && word_part(peek_second(l))) {
      take(l);
      l->separated = 1;
    } else if (strchr("eEpP", c) != NULL && c != '\0') {
      take(l);
      if (peek(l) == '+' || peek(l) == '-') take(l);
      continue;
    } else if (!word_part(c) && c != '.') {
      return;
    }
    take(l);
  }
}

/* "..." or '...', which end with their line at the latest; the opening is taken. */
static void skip_literal(lexer *l, char quote) {
  for (char c; (c = peek(l)) != '\0' && c != '\n';) {
    take(l);
    if (c == quote) return;
    if (c == '\\' && peek(l) != '\n' && peek(l) != '\0') take(l);
  }
}

/* R"delimiter( ... )delimiter": no splices inside. The opening quote is taken. */
static cawb_status skip_raw(lexer *l) {
  char end[32];
  unsigned line = l->line;
  int lines = 0, directive = 0;
  size_t n = strcspn(l->at, "( )\\\t\v\f\r\n\"");
  if (n > 16 || l->at[n] != '(') return refuse(l, line, "a raw string literal is malformed");
  snprintf(end, sizeof end, ")%.*s\"", (int)n, l->at);
  char *close = strstr(l->at + n, end);
  if (close == NULL) return refuse(l, line, "a raw string literal has no end");
  for (l->at += n; l->at < close; l->at++) {
    lines += *l->at == '\n';
    directive |= lines > 0 && (*l->at == '#' || (l->at[0] == '%' && l->at[1] == ':'));
  }
  if (directive)
    return refuse(l, line, "a raw string literal of several lines holds '#': use ordinary strings");
  l->at = close + strlen(end);
  l->line += (unsigned)lines;
  return CAWB_OK;
}

/* ----------------------------------------------------------------- includes */

/* Why `name` may not be included; NULL when it may. */
static const char *forbidden(const char *name) {
  if (name[0] == '\0') return "it is empty";
  if (name[0] == '/') return "it is an absolute path";
  if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-")])
    return "it holds a character that no header of the toolkit has";
  for (const char *part = name; part != NULL; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
      return "it leaves the folder with '..'";
  }
  return NULL;
}

/*
** A header name at the cursor: <x> or "x", the latter rewritten as the former.
** `what` is "#include" or "__has_include", for the message.
*/
static cawb_status take_header(lexer *l, const char *what, char name[NAME_MOST]) {
  char why[512];
  size_t n = 0;
  unsigned line = l->line;
  char quote = peek(l), *open = l->at;
  if (quote != '<' && quote != '"') {
    snprintf(why, sizeof why, "%s needs a literal name: write %s <cuda_fp16.h>%s", what,
             what[0] == '#' ? what : "__has_include(", what[0] == '#' ? "" : ")");
    return refuse(l, line, why);
  }
  take(l);
  for (char c; (c = peek(l)) != (quote == '<' ? '>' : '"'); take(l)) {
    if (c == '\n' || c == '\0' || n + 1 == NAME_MOST)
      return refuse(l, line, "a header's name has no end or is too long");
    name[n++] = c;
  }
  name[n] = '\0';
  *open = '<';
  *l->at = '>';
  take(l);
  if (forbidden(name) == NULL) return CAWB_OK;
  snprintf(why, sizeof why, "%s of '%.200s' is not allowed, %s: only the CUDA toolkit's own "
           "headers can be included, by names such as <cuda_fp16.h>", what, name, forbidden(name));
  return refuse(l, line, why);
}

/* Behind "#include": the name and nothing else. */
static cawb_status include(lexer *l) {
  char name[NAME_MOST];
  skip_blanks(l);
  cawb_status code = take_header(l, "#include", name);
  if (code != CAWB_OK) return code;
  skip_blanks(l);
  if (peek(l) != '\n' && peek(l) != '\0')
    return refuse(l, l->line, "only a comment may follow the name in #include");
  l->head->includes++;
  if (!l->open) return CAWB_OK;
  take(l);
  l->fresh = 1;
  cawb_bytes_print(&l->head->headers, "#include <%s>\n", name);
  l->head->size = (size_t)(l->at - l->start);
  l->head->line = l->line;
  return CAWB_OK;
}

/* __has_include tells what files exist: the same names as for #include. */
static cawb_status has_include(lexer *l, const char *word) {
  char name[NAME_MOST];
  if (strcmp(word, "__has_include") != 0) return refuse(l, l->line, "use __has_include(<name>)");
  skip_blanks(l);
  if (peek(l) != '(')
    return l->defining ? refuse(l, l->line, "__has_include cannot be hidden in a macro") : CAWB_OK;
  take(l);
  skip_blanks(l);
  return take_header(l, "__has_include", name);
}

/* --------------------------------------------------------------- directives */

/* Behind the # of a line. */
static cawb_status directive(lexer *l) {
  char word[NAME_MOST];
  skip_blanks(l);
  if (digit(peek(l)))
    return refuse(l, l->line, "remove the line marker: positions are counted in kernel.cu itself");
  take_word(l, word);
  if (strcmp(word, "include") == 0) return include(l);
  if (strcmp(word, "line") == 0)
    return refuse(l, l->line, "remove #line: positions are counted in kernel.cu itself");
  if (strcmp(word, "include_next") == 0 || strcmp(word, "import") == 0 || strcmp(word, "embed") == 0)
    return refuse(l, l->line, "#include_next, #import and #embed are not allowed: use #include <name>");
  l->defining = strcmp(word, "define") == 0;
  l->open = 0;
  return CAWB_OK;
}

/*
** Whether a word is __DATE__ or __TIME__, or so much of one that ## could make it of it. NVRTC lets nobody
** give these another value, and a build that follows the clock could not be repeated.
*/
static int tells_the_time(const char *text) {
  static const char *const names[] = { "__DATE__", "__TIME__" };
  size_t n = strlen(text);
  for (size_t i = 0; n >= 3 && n <= 8 && i < sizeof names / sizeof names[0]; i++)
    if (strncmp(text, names[i], n) == 0 || (n > 3 && strcmp(text, names[i] + 8 - n) == 0)) return 1;
  return 0;
}

/* A word, and the string or character that it may be the prefix of. */
static cawb_status word(lexer *l) {
  char text[NAME_MOST];
  int suffix = l->glued;
  l->glued = 0;
  take_word(l, text);
  size_t n = strlen(text);
  int raw = n > 0 && n < 4 && text[n - 1] == 'R' &&
    (n == 1 || strcmp(text, "LR") == 0 || strcmp(text, "uR") == 0 || strcmp(text, "UR") == 0
     || strcmp(text, "u8R") == 0);
  if (raw && suffix && peek(l) == '"')
    return refuse(l, l->line, "a literal and a raw string literal need a blank between them");
  if (raw && accept(l, '"')) return skip_raw(l);
  if (tells_the_time(text))
    return refuse(l, l->line, "__DATE__ and __TIME__ differ from build to build, so that nothing could be repeated: "
                  "write a constant (parts of these names are refused too, ## could join them)");
  if (strncmp(text, "__has_include", 13) == 0 || strcmp(text, "__has_embed") == 0)
    return has_include(l, text);
  return CAWB_OK;
}

static cawb_status token(lexer *l) {
  char c = peek(l);
  int fresh = l->fresh;
  if (c == '\n') {
    l->fresh = 1;
    l->defining = l->separated = 0;
    take(l);
    return CAWB_OK;
  }
  l->fresh = 0;
  if (fresh && (c == '#' || (c == '%' && peek_second(l) == ':'))) {
    if (take(l) == '%') take(l);
    return directive(l);
  }
  l->open = 0;
  if (word_start(c)) return word(l);
  l->glued = 0;
  if ((unsigned char)c >= 0x80 || c == '$')
    return refuse(l, l->line, "a character that only comments and strings may hold (not ASCII, or $)");
  if (digit(c) || (c == '.' && digit(peek_second(l)))) {
    skip_number(l);
    return CAWB_OK;
  }
  take(l);
  if (c == '"' || c == '\'') {
    skip_literal(l, c);
    l->glued = 1;
  }
  return CAWB_OK;
}

/* NVRTC stops reading at such a byte, even in a comment, and says nothing. */
static cawb_status check_encoding(lexer *l) {
  char why[128];
  unsigned line = 1;
  const char *flaw = cawb_utf8_flaw(l->start);
  if (flaw == NULL) return CAWB_OK;
  for (const char *p = l->start; p < flaw; p++) line += *p == '\n';
  snprintf(why, sizeof why, "the byte 0x%02x is no UTF-8: save the source as UTF-8, or write "
           "ASCII only", (unsigned char)*flaw);
  return refuse(l, line, why);
}

/* What compilers disagree on, looked for everywhere, comments included. */
static cawb_status check_characters(lexer *l) {
  unsigned line = 1;
  for (const char *p = l->start; *p != '\0'; p++) {
    unsigned char c = (unsigned char)*p;
    line += c == '\n';
    if (c == '\r' && p[1] != '\n')
      return refuse(l, line, "a carriage return without a newline: use Unix line ends");
    if (c < ' ' && strchr("\t\n\v\f\r", c) == NULL)
      return refuse(l, line, "a control character: remove it");
    if (c == '?' && p[1] == '?' && (p[2] == '=' || p[2] == '/'))
      return refuse(l, line, "a trigraph (\?\?= or \?\?/): write # or \\ instead");
  }
  return CAWB_OK;
}

cawb_status cawb_source_check(char *source, cawb_source_head *head, cawb_err *err) {
  lexer l = { .at = source, .start = source, .line = 1, .fresh = 1, .open = 1, .head = head, .err = err };
  memset(head, 0, sizeof *head);
  head->line = 1;
  cawb_status code = check_encoding(&l);
  if (code == CAWB_OK) code = check_characters(&l);
  while (code == CAWB_OK) {
    const char *before = l.at;
    skip_blanks(&l);
    if (l.at != before) l.glued = 0;
    if (l.suspect > 0)
      return refuse(&l, l.suspect, "a comment behind a number with ' in it: put it on its own line");
    if (peek(&l) == '\0') break;
    code = token(&l);
  }
  if (code == CAWB_OK && head->headers.failed)
    return cawb_fail(err, CAWB_ERR_MEMORY, "no memory to read the source");
  return code;
}

void cawb_source_head_free(cawb_source_head *head) { cawb_bytes_free(&head->headers); }

int cawb_source_is_blank(const char *source) {
  const char *p = source;
  for (;;) {
    p += strspn(p, " \t\r\n\v\f");
    if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
      p = strstr(p + 2, "*/");
      if (p == NULL) return 0;
      p += 2;
    } else {
      return *p == '\0';
    }
  }
}

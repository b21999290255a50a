/*
** test_sim_cores.c - blocks on several cores: whatever a kernel's blocks do to each other, what it
** leaves in memory, what is counted, found and modelled is what one core gives, bit for bit.
*/
#include "check.h"
#include "sim/memory/device.h"
#include "sim/memory/log.h"
#include "sim/parse/module.h"
#include "sim_fixture.h"

enum { WORDS = 1 << 14, BLOCKS = 37 };

typedef struct outcome {
  cawb_status status;
  char message[sizeof ((cawb_err *)0)->msg];
  cawb_report report;
  int words[WORDS];
  int beside;                   /* launches whose blocks ran beside each other */
} outcome;

static int words[WORDS];

/* Two launches of a kernel `(out, in)`: the second knows what the first has found out. */
static void run_on(outcome *o, const char *file, const char *kernel, unsigned threads, unsigned cores, int sanitize,
                   uint64_t sample) {
  sim_fixture x;
  memset(o, 0, sizeof *o);
  fixture_open(&x, file);
  sim_device *d = (sim_device *)x.d;
  cawb_device_threads(x.d, cores);
  cawb_device_sanitize(x.d, sanitize);
  cawb_device_sample(x.d, sample);
  cawb_addr out = tensor(&x, "outputs[1]", words, sizeof words);
  cawb_addr in = tensor(&x, "inputs[1]", words, sizeof words);
  if (sanitize) sim_region_poisoned(sim_region_at(d, out));
  for (int i = 0; i < 2 && o->status == CAWB_OK; i++) {
    ARG(&x, cawb_addr, out); ARG(&x, cawb_addr, in);
    o->status = launch(&x, kernel, BLOCKS, 1, threads, 1, 0);
  }
  memcpy(o->message, x.err.msg, sizeof o->message);
  o->report = x.report;
  o->beside = (int)d->beside;
  fetch_tensor(&x, o->words, out, sizeof o->words);
  fixture_close(&x);
}

static void same(const outcome *a, const outcome *b, const char *kernel, unsigned cores) {
  int fine = a->status == b->status && strcmp(a->message, b->message) == 0 &&
             memcmp(&a->report, &b->report, sizeof a->report) == 0 &&
             memcmp(a->words, b->words, sizeof a->words) == 0;
  if (!fine) fprintf(stderr, "%s on %u: %s %s, one core: %s %s\n", kernel, cores, b->message, b->report.race,
                     a->message, a->report.race);
  CHECK(fine);
}

/* Without and with the sanitizer, on 1, 2 and 8 cores and on as many as there are; `beside`
** launches of the two run blocks beside each other where a number is given. And with 11 blocks of all, where there are three ways. */
static void check_ways(const char *file, const char *kernel, unsigned threads, int beside, int ways) {
  static const uint64_t samples[] = { 0, 0, 11 };
  static const unsigned numbers[] = { 2, 8, 0 };
  static outcome one, many;
  for (int way = 0; way < ways; way++) {
    run_on(&one, file, kernel, threads, 1, way == 1, samples[way]);
    CHECK(one.beside == 0);
    for (unsigned i = 0; i < 3; i++) {
      unsigned cores = numbers[i];
      run_on(&many, file, kernel, threads, cores, way == 1, samples[way]);
      same(&one, &many, kernel, cores);
      int told = way < 2 && cores > 0;
      if (told && many.beside != beside) fprintf(stderr, "%s: %d beside\n", kernel, many.beside);
      CHECK(!told || many.beside == beside);
    }
  }
}

static void check_kernel(const char *file, const char *kernel, unsigned threads, int beside) {
  check_ways(file, kernel, threads, beside, 3);
}

static void test_apart(void) {
  check_kernel("cores.ptx", "words_apart", 32, 2);
  check_kernel("cores.ptx", "halves_apart", 32, 2);
}

static void test_meeting(void) {
  check_kernel("cores.ptx", "passed_on", 32, 0);
  check_kernel("cores.ptx", "shifted", 32, 0);
  check_kernel("cores.ptx", "last_stays", 32, 0);
  check_ways("cores.ptx", "led_astray", 32, 0, 2);
  check_kernel("races.ptx", "blocks_race", 32, 0);
  check_kernel("races.ptx", "blocks_rows_race", 128, 0);
  check_kernel("races.ptx", "blocks_part_race", 32, 0);
}

static int takes_turns(const char *file, const char *kernel) {
  sim_fixture x;
  fixture_open(&x, file);
  const sim_function *f = sim_module_find(x.m, kernel);
  int turns = f != NULL ? f->in_order : -1;
  fixture_close(&x);
  return turns;
}

static void test_speaking(void) {
  CHECK(takes_turns("cores.ptx", "tickets") == 1 && takes_turns("races.ptx", "blocks_turns") == 1);
  CHECK(takes_turns("races.ptx", "histogram") == 0);       /* in shared memory */
  CHECK(takes_turns("cores.ptx", "passed_on") == 0 && takes_turns("basic.ptx", "softmax_rows") == 0);
  check_kernel("cores.ptx", "tickets", 32, 0);
}

static void test_faults(void) {
  static outcome o;
  check_kernel("cores.ptx", "beyond", 32, 0);
  run_on(&o, "cores.ptx", "beyond", 32, 8, 1, 0);
  CHECK(o.status == CAWB_ERR_CANDIDATE && strstr(o.message, "block (9,0,0)") != NULL);
}

/* Shared and local memory and registers that it has not written: every block finds what the first one does. */
static void test_leftovers(void) {
  static outcome o;
  for (unsigned cores = 1; cores <= 8; cores *= 8) {
    int differ = 0;
    run_on(&o, "cores.ptx", "left_behind", 32, cores, 0, 0);
    CHECK(o.beside == (cores > 1 ? 2 : 0));
    for (int i = 0; i < BLOCKS * 32; i++) {
      int stored = (words[i % 32] & 7) < 4 ? i / 32 : 0;      /* by the block itself */
      differ += o.words[i] != o.words[i % 32] + stored;
    }
    CHECK(differ == 0);
  }
}

/* With the sanitizer off: what it would find makes blocks run in order. */
static void test_in_place(void) {
  static outcome one, many;
  run_on(&one, "cores.ptx", "rows_in_place", 64, 1, 0, 0);
  run_on(&many, "cores.ptx", "rows_in_place", 64, 8, 0, 0);
  same(&one, &many, "rows_in_place", 8);
  CHECK(many.beside == 2);
}

/* Memory that a kernel's blocks may meet in is as it was, byte for byte, before they run in order. */
static void test_undo(void) {
  sim_fixture x;
  int before[WORDS], after[WORDS];
  fixture_open(&x, "cores.ptx");
  sim_device *d = (sim_device *)x.d;
  cawb_addr a = tensor(&x, "t", words, sizeof words);
  sim_region *r = sim_region_at(d, a);
  CHECK(sim_undo_begin(d) && sim_undo_note(d, r, 5, 6) && sim_undo_note(d, r, SIM_CHUNK - 1, SIM_CHUNK + 1));
  CHECK(d->kept == 2 && r->chunks[0] != NULL && r->chunks[1] != NULL && r->chunks[2] == NULL);
  fetch_tensor(&x, before, a, sizeof before);
  memset(r->host, 0, 2 * SIM_CHUNK);
  sim_undo_restore(d);
  sim_undo_end(d);
  fetch_tensor(&x, after, a, sizeof after);
  CHECK(memcmp(before, after, sizeof before) == 0 && r->chunks[0] == NULL && d->spares == 2 && d->kept == 0);
  fixture_close(&x);
}

/* A sum that nobody began is no number, in every block. */
static void test_unset(void) {
  static const char PTX[] = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
    ".reg .b32 %r<2>; .reg .f32 %f<3>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.f32 %f2, %f1, 0f3F800000;\n"
    "st.global.f32 [%rd3], %f2;\nmov.f32 %f1, 0f40000000;\nret;\n}\n";
  sim_fixture x = { 0 };
  float out[BLOCKS];
  CHECK(open_h100(&x.d, &x.err) == CAWB_OK && cawb_device_load(x.d, &(cawb_image){ .ptx = PTX }, &x.m, &x.err) == CAWB_OK);
  cawb_addr a = tensor(&x, "outputs[1]", words, sizeof out);
  ARG(&x, cawb_addr, a);
  CHECK(launch(&x, "k", BLOCKS, 1, 1, 1, 0) == CAWB_OK);
  fetch_tensor(&x, out, a, sizeof out);
  for (int i = 0; i < BLOCKS; i++) CHECK(out[i] != out[i]);
  fixture_close(&x);
}

int main(void) {
  for (int i = 0; i < WORDS; i++) words[i] = i == 0 ? 0x7ffffff0 : i < 64 ? i % 7 : (int)((unsigned)i * 2654435761u >> 8);
  test_apart();
  test_meeting();
  test_speaking();
  test_faults();
  test_leftovers();
  test_in_place();
  test_undo();
  test_unset();
  return check_report();
}

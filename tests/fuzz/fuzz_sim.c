/*
** fuzz_sim.c - PTX text into the simulated device, and each of its entries run by
** four small blocks, of a warpgroup and some more where there are products of those. A
** kernel may loop for ever: it is left after 50 ms by a jump out of a signal, whose device
** is then abandoned, not freed. libFuzzer has a thread of its own: a signal that finds it
** is handed on.
*/
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "sim_figures.h"
#include "fuzz.h"
#include "gpu/ptx/kernels.h"

enum { BUFFER = 65536 };

static sigjmp_buf out_of_time;

static pthread_t runner;
static volatile sig_atomic_t running;

static void on_time(int sig) {
  if (!pthread_equal(pthread_self(), runner)) pthread_kill(runner, sig);
  else if (running) {
    running = 0;
    siglongjmp(out_of_time, 1);
  }
}

static void set_timer(long us) {
  struct itimerval t = { .it_value = { .tv_usec = us } };
  setitimer(ITIMER_VIRTUAL, &t, NULL);
}

/* Pointers lead to the buffer, everything else is 7. */
static unsigned char *pack(const cawb_kernel *k, cawb_addr buffer) {
  unsigned char *args = malloc(k->args_size + 1);
  if (args == NULL) abort();
  memset(args, 0, k->args_size + 1);
  for (size_t i = 0; i < k->nparams; i++) {
    if (k->params[i].size == 8) memcpy(args + k->params[i].offset, &buffer, 8);
    else if (k->params[i].size > 0) args[k->params[i].offset] = 7;
  }
  return args;
}

static void run_entry(cawb_device *d, cawb_module *m, const cawb_kernel *k, cawb_addr buffer, unsigned threads) {
  cawb_report report;
  cawb_err err;
  unsigned char *args = pack(k, buffer);
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = k->name, .grid = { 4, 1, 1 }, .block = { threads, 1, 1 },
                  .cluster = { 1, 1, 1 }, .args = args, .args_size = k->args_size };
  running = 1;
  set_timer(50000);
  cawb_device_run(d, m, &s, 1, &report, &err);
  running = 0;
  set_timer(0);
  free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  cawb_device *d;
  cawb_module *m;
  cawb_kernels kernels;
  cawb_err err;
  cawb_addr buffer;
  cawb_image image = { .ptx = text };
  runner = pthread_self();
  signal(SIGVTALRM, on_time);
  FUZZ_CHECK(open_h100(&d, &err) == CAWB_OK);
  if (cawb_device_load(d, &image, &m, &err) == CAWB_OK) {
    FUZZ_CHECK(cawb_device_alloc(d, BUFFER, "buffer", &buffer, &err) == CAWB_OK);
    if (cawb_ptx_kernels(&kernels, text, NULL, &err) == CAWB_OK) {
      if (sigsetjmp(out_of_time, 1) != 0) return 0;
      for (size_t i = 0; i < kernels.count && i < 4; i++)
        if (kernels.list[i].args_size < 4096) run_entry(d, m, &kernels.list[i], buffer, strstr(text, "wgmma") != NULL ? 136 : 48);
      cawb_ptx_free(&kernels);
    }
    cawb_device_unload(d, m);
  }
  cawb_device_close(d);
  free(text);
  return 0;
}

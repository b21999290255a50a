/* interrupt.c - the one place with process-wide state: a signal has no other. */
#include "interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts;

static void on_signal(int sig) {
  (void)sig;
  if (interrupts++ > 0) _exit(130);
}

void cawb_interrupt_install(void) {
  struct sigaction act;
  memset(&act, 0, sizeof act);
  act.sa_handler = on_signal;          /* no SA_RESTART: poll must return */
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  act.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &act, NULL);
}

int cawb_interrupted(void) { return interrupts > 0; }

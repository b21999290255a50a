/* interrupt.c - the one place with process-wide state: a signal has no other. */
#include "base/process/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts, spare;   /* spare: those that only ask */

static void on_signal(int sig) {
  static const char note[] = "\ncawb: finishing the turn; once more stops it\n";
  int before = errno;
  (void)sig;
  if (interrupts++ > spare) _exit(130);
  if (interrupts == spare && isatty(2) && write(2, note, sizeof note - 1) < 0)
    interrupts = spare;                /* it is told nothing, and no more can be done */
  errno = before;
}

void cawb_interrupt_install(void) {
  struct sigaction act, hangup;
  memset(&act, 0, sizeof act);
  act.sa_handler = on_signal;          /* no SA_RESTART: poll must return */
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &act, NULL);     /* nohup ignores it, and that is inherited */
  act.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &act, NULL);
}

void cawb_interrupt_patient(int patient) { spare = patient != 0; }
int  cawb_interrupted(void) { return interrupts > spare; }
int  cawb_interrupt_asked(void) { return interrupts > 0; }

/*
** interrupt.h - Ctrl-C. It sets a flag that every wait of the judge notices
** (CAWB_ERR_INTERRUPTED); one more ends the process at once. While a run is patient the
** first one only asks: what is under way may be finished, the second one interrupts it.
*/
#ifndef CAWB_PROCESS_INTERRUPT_H
#define CAWB_PROCESS_INTERRUPT_H

void cawb_interrupt_install(void);          /* SIGINT, SIGTERM, SIGHUP; ignores SIGPIPE */
void cawb_interrupt_patient(int patient);
int  cawb_interrupted(void);                /* stop now */
int  cawb_interrupt_asked(void);            /* stop, once what is under way is done */

#endif

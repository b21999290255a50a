/*
** interrupt.h - Ctrl-C. The first one sets a flag that every wait of the judge
** notices (CAWB_ERR_INTERRUPTED); a second one ends the process at once.
*/
#ifndef CAWB_INTERRUPT_H
#define CAWB_INTERRUPT_H

void cawb_interrupt_install(void);   /* SIGINT and SIGTERM; ignores SIGPIPE */
int  cawb_interrupted(void);

#endif

/*
** utf8.h - text that others will read. Candidates choose the bytes of kernel
** sources, error values and names; JSON, SQLite and models' endpoints want UTF-8.
*/
#ifndef CAWB_BASE_UTF8_H
#define CAWB_BASE_UTF8_H

/* Each byte that belongs to no well-formed sequence becomes '?'. In place. */
void cawb_utf8_clean(char *text);

/* The first such byte, or NULL. */
const char *cawb_utf8_flaw(const char *text);

#endif

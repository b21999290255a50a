/*
** lines.h - WebSockets: a line is a connection whose messages are each answered before the next is asked.
*/
#ifndef CAWB_SERVE_LINES_H
#define CAWB_SERVE_LINES_H

#include "base/server/server.h"

/* Have /ws of a server that has started open lines. */
void cawb_lines_serve(cawb_server *s);

#endif

/*
** lines.c - see lines.h. civetweb shakes hands and gives each WebSocket a thread, which waits here while the reader has the
** socket (reader.h): it goes on when the line is over, and closes it.
*/
#include "base/server/lines.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/server/reader.h"

/* A line before its handshake: it is opened to be told its farewell, and closed, where it has one. */
typedef struct guest {
  cawb_line line;
  cawb_bytes farewell;
} guest;

static guest *new_guest(cawb_server *s) {
  guest *g = calloc(1, sizeof *g);
  if (g == NULL) return NULL;
  pthread_mutex_init(&g->line.lock, NULL);
  pthread_cond_init(&g->line.changed, NULL);
  g->line.server = s;
  g->line.number = ++s->connections;
  g->line.frames.most = s->body;
  return g;
}

static void free_guest(guest *g) {
  pthread_mutex_destroy(&g->line.lock);
  pthread_cond_destroy(&g->line.changed);
  cawb_frames_free(&g->line.frames);
  cawb_bytes_free(&g->line.in);
  cawb_bytes_free(&g->line.out);
  cawb_bytes_free(&g->farewell);
  free(g);
}

/* Ask whether it may be opened: 0, or a status of HTTP. */
static int ask_to_open(cawb_server *s, const struct mg_connection *c, guest *g) {
  cawb_asked *a = cawb_server_describe(c, CAWB_ASKED_OPEN, g->line.number);
  int status = a != NULL ? cawb_queue_ask(s->queue, a) : 503;
  if (status == 0 && a->status != 200) {
    g->farewell = a->answer;
    memset(&a->answer, 0, sizeof a->answer);
    if (g->farewell.size == 0) status = a->status;
  }
  cawb_asked_drop(a);
  return status;
}

/* Before the handshake is answered: 0 lets it happen. A refusal is told as HTTP. */
static int open_line(const struct mg_connection *c, void *data) {
  cawb_server *s = data;
  int status = cawb_server_refusal(s, c);
  guest *g = status == 0 ? new_guest(s) : NULL;
  if (status == 0) status = g != NULL ? ask_to_open(s, c, g) : 503;
  if (status == 0) {
    mg_set_user_connection_data(c, g);
    return 0;
  }
  if (g != NULL) free_guest(g);
  cawb_server_refuse((struct mg_connection *)c, status);      /* nothing else is written where this returns 1 */
  return 1;
}

/* ---- the socket, of which civetweb tells no more than its ends */

typedef union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
} address;

static int port_of(const address *a) {
  return ntohs(a->any.sa_family == AF_INET ? a->four.sin_port : a->any.sa_family == AF_INET6 ? a->six.sin6_port : 0);
}

/* Whether a descriptor is the socket between a client's port and this one. */
static int is_between(int fd, const struct mg_request_info *info, int port) {
  address here, there;
  char text[INET6_ADDRSTRLEN] = "";
  socklen_t size = sizeof here, other = sizeof there;
  if (getsockname(fd, &here.any, &size) != 0 || getpeername(fd, &there.any, &other) != 0) return 0;
  if (port_of(&here) != port || port_of(&there) != info->remote_port) return 0;
  const void *of = there.any.sa_family == AF_INET ? (const void *)&there.four.sin_addr : (const void *)&there.six.sin6_addr;
  return inet_ntop(there.any.sa_family, of, text, sizeof text) != NULL && strcmp(text, info->remote_addr) == 0;
}

/* -1: there is none. */
static int socket_of(const struct mg_request_info *info, int port) {
  DIR *all = opendir("/proc/self/fd");
  int found = -1;
  for (const struct dirent *one; found < 0 && all != NULL && (one = readdir(all)) != NULL;)
    if (one->d_name[0] != '.' && is_between(atoi(one->d_name), info, port)) found = atoi(one->d_name);
  if (all != NULL) closedir(all);
  return found;
}

/* ---- between handshake and end */

static void write_farewell(struct mg_connection *c, const guest *g) {
  static const char words[] = "\x03\xf5" "CAPACITY_REACHED";              /* 1013 */
  mg_websocket_write(c, MG_WEBSOCKET_OPCODE_TEXT, g->farewell.data, g->farewell.size);
  mg_websocket_write(c, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, words, sizeof words - 1);
}

static void serve_guest(struct mg_connection *c, void *data) {
  cawb_server *s = data;
  guest *g = mg_get_user_connection_data(c);
  if (g == NULL) return;
  g->line.fd = socket_of(mg_get_request_info(c), s->port);
  if (g->farewell.size > 0) write_farewell(c, g);
  else if (g->line.fd >= 0) cawb_reader_serve(s->reader, &g->line);
}

/* Nothing is read by civetweb. */
static int no_frame(struct mg_connection *c, int bits, char *bytes, size_t size, void *data) {
  (void)c, (void)bits, (void)bytes, (void)size, (void)data;
  return 0;
}

static void close_line(const struct mg_connection *c, void *data) {
  const cawb_server *s = data;
  guest *g = mg_get_user_connection_data(c);
  if (g == NULL) return;
  cawb_asked *a = cawb_server_describe(c, CAWB_ASKED_CLOSED, g->line.number);
  if (a != NULL) cawb_queue_ask(s->queue, a);
  cawb_asked_drop(a);
  mg_set_user_connection_data(c, NULL);
  free_guest(g);
}

void cawb_lines_serve(cawb_server *s) {
  mg_set_websocket_handler(s->context, "/ws", open_line, serve_guest, no_frame, close_line, s);
}

/* serve.c - see serve.h. */
#include "base/process/serve.h"

#include <inttypes.h>

/* The request's number, by which its answer is known. */
static cJSON *new_reply(const cawb_message *m) {
  const cJSON *call = cJSON_GetObjectItemCaseSensitive(m->json, "call");
  cJSON *reply = cJSON_CreateObject();
  if (cJSON_IsNumber(call)) cJSON_AddNumberToObject(reply, "call", call->valuedouble);
  return reply;
}

/* Nothing of a reply that is too long was sent: its place is still to be filled. */
static cawb_status send_excuse(int fd, const cawb_message *m, const cawb_err *why, cawb_err *err) {
  cJSON *reply = new_reply(m);
  cJSON_AddBoolToObject(reply, "ok", 0);
  cJSON_AddStringToObject(reply, "name", cawb_status_name(CAWB_ERR_INVALID));
  cJSON_AddStringToObject(reply, "message", why->msg);
  cawb_status rc = cawb_message_send(fd, reply, NULL, 0, CAWB_FOREVER, err);
  cJSON_Delete(reply);
  return rc;
}

static cawb_status answer(int fd, cawb_handler handle, void *ctx, const cawb_message *m,
                          cawb_err *err) {
  cJSON *reply = new_reply(m);
  cawb_err why = { CAWB_OK, "" };
  cawb_status rc = handle(ctx, m, reply, &why);
  cJSON_AddBoolToObject(reply, "ok", rc == CAWB_OK);
  if (rc != CAWB_OK) {
    cJSON_AddStringToObject(reply, "name", cawb_status_name(rc));
    cJSON_AddStringToObject(reply, "message", why.msg);
  }
  rc = cawb_message_send(fd, reply, NULL, 0, CAWB_FOREVER, &why);
  cJSON_Delete(reply);
  if (rc == CAWB_ERR_INVALID) return send_excuse(fd, m, &why, err);
  if (rc != CAWB_OK) *err = why;
  return rc;
}

int cawb_serve(int fd, cawb_handler handle, void *ctx) {
  cawb_message m;
  cawb_err err;
  for (;;) {
    cawb_status rc = cawb_message_receive(fd, &m, CAWB_MESSAGE_MAX, CAWB_FOREVER, &err);
    if (rc == CAWB_ERR_DIED) return 0;       /* the judge closed its end */
    if (rc != CAWB_OK) return 1;
    rc = answer(fd, handle, ctx, &m, &err);
    cawb_message_free(&m);
    if (rc != CAWB_OK) return rc == CAWB_ERR_DIED ? 0 : 1;
  }
}

const char *cawb_request_text(const cJSON *request, const char *key) {
  return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, key));
}

cawb_status cawb_request_count(uint64_t *out, const cJSON *request, const char *key,
                               uint64_t most, cawb_err *err) {
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(request, key);
  if (v == NULL) return CAWB_OK;
  double d = cJSON_IsNumber(v) ? v->valuedouble : -1;
  if (d >= 0 && d <= (double)most && d == (double)(uint64_t)d) {
    *out = (uint64_t)d;
    return CAWB_OK;
  }
  return cawb_fail(err, CAWB_ERR_INVALID, "the field '%s' of a request must be a whole number "
                   "from 0 to %" PRIu64, key, most);
}

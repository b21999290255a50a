/* serve.c - see serve.h. */
#include "serve.h"

static cawb_status answer(int fd, cawb_handler handle, void *ctx, const cawb_message *m,
                          cawb_err *err) {
  cJSON *reply = cJSON_CreateObject();
  cawb_err why;
  cawb_status rc = handle(ctx, m, reply, &why);
  cJSON_AddBoolToObject(reply, "ok", rc == CAWB_OK);
  if (rc != CAWB_OK) {
    cJSON_AddStringToObject(reply, "name", cawb_status_name(rc));
    cJSON_AddStringToObject(reply, "message", why.msg);
  }
  rc = cawb_message_send(fd, reply, NULL, 0, CAWB_FOREVER, err);
  cJSON_Delete(reply);
  return rc;
}

int cawb_serve(int fd, cawb_handler handle, void *ctx) {
  cawb_message m;
  cawb_err err;
  for (;;) {
    cawb_status rc = cawb_message_receive(fd, &m, CAWB_FOREVER, &err);
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

double cawb_request_number(const cJSON *request, const char *key, double fallback) {
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(request, key);
  return cJSON_IsNumber(v) ? v->valuedouble : fallback;
}

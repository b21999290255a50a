/* cudart.c - see cudart.h. */
#include "sim/cudart/cudart.h"
#include "sim/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudart/memory.h"
#include "sim/cudart/modules.h"
#include "sim/cudart/note.h"
#include "sim/cudart/streams.h"

static cawb_cudart runtime = { .report = -1 };
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *text_of(const cJSON *json, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

/* {"device": "sim:h100", "figures": {...}, "report": path}, as `cawb exec` writes it. */
static cawb_status open_as_told(cawb_cudart *rt, const cJSON *told) {
  const char *device = text_of(told, "device");
  cawb_note_open(rt, text_of(told, "report"));
  cawb_status status = cawb_figures_read(&rt->figures, cJSON_GetObjectItemCaseSensitive(told, "figures"), &rt->why);
  if (status == CAWB_OK)
    status = cawb_device_open_sim(&rt->device, strncmp(device, "sim:", 4) == 0 ? device + 4 : device, &rt->figures,
                                  &rt->why);
  return status;
}

static void begin(void) {
  cawb_cudart *rt = &runtime;
  pthread_mutexattr_t recursive;               /* a host function that a stream calls may call back */
  const char *text = getenv("CAWB_EXEC");
  cJSON *told = text != NULL ? cJSON_Parse(text) : NULL;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&rt->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  if (told == NULL) cawb_fail(&rt->why, CAWB_ERR_MISSING, "start the program with cawb exec");
  else if (open_as_told(rt, told) != CAWB_OK) cawb_note_stop(rt, "device", rt->why.msg);
  cJSON_Delete(told);
  if (rt->device == NULL) return;
  cawb_device_lasting(rt->device);
  cawb_device_prints(rt->device, stdout);
  cawb_device_threads(rt->device, 0);
  cawb_note_begin(rt);
}

cawb_cudart *cawb_cudart_enter(void) {
  pthread_once(&once, begin);
  pthread_mutex_lock(&runtime.lock);
  return &runtime;
}

int cawb_cudart_leave(cawb_cudart *rt, int error) {
  if (error != CAWB_CUDA_OK && error != CAWB_CUDA_NOT_READY) rt->last = error;
  pthread_mutex_unlock(&rt->lock);
  return error;
}

int cawb_cudart_ready(const cawb_cudart *rt) {
  return rt->device == NULL ? CAWB_CUDA_INITIALIZATION : rt->broken;
}

/* When the program ends by itself. */
__attribute__((destructor)) static void end(void) {
  cawb_cudart *rt = &runtime;
  if (rt->device != NULL) cawb_note_end(rt);
  cawb_note_close(rt);
  cawb_modules_free(rt);
  cawb_memory_free_all(rt);
  cawb_streams_free(rt);
  cawb_device_close(rt->device);
  rt->device = NULL;
}

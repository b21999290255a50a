/* vendor.c - see vendor.h. */
#include "cuda/vendor.h"

#include <dlfcn.h>
#include <string.h>

cawb_status cawb_vendor_open(cawb_vendor *v, const char *file, const cawb_places *places,
                             void *table, const cawb_vendor_symbol *symbols, size_t n,
                             cawb_err *err) {
  cawb_err why;
  if (cawb_locate_library(&v->found, places, file, &why) != CAWB_OK)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%.900s; or write a kernel", why.msg);
  /* NODELETE: it keeps threads and state in the process. */
  v->handle = dlopen(v->found.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (v->handle == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s cannot be loaded: %s", file, dlerror());
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(v->handle, symbols[i].name);
    if (f == NULL)
      return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s has no %s: install another version of it",
                       v->found.path, symbols[i].name);
    memcpy((char *)table + symbols[i].offset, &f, sizeof f);
  }
  return CAWB_OK;
}

void cawb_vendor_close(cawb_vendor *v) {
  if (v->handle != NULL) dlclose(v->handle);
  v->handle = NULL;
}

/* call.c - see call.h. */
#include "cuda/launcher/call.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/launcher/driver.h"

enum { FEW = 256, ROOM = 512 };       /* tensors without an allocation; bytes of an error's words */

static const char NAME[] = "cawb.call";

/* What the first steps made on a stream, of parameters that lay there and had these versions. */
typedef struct kept {
  struct kept *next;
  void *stream;
  PyObject *room, *parameters;        /* held, so that nobody else gets their addresses */
  uint64_t *addresses, *versions;
} kept;

typedef struct call {
  cawb_call_about about;
  kept *kept;
  PyObject *settings, *data_ptr, *version, *as_strided;
} call;

/* One call under way. */
typedef struct work {
  const call *c;
  PyObject *const *args;
  PyObject *held, *made;              /* memory until all is enqueued; computed tensors */
  void *stream;
  uint64_t *table, few[FEW];
} work;

/* ---- what Python's objects say ---- */

static int number_of(PyObject *taken, uint64_t *out) {
  if (taken == NULL) return -1;
  *out = PyLong_AsUnsignedLongLong(taken);
  Py_DecRef(taken);
  return *out == (uint64_t)-1 && PyErr_Occurred() != NULL ? -1 : 0;
}

static void *handle_of(const call *c, PyObject *tensor) { return (char *)tensor + c->about.torch->offset; }

static int address_of(const call *c, PyObject *tensor, uint64_t *out) {
  void *at = NULL;
  if (c->about.torch->offset != 0 && c->about.torch->address(handle_of(c, tensor), &at) == 0) {
    *out = (uint64_t)(uintptr_t)at;
    return 0;
  }
  return number_of(PyObject_CallMethodObjArgs(tensor, c->data_ptr, NULL), out);
}

/* -1 with no error set: tensors of inference mode have no versions. */
static int versions_of(const work *w, uint64_t *out) {
  const cawb_call_about *a = &w->c->about;
  for (uint64_t i = 0; i < a->nread; i++) {
    if (number_of(PyObject_GetAttr(w->args[a->read[i]], w->c->version), &out[i]) == 0) continue;
    PyErr_Clear();
    return -1;
  }
  return 0;
}

static int has_form(const call *c, PyObject *tensor, const cawb_call_form *form) {
  const cawb_call_torch *t = c->about.torch;
  void *handle = handle_of(c, tensor);
  int64_t dims = 0, *size = NULL, *stride = NULL;
  size_t bytes = (size_t)form->dims * sizeof *size;
  if (t->dims(handle, &dims) != 0 || (uint64_t)dims != form->dims) return 0;
  if (dims == 0) return 1;
  if (t->sizes(handle, &size) != 0 || t->strides(handle, &stride) != 0) return 0;
  return memcmp(size, form->size, bytes) == 0 && memcmp(stride, form->stride, bytes) == 0;
}

static int fits(const call *c, PyObject *const *args) {
  for (uint64_t i = 0; i < c->about.nloose; i++) {
    if (!has_form(c, args[c->about.loose[i].arg], &c->about.loose[i])) return 0;
  }
  return 1;
}

/* 1: chosen, and settings are as they were; -1: Python's error. */
static int is_chosen(const call *c) {
  if (c->settings == NULL) return 0;
  for (Py_ssize_t i = 0; i < PyTuple_Size(c->about.asked); i++) {
    PyObject *ask = PyTuple_GetItem(c->about.asked, i);
    PyObject *now = PyObject_Call(PyTuple_GetItem(ask, 0), PyTuple_GetItem(ask, 1), NULL);
    int same = now != NULL ? PyObject_RichCompareBool(now, PyTuple_GetItem(c->settings, i), Py_EQ) : -1;
    if (now != NULL) Py_DecRef(now);
    if (same != 1) return same;
  }
  return 1;
}

static PyObject *with_all(PyObject *f, PyObject *const *args, Py_ssize_t nargs) {
  PyObject *given = PyTuple_New(nargs), *result = NULL;
  if (given == NULL) return NULL;
  for (Py_ssize_t i = 0; i < nargs; i++) {
    Py_IncRef(args[i]);
    PyTuple_SetItem(given, i, args[i]);
  }
  result = PyObject_Call(f, given, NULL);
  Py_DecRef(given);
  return result;
}

/* ---- addresses ---- */

/* Hold an object, whose reference it takes. */
static int hold(work *w, PyObject *object) {
  if (object == NULL) return -1;
  if (w->held == NULL && (w->held = PyList_New(0)) == NULL) return -1;
  int rc = PyList_Append(w->held, object);
  Py_DecRef(object);
  return rc;
}

static int take_argument(work *w, PyObject *tensor, uint64_t *out) {
  if (address_of(w->c, tensor, out) != 0) return -1;
  if (*out % w->c->about.alignment == 0) return 0;
  PyObject *copy = PyObject_CallFunctionObjArgs(w->c->about.aligned, tensor, NULL);
  return hold(w, copy) == 0 ? address_of(w->c, copy, out) : -1;
}

static int take_arguments(work *w) {
  const cawb_call_about *a = &w->c->about;
  for (uint64_t i = 0; i < a->nargs; i++) {
    if (a->args[i] != CAWB_CALL_NONE && take_argument(w, w->args[i], &w->table[a->args[i]]) != 0) return -1;
  }
  return 0;
}

static int place(work *w, PyObject *room, const cawb_call_place *places, uint64_t n) {
  uint64_t at;
  if (address_of(w->c, room, &at) != 0) return -1;
  for (uint64_t i = 0; i < n; i++) w->table[places[i].tensor] = at + places[i].plus;
  return 0;
}

/* Scratch first: results would take the place that the last call gave back. */
static int take_memory(work *w) {
  const cawb_call_about *a = &w->c->about;
  if (a->nscratch > 0) {
    PyObject *room = PyObject_Call(a->empty, a->scratch_form, NULL);
    if (hold(w, room) != 0 || place(w, room, a->scratch, a->nscratch) != 0) return -1;
  }
  w->made = PyTuple_New((Py_ssize_t)a->nmade);
  for (uint64_t i = 0; w->made != NULL && i < a->nmade; i++) {
    PyObject *one = PyObject_Call(a->empty, PyTuple_GetItem(a->forms, (Py_ssize_t)i), NULL);
    if (one == NULL) return -1;
    PyTuple_SetItem(w->made, (Py_ssize_t)i, one);
    if (address_of(w->c, one, &w->table[a->made[i]]) != 0) return -1;
  }
  return w->made != NULL ? 0 : -1;
}

/* ---- launches ---- */

static int enqueue(work *w, uint64_t first, uint64_t count, int graph) {
  char said[ROOM] = "";
  if (cawb_launcher_run(w->c->about.launcher, first, count, graph, w->stream, w->table, said, sizeof said) == 0) return 0;
  PyErr_Format(PyExc_RuntimeError, "cawb: %s", said);
  return -1;
}

static int is_captured(void *stream) {
  int capturing = 0;
  return cawb_launcher_driver()->is_capturing(stream, &capturing) == 0 && capturing != 0;
}

static kept *kept_of(call *c, void *stream) {
  for (kept *k = c->kept; k != NULL; k = k->next) {
    if (k->stream == stream) return k;
  }
  kept *k = calloc(1, sizeof *k + 2 * c->about.nread * sizeof(uint64_t));
  if (k == NULL) return NULL;
  *k = (kept){ .next = c->kept, .stream = stream, .addresses = (uint64_t *)(k + 1), .versions = (uint64_t *)(k + 1) + c->about.nread };
  return c->kept = k;
}

/* The parameters as they are now; 0 where they are as they were. */
static int note(work *w, kept *k, uint64_t *now) {
  const cawb_call_about *a = &w->c->about;
  size_t bytes = (size_t)a->nread * sizeof *now;
  for (uint64_t i = 0; i < a->nread; i++) {
    if (address_of(w->c, w->args[a->read[i]], &now[i]) != 0) return -1;
  }
  int unknown = versions_of(w, now + a->nread) != 0;
  if (!unknown && k->parameters != NULL && memcmp(k->addresses, now, 2 * bytes) == 0) return 0;
  memcpy(k->addresses, now, 2 * bytes);
  PyObject *old = k->parameters, *held = unknown ? NULL : PyTuple_New((Py_ssize_t)a->nread);
  for (uint64_t i = 0; held != NULL && i < a->nread; i++) {
    Py_IncRef(w->args[a->read[i]]);
    PyTuple_SetItem(held, (Py_ssize_t)i, w->args[a->read[i]]);
  }
  k->parameters = held;
  return old != NULL ? hold(w, old) | 1 : 1;
}

/* The first steps' memory, as they made it in an earlier call on this stream, or make it now. A CUDA graph that is being captured gets its
** own, for it is executed again when parameters have changed. */
static int prepare(work *w, call *c) {
  const cawb_call_about *a = &c->about;
  int captured = is_captured(w->stream);
  kept *k = captured ? NULL : kept_of(c, w->stream);
  PyObject *room = k != NULL ? k->room : NULL;
  if (room == NULL) {
    if ((room = PyObject_Call(a->empty, a->kept_form, NULL)) == NULL) return -1;
    if (k == NULL && hold(w, room) != 0) return -1;
    if (k != NULL && k->room != NULL) Py_DecRef(room);                /* of another thread's call meanwhile */
    else if (k != NULL) k->room = room;
    if (k != NULL) room = k->room;
  }
  if (place(w, room, a->kept, a->nkept) != 0) return -1;
  uint64_t few[FEW], *now = 2 * a->nread <= FEW ? few : malloc(2 * (size_t)a->nread * sizeof *now);
  if (now == NULL) PyErr_NoMemory();
  int changed = now == NULL ? -1 : k != NULL ? note(w, k, now) : 1;
  if (now != few) free(now);
  if (changed <= 0) return changed;
  if (enqueue(w, 0, a->first, 0) == 0) return 0;
  if (k != NULL && k->parameters != NULL) {
    Py_DecRef(k->parameters);
    k->parameters = NULL;
  }
  return -1;
}

static PyObject *result_of(const work *w, const cawb_call_result *r) {
  PyObject *found = r->kind == CAWB_RESULT_MADE ? PyTuple_GetItem(w->made, (Py_ssize_t)r->number)
                    : r->kind == CAWB_RESULT_ARGUMENT ? w->args[r->number] : r->object;
  if (r->kind == CAWB_RESULT_MADE && r->object != NULL) {
    PyObject *method = PyObject_GetAttr(found, w->c->as_strided);
    PyObject *seen = method != NULL ? PyObject_Call(method, r->object, NULL) : NULL;
    if (method != NULL) Py_DecRef(method);
    return seen;
  }
  Py_IncRef(found);
  return found;
}

static PyObject *results_of(const work *w) {
  PyObject *all = PyTuple_New((Py_ssize_t)w->c->about.nresults);
  for (uint64_t i = 0; all != NULL && i < w->c->about.nresults; i++) {
    PyObject *one = result_of(w, &w->c->about.results[i]);
    if (one != NULL) PyTuple_SetItem(all, (Py_ssize_t)i, one);
    else {
      Py_DecRef(all);
      all = NULL;
    }
  }
  return all;
}

static PyObject *launched(call *c, work *w) {
  const cawb_call_about *a = &c->about;
  uint64_t stream;
  memcpy(w->table, a->table, (size_t)a->ntensors * sizeof *w->table);
  if (number_of(PyObject_CallFunctionObjArgs(a->stream_of, a->device_number, NULL), &stream) != 0) return NULL;
  w->stream = (void *)(uintptr_t)stream;
  if (take_arguments(w) != 0 || take_memory(w) != 0) return NULL;
  if (a->first > 0 && prepare(w, c) != 0) return NULL;
  return enqueue(w, a->first, a->count, (int)a->graph) == 0 ? results_of(w) : NULL;
}

static PyObject *run(call *c, PyObject *const *args, Py_ssize_t nargs) {
  uint64_t current;
  if ((uint64_t)nargs != c->about.nargs) return PyErr_Format(PyExc_TypeError, "cawb: a graph takes %zd arguments, not %zd", (Py_ssize_t)c->about.nargs, nargs);
  if (number_of(PyObject_CallNoArgs(c->about.current_device), &current) != 0) return NULL;
  if (current != c->about.device) return with_all(c->about.elsewhere, args, nargs);
  work w;                             /* not all of it: `few` is large */
  w.c = c;
  w.args = args;
  w.held = w.made = NULL;
  w.table = c->about.ntensors <= FEW ? w.few : malloc((size_t)c->about.ntensors * sizeof *w.table);
  PyObject *results = w.table != NULL ? launched(c, &w) : PyErr_NoMemory();
  if (w.held != NULL) Py_DecRef(w.held);
  if (w.made != NULL) Py_DecRef(w.made);
  if (w.table != w.few) free(w.table);
  return results;
}

/* ---- functions: (capsule, what else to call, what to keep) is their `self` ---- */

static call *call_of(PyObject *self) { return PyCapsule_GetPointer(PyTuple_GetItem(self, 0), NAME); }

static PyObject *always(PyObject *self, PyObject *const *args, Py_ssize_t nargs) { return run(call_of(self), args, nargs); }

static PyObject *where_chosen(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  call *c = call_of(self);
  int chosen = is_chosen(c);
  if (chosen < 0) return NULL;
  if (chosen && (uint64_t)nargs == c->about.nargs && fits(c, args)) return run(c, args, nargs);
  return with_all(PyTuple_GetItem(self, 1), args, nargs);
}

static PyMethodDef always_def = { "package", always, METH_FASTCALL, NULL }, where_def = { "graph", where_chosen, METH_FASTCALL, NULL };

static PyObject *function(PyMethodDef *def, PyObject *capsule, PyObject *other, PyObject *keep) {
  PyObject *self = PyTuple_New(3), *all[] = { capsule, other, keep }, *f = NULL;
  for (Py_ssize_t i = 0; self != NULL && i < 3; i++) {
    Py_IncRef(all[i]);
    PyTuple_SetItem(self, i, all[i]);
  }
  if (self == NULL) return NULL;
  f = PyCFunction_NewEx(def, self, NULL);
  Py_DecRef(self);
  return f;
}

PyObject *cawb_call_run(PyObject *capsule, PyObject *keep) { return function(&always_def, capsule, keep, keep); }

PyObject *cawb_call_entry(PyObject *capsule, PyObject *other, PyObject *keep) { return function(&where_def, capsule, other, keep); }

static void let_go(PyObject *object) {
  if (object != NULL) Py_DecRef(object);
}

int cawb_call_choose(PyObject *capsule, int chosen, PyObject *settings) {
  call *c = PyCapsule_GetPointer(capsule, NAME);
  if (c == NULL) return -1;
  PyObject *old = c->settings;
  c->settings = chosen ? settings : NULL;
  if (chosen) Py_IncRef(settings);
  let_go(old);
  return 0;
}

static void end(call *c) {
  for (kept *k = c->kept, *next; k != NULL; k = next) {
    next = k->next;
    let_go(k->room);
    let_go(k->parameters);
    free(k);
  }
  let_go(c->settings);
  let_go(c->data_ptr);
  let_go(c->version);
  let_go(c->as_strided);
  free(c);
}

static void end_capsule(PyObject *capsule) { end(PyCapsule_GetPointer(capsule, NAME)); }

PyObject *cawb_call_new(const cawb_call_about *about) {
  call *c = calloc(1, sizeof *c);
  if (c == NULL) return PyErr_NoMemory();
  c->about = *about;
  c->data_ptr = PyUnicode_InternFromString("data_ptr");
  c->version = PyUnicode_InternFromString("_version");
  c->as_strided = PyUnicode_InternFromString("as_strided");
  PyObject *capsule = c->data_ptr != NULL && c->version != NULL && c->as_strided != NULL ? PyCapsule_New(c, NAME, end_capsule) : NULL;
  if (capsule == NULL) end(c);
  return capsule;
}

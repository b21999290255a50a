/*
** python.h - the functions of Python's stable interface that call.c takes. They are declared here, so that the library is built without
** Python's headers and serves every version from 3.10. Python itself provides them when it loads the library.
*/
#ifndef CAWB_CUDA_LAUNCHER_PYTHON_H
#define CAWB_CUDA_LAUNCHER_PYTHON_H

#include <stddef.h>

typedef struct _object PyObject;
typedef ptrdiff_t Py_ssize_t;
typedef PyObject *(*python_function)(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
typedef struct PyMethodDef { const char *name; python_function function; int flags; const char *doc; } PyMethodDef;

enum { METH_FASTCALL = 0x80, Py_EQ = 2 };

extern PyObject *PyExc_RuntimeError, *PyExc_TypeError;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
PyObject *PyTuple_New(Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);          /* takes the reference */
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);                /* lends one, as PyList_GetItem */
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyList_New(Py_ssize_t);
int PyList_Append(PyObject *, PyObject *);
PyObject *PyObject_Call(PyObject *, PyObject *args, PyObject *kwargs);
PyObject *PyObject_CallNoArgs(PyObject *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *name, ...);
PyObject *PyObject_GetAttr(PyObject *, PyObject *name);
int PyObject_RichCompareBool(PyObject *, PyObject *, int);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
PyObject *PyUnicode_InternFromString(const char *);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);
PyObject *PyCapsule_New(void *, const char *, void (*free)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *self, PyObject *module);

#endif

/* mangle.h - the function's own name out of a mangled C++ one (Itanium ABI). */
#ifndef CAWB_PTX_MANGLE_H
#define CAWB_PTX_MANGLE_H

/*
** _Z12softmax_rowsPfPKfi -> softmax_rows, _ZN3foo3barIfEEvP.. -> bar. A name that
** is not mangled, or too clever, comes back whole. The caller frees it; NULL: no memory.
*/
char *cawb_mangle_plain(const char *name);

#endif

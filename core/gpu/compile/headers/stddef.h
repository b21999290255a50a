/* stddef.h - size_t is built in; NULL and offsetof, for NVRTC. */
#pragma once
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

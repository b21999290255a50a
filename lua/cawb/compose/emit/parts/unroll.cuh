// Ahead of a loop: its turns are written out.
#define UNROLL _Pragma("unroll")

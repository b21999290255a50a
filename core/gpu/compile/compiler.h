/*
** compiler.h - the process that compiles. It stays warm, and is killed when a
** source makes NVRTC run past the judge's deadline.
**
** The requests: compile {source, arch, defines:{NAME:value}, options:[...]} ->
** {ptx, cubin: paths; kernels:[...], log, seconds, cached, key}. A source that
** does not compile has the name "candidate" and its log beside the message. And: version
** {} -> {nvrtc: "13.0", path: the library's file}.
*/
#ifndef CAWB_COMPILE_COMPILER_H
#define CAWB_COMPILE_COMPILER_H

/*
** Serve on `fd`. The arguments: the cache folder; the most bytes of disk that
** precompiled headers may take (0: none); the folder of headers that NVRTC lacks; and, where NVRTC may have to come from a
** Python's packages, their folders with ':' between.
*/
int cawb_compiler_main(int fd, int argc, char **argv);

#endif

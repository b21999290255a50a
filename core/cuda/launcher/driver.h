/* driver.h - what the launcher uses of the CUDA driver, as its API has it; loaded by name, with no header of NVIDIA's. */
#ifndef CAWB_CUDA_LAUNCHER_DRIVER_H
#define CAWB_CUDA_LAUNCHER_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of the driver API: CUfunction_attribute, CUlaunchAttributeID, and the marks of an argument buffer. */
enum { MAX_DYNAMIC_SHARED = 8, NON_PORTABLE_CLUSTER = 14, COOPERATIVE = 2, CLUSTER_DIMENSION = 4, PROGRAMMATIC_SERIALIZATION = 6 };
enum { COMPUTE_CAPABILITY_MAJOR = 75, LEAST_DEPENDENT = 9 };       /* CUdevice_attribute; the capability from which on kernels may begin early */
enum { ARGUMENTS_END = 0, ARGUMENTS_BUFFER = 1, ARGUMENTS_SIZE = 2 };

typedef union attribute_value { char bytes[64]; unsigned dim[3]; int number; } attribute_value;       /* CUlaunchAttributeValue */
typedef struct attribute { int id; char pad[4]; attribute_value value; } attribute;                  /* CUlaunchAttribute */
typedef struct config { unsigned grid[3], block[3], shared; void *stream; attribute *attrs; unsigned nattrs; } config;   /* CUlaunchConfig */
typedef struct kernel_node { void *function; unsigned grid[3], block[3], shared; void **params, **extra; } kernel_node;  /* CUDA_KERNEL_NODE_PARAMS_v1 */
typedef struct memset_node { uint64_t address; size_t pitch; unsigned value, element; size_t width, height; } memset_node;

typedef struct edge { unsigned char from_port, to_port, type, reserved[5]; } edge;                    /* CUgraphEdgeData */

typedef struct driver {
  int (*get_context)(void **);
  int (*load)(void **, const void *);
  int (*unload)(void *);
  int (*find)(void **, void *, const char *);
  int (*set)(void *, int, int);
  int (*launch)(const config *, void *, void **, void **);
  int (*fill)(uint64_t, unsigned, size_t, void *);
  int (*name)(int, const char **);
  int (*is_capturing)(void *, int *);
  /* Launches that begin early. */
  int (*get_device)(int *);
  int (*about_device)(int *, int, int);
  int (*add_edges)(void *, const void *const *, const void *const *, const edge *, size_t);
  /* Graphs. A driver that lacks one of these launches one kernel after the other. */
  int (*graph_new)(void **, unsigned);
  int (*graph_free)(void *);
  int (*add_kernel)(void **, void *, const void *const *, size_t, const kernel_node *);
  int (*add_memset)(void **, void *, const void *const *, size_t, const memset_node *, void *);
  int (*set_attribute)(void *, int, const attribute_value *);
  int (*instantiate)(void **, void *, unsigned long long);
  int (*set_kernel)(void *, void *, const kernel_node *);
  int (*set_memset)(void *, void *, const memset_node *, void *);
  int (*graph_launch)(void *, void *);
  int (*exec_free)(void *);
  int has_graphs, has_early;
} driver;

/* The driver, or NULL where there is none or it is too old. */
const driver *cawb_launcher_driver(void);

#endif

// all.cu - the programs of this folder as one, so that they are compiled at once: ./all NAME. Each can be compiled alone.
#include <cooperative_groups.h>
#include <cstring>
#include "check.h"

#define main(...) program(__VA_ARGS__)
namespace vector_add_ {
#include "vector_add.cu"
}
namespace reduction_ {
#include "reduction.cu"
}
namespace product_ {
#include "product.cu"
}
namespace histogram_ {
#include "histogram.cu"
}
namespace scan_ {
#include "scan.cu"
}
namespace transpose_ {
#include "transpose.cu"
}
namespace streams_ {
#include "streams.cu"
}
namespace symbols_ {
#include "symbols.cu"
}
namespace cooperative_ {
#include "cooperative.cu"
}
namespace race_ {
#include "race.cu"
}
namespace stray_ {
#include "stray.cu"
}
namespace unwritten_ {
#include "unwritten.cu"
}
namespace graph_ {
#include "graph.cu"
}
namespace printing_ {
#include "printing.cu"
}
#undef main

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "vector_add")) return vector_add_::program(argc - 1, argv + 1);
  if (!strcmp(name, "reduction")) return reduction_::program();
  if (!strcmp(name, "product")) return product_::program();
  if (!strcmp(name, "histogram")) return histogram_::program();
  if (!strcmp(name, "scan")) return scan_::program();
  if (!strcmp(name, "transpose")) return transpose_::program();
  if (!strcmp(name, "streams")) return streams_::program();
  if (!strcmp(name, "symbols")) return symbols_::program();
  if (!strcmp(name, "cooperative")) return cooperative_::program();
  if (!strcmp(name, "race")) return race_::program();
  if (!strcmp(name, "stray")) return stray_::program();
  if (!strcmp(name, "unwritten")) return unwritten_::program();
  if (!strcmp(name, "graph")) return graph_::program();
  if (!strcmp(name, "printing")) return printing_::program(argc - 1, argv + 1);
  printf("there is no program '%s'\n", name);
  return 2;
}

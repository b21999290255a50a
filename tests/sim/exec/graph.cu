// Calls that the runtime does not know end the program, and are named.
#include "check.h"

int main() {
  cudaGraph_t graph;
  printf("before\n");
  cudaGraphCreate(&graph, 0);
  printf("behind\n");
  return 0;
}

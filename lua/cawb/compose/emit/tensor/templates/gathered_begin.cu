  __shared__ unsigned long long ready;
  __shared__ int past[8];                                    // the latest tiles with numbers that the parts do not hold
  if (threadIdx.x < 8) past[threadIdx.x] = -1;
  if (threadIdx.x == 0) barrier_init(shared_address(&ready), 1);

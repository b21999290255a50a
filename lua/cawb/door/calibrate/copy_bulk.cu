// One thread a block, which only gives orders: STAGES pieces of PIECE bytes are fetched to
// shared memory at once, and each is sent on as soon as it is there. Hopper and later.
__device__ unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void fetch(char *to, const char *from, unsigned bytes, unsigned long long *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(arrived)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     at(to)),
                 "l"(from), "r"(bytes), "r"(at(arrived))
                 : "memory");
}

__device__ void wait(unsigned long long *arrived)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at(arrived))
                     : "memory");
}

extern "C" __global__ void copy_bulk(char *y, const char *x, long long n)
{
    extern __shared__ __align__(128) char stage[];
    __shared__ unsigned long long arrived[STAGES];
    long long first = blockIdx.x * (long long)STAGES * PIECE;
    for (int s = 0; s < STAGES; s++)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&arrived[s])) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < STAGES && first + s * PIECE < n; s++)
        fetch(stage + s * PIECE, x + first + s * PIECE, min((long long)PIECE, n - first - s * PIECE), &arrived[s]);
    for (int s = 0; s < STAGES && first + s * PIECE < n; s++)
    {
        wait(&arrived[s]);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + first + s * PIECE),
                     "r"(at(stage + s * PIECE)), "r"((unsigned)min((long long)PIECE, n - first - s * PIECE))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

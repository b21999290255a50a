// LENGTH rounds of twice eight independent matrix products a warp, from registers to
// registers: A times B is added and taken away again, exactly, for all are small whole
// numbers. Hopper's wgmma is faster than this instruction by half.
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct Operands {
    unsigned a[4], b[2];
};

__device__ void add(float (&c)[4], const Operands &o, unsigned flip)
{
    asm volatile("mma.sync.aligned." TEXT(SHAPE) ".row.col.f32." TEXT(FORMAT) "." TEXT(FORMAT) ".f32"
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0] ^ flip), "r"(o.b[1] ^ flip));
}

extern "C" __global__ void __launch_bounds__(256, 4) mma_rate(float *y, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = (i + 1) * 2654435769u;          // signs by chance: one or minus one
    Operands o;
#pragma unroll
    for (int k = 0; k < 4; k++)
        o.a[k] = ONE ^ ((mixed << k) & SIGN);
#pragma unroll
    for (int k = 0; k < 2; k++)
        o.b[k] = ONE ^ ((mixed << (k + 4)) & SIGN);
    float c[8][4], sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        c[k / 4][k % 4] = x[i];
    for (int r = 0; r < LENGTH; r++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            add(c[k], o, 0);
#pragma unroll
        for (int k = 0; k < 8; k++)
            add(c[k], o, SIGN);
    }
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += c[k / 4][k % 4];
    y[i] = sum * 0.03125f;
}

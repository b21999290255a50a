// features.cu - one kernel per corner of the instruction set.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void divergence(int *out) {
  int t = threadIdx.x, v = 0;
  if (t & 1) v = t * 3; else v = t + 100;
  if (t % 3 == 0) for (int i = 0; i < t; i++) v += i ^ t;
  switch (t & 7) {
    case 0: v += 1; break;
    case 1: v ^= 5; break;
    case 2: v *= 7; break;
    case 3: v -= 9; break;
    case 4: v |= 64; break;
    case 5: v &= 1023; break;
    default: v = ~v;
  }
  out[t] = v;
}

extern "C" __global__ void integers(const int *a, const int *b, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i], d = y ? y : 1;
  unsigned ux = x, uy = y, ud = d;
  long long *o = out + (size_t)i * 32;
  o[0] = (x == (int)0x80000000 && d == -1) ? 0 : x / d;
  o[1] = (x == (int)0x80000000 && d == -1) ? 0 : x % d;
  o[2] = ux / ud;
  o[3] = ux % ud;
  o[4] = (long long)x * y;
  o[5] = (long long)((unsigned long long)ux * uy);
  o[6] = __mulhi(x, y);
  o[7] = __umulhi(ux, uy);
  o[8] = x >> (y & 31);
  o[9] = ux >> (uy & 31);
  o[10] = ux << (uy & 31);
  o[11] = __popc(x);
  o[12] = __clz(x);
  o[13] = __ffs(x);
  o[14] = __brev(x);
  o[15] = __byte_perm(x, y, 0x7162);
  o[16] = __funnelshift_l(ux, uy, 11);
  o[17] = min(x, y);
  o[18] = max(ux, uy);
  o[19] = abs(x);
  o[20] = __sad(x, y, 5u);
  o[21] = __dp4a(x, y, 7);
  o[22] = (signed char)x;
  o[23] = (unsigned short)y;
  o[24] = ((long long)x << 17) / d;
  o[25] = ((unsigned long long)ux * 77) % (ud | 1ull << 33);
  o[26] = __mul64hi((long long)x << 31, (long long)y << 20);
  o[27] = (x & y) ^ (~x | uy);
  o[28] = __clzll((long long)ux << 9);
  o[29] = __usad(ux, uy, 3u);
  o[30] = __uhadd(ux, uy);
  o[31] = (ux >> 5 & 0x1ff) + ((x << 20) >> 27);
}

extern "C" __global__ void floats(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i], *o = out + (size_t)i * 24;
  o[0] = fminf(x, y);
  o[1] = fmaxf(x, y);
  o[2] = x / y;
  o[3] = sqrtf(x);
  o[4] = __frcp_rn(y);
  o[5] = floorf(x);
  o[6] = ceilf(x);
  o[7] = rintf(x);
  o[8] = truncf(x);
  o[9] = roundf(x);
  o[10] = x < y ? 1.0f : 2.0f;
  o[11] = !(x >= y) ? 1.0f : 2.0f;
  o[12] = x != y ? 1.0f : 2.0f;
  o[13] = x == y ? 1.0f : 2.0f;
  o[14] = fabsf(x) - y;
  o[15] = copysignf(x, y);
  o[16] = __saturatef(x);
  o[17] = fmaf(x, y, 1.0f);
  o[18] = __fadd_rz(x, y);
  o[19] = __fmul_ru(x, y);
  o[20] = isnan(x) ? 1.0f : 0.0f;
  o[21] = isinf(y) ? 1.0f : 0.0f;
  o[22] = __fdiv_rd(x, y);
  o[23] = fmodf(x, y);
}

extern "C" __global__ void transcendentals(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], *o = out + (size_t)i * 16;
  o[0] = expf(x);
  o[1] = __expf(x);
  o[2] = logf(fabsf(x) + 1e-3f);
  o[3] = __logf(fabsf(x) + 1e-3f);
  o[4] = sinf(x);
  o[5] = __cosf(x);
  o[6] = tanhf(x);
  o[7] = erff(x);
  o[8] = rsqrtf(fabsf(x) + 1e-3f);
  o[9] = powf(fabsf(x), 1.7f);
  o[10] = exp2f(x);
  o[11] = log1pf(fabsf(x));
  o[12] = __fdividef(x, 3.0f);
  o[13] = cbrtf(x);
  o[14] = expm1f(x);
  o[15] = 1.0f / (1.0f + __expf(-x));
}

extern "C" __global__ void doubles(const double *a, const double *b, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], y = b[i], *o = out + (size_t)i * 14;
  o[12] = rsqrt(fabs(x));
  o[13] = rcbrt(y);
  o[0] = x + y;
  o[1] = x * y - 1;
  o[2] = x / y;
  o[3] = sqrt(fabs(x));
  o[4] = exp(x);
  o[5] = log(fabs(y));
  o[6] = sin(x);
  o[7] = fmin(x, y);
  o[8] = fmax(x, y);
  o[9] = floor(x);
  o[10] = fma(x, y, x);
  o[11] = pow(fabs(x), y);
}

extern "C" __global__ void conversions(const double *a, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double d = a[i];
  float f = (float)d;
  long long *o = out + (size_t)i * 16;
  o[0] = (int)f;
  o[1] = (unsigned)f;
  o[2] = (long long)f;
  o[3] = (unsigned long long)f;
  o[4] = (int)d;
  o[5] = (long long)d;
  o[6] = __float2int_rn(f);
  o[7] = __float2int_rd(f);
  o[8] = __float2int_ru(f);
  o[9] = __double_as_longlong((double)(o[5]));
  o[10] = __float_as_int((float)(int)o[4]);
  o[11] = __float_as_int((float)(unsigned)o[1]);
  o[12] = __float_as_int((float)o[2]);
  o[13] = __half_as_ushort(__float2half(f));
  o[14] = __bfloat16_as_ushort(__float2bfloat16(f));
  o[15] = __float_as_int(f);
}

extern "C" __global__ void atomics(int *ints, float *floats, double *doubles,
                                   unsigned long long *longs, const int *keys, int n) {
  __shared__ int bins[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[keys[i] & 63], 1);
    atomicAdd(&floats[0], 0.5f);
    atomicAdd(&doubles[0], 0.25);
    atomicAdd(&longs[0], 3ull);
    atomicMax(&ints[64], keys[i]);
    atomicMin(&ints[65], keys[i]);
    atomicOr(&ints[66], 1 << (i & 31));
    atomicXor(&ints[67], keys[i]);
    int old = ints[68], seen;
    do { seen = old; old = atomicCAS(&ints[68], seen, seen + 2); } while (seen != old);
    atomicExch(&ints[69], 42);
    atomicInc((unsigned *)&ints[70], 9u);
    atomicMax(&longs[1], (unsigned long long)i);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x) atomicAdd(&ints[k], bins[k]);
}

extern "C" __global__ void warps(int *out) {
  int t = threadIdx.x, lane = t & 31, *o = out + t * 16;
  o[0] = __shfl_sync(~0u, t * 2, 5);
  o[1] = __shfl_up_sync(~0u, t, 3);
  o[2] = __shfl_down_sync(~0u, t, 4, 8);
  o[3] = __shfl_xor_sync(~0u, t, 7);
  o[4] = __ballot_sync(~0u, t % 3 == 0);
  o[5] = __any_sync(~0u, t == 40);
  o[6] = __all_sync(~0u, t < 40);
  o[7] = __reduce_add_sync(~0u, t);
  o[8] = __reduce_max_sync(~0u, -t);
  o[9] = __match_any_sync(~0u, t / 5);
  o[10] = lane < 10 ? __activemask() : 0;
  o[11] = __syncthreads_count(t & 1);
  o[12] = __syncthreads_or(t == 63);
  o[13] = __syncthreads_and(t < 64);
  if (lane >= 16) o[14] = __shfl_sync(0xffff0000u, t, 20);
  o[15] = __popc(__ballot_sync(~0u, lane > 7));
}

extern "C" __global__ void halves(const __half *a, const __half *b, __half *out,
                                  const __nv_bfloat16 *c, __nv_bfloat16 *bout, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half x = a[i], y = b[i], *o = out + (size_t)i * 10;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __hfma(x, y, x);
  o[3] = __hmax(x, y);
  o[4] = __float2half(__half2float(x) / __half2float(y));
  o[5] = x < y ? x : y;
  __half2 p = __halves2half2(x, y), q = __hfma2(p, p, __hadd2(p, p));
  o[6] = __low2half(q);
  o[7] = __high2half(q);
  o[8] = __hadd_sat(x, y);
  o[9] = __hfma_relu(x, y, x);
  __nv_bfloat16 z = c[i], *e = bout + (size_t)i * 4;
  e[0] = z + z;
  e[1] = __hmul(z, z);
  e[2] = __float2bfloat16(__bfloat162float(z) * 1.5f);
  e[3] = __hfma(z, z, z);
}

__constant__ float table[8] = {1, 2, 4, 8, 16, 32, 64, 128.5f};
__device__ int counter = 7;
__device__ float scratch[64];

struct pair { int index[4]; float scale; };

extern "C" __global__ void spaces(float *out, pair p, int pick) {
  float stack[16];
  for (int i = 0; i < 16; i++) stack[(i * 5 + pick) & 15] = table[i & 7] * p.scale;
  __shared__ float cell[64];
  float *where = threadIdx.x & 1 ? &cell[threadIdx.x] : &scratch[threadIdx.x];
  *where = stack[threadIdx.x & 15] + p.index[(threadIdx.x + pick) & 3];
  if (threadIdx.x == 0) counter += 5;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x & 1 ? cell[threadIdx.x] : scratch[threadIdx.x];
  if (threadIdx.x == 0) out[64] = counter;
}

__device__ __noinline__ float polynomial(float x, int n, float2 *extra) {
  float s = 0;
  if (n > 5) return -1;
  for (int i = 0; i < n; i++) s = s * x + i;
  extra->y = s;
  return s;
}

extern "C" __global__ void calls(float *out) {
  float2 e = make_float2(0, 0);
  out[threadIdx.x] = polynomial(threadIdx.x * 0.5f, threadIdx.x & 7, &e) + e.y;
}

extern "C" __global__ void early_exit(float *out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void parted(float *out) {
  if (threadIdx.x < 40) asm volatile("bar.sync 1;");
  else asm volatile("bar.sync 2;");
  out[threadIdx.x] = 1;
}

extern "C" __global__ void misaligned(float *out) {
  *(float4 *)(out + 1 + threadIdx.x * 4) = make_float4(1, 2, 3, 4);
}

extern "C" __global__ void shared_overrun(float *out) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1];
}

extern "C" __global__ void trapped(float *out) {
  if (threadIdx.x == 3) __trap();
  out[threadIdx.x] = 0;
}

// Neighbouring warps write neighbouring bytes: legal.
extern "C" __global__ void bytes(unsigned char *out) {
  __shared__ unsigned char s[8];
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = threadIdx.x >> 5;
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x] + 1;
}

// The classic warp-synchronous tail on volatile memory: legal within one warp.
extern "C" __global__ void volatile_tail(float *out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    for (int o = 16; o; o >>= 1) { v[t] += v[t + o]; __syncwarp(); }
  }
  if (t == 0) *out = s[0];
}

extern "C" __global__ void cp_async(float *out, const float *in) {
  __shared__ __align__(16) float s[128];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += 32) out[i] = s[127 - i];
}

extern "C" __global__ void ldmatrix(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  int r;
  unsigned from = (unsigned)__cvta_generic_to_shared(&s[0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(from));
  out[threadIdx.x] = r;
}

// The memory of a block that its cluster does not have.
extern "C" __global__ void far_rank(unsigned *out) {
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(out[threadIdx.x]) : "r"(0), "r"(1));
}

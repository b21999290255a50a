// control.cu - branches, loops, calls, switches.
#define OUT(k) out[(k) * 64 + T]

//: nested_divergence words=64
KERNEL(nested_divergence) { u32 x = word(in, T), s = 0; for (u32 i = 0; i < (x & 15); i++) { if ((x >> i) & 1) { s += i * x; if (s & 2) continue; s ^= 0x55; } else { s = s * 3 + 1; if (s > 1u << 30) break; } } OUT(0) = s; }
//: switches words=128
KERNEL(switches) { u32 v = word(in, T); switch (noise(in, T) % 11) { case 0: v = 3; break; case 1: v ^= 7; break; case 2: v *= 9; break; case 3: v += 11; case 4: v -= 5; break; case 5: v = ~v; break; case 6: v <<= 3; break; case 7: v /= 3; break; case 8: v |= 17; break; } OUT(0) = v; u32 w = 0; for (int i = 0; i < 6; i++) switch ((v >> i) & 3) { case 0: w++; break; case 1: w += v; break; case 2: goto done; default: w ^= i; } done: OUT(1) = w; }
//: early_exit words=128
KERNEL(early_exit) { OUT(0) = 1; if (T % 3 == 0) return; OUT(0) = 2; u32 m = __activemask(); if (T & 8) return; OUT(1) = __popc(__activemask() & m) >= 1; }
__device__ __noinline__ u32 collatz(u32 n) { u32 s = 0; while (n > 1 && s < 300) { n = n & 1 ? 3 * n + 1 : n / 2; s++; } return s; }
__device__ __noinline__ float2 polar(float x, float y) { return make_float2(x * x + y * y, x * y); }
struct parts { u32 a[5]; float f; };
__device__ __noinline__ parts split(parts p, u32 k) { p.a[k % 5] += 3; p.f *= 0.5f; return p; }
//: calls words=256
KERNEL(calls) { OUT(0) = collatz(word(in, T) & 0xffff); float2 p = polar(plain(in, T), plain(in, T + 1)); OUT(1) = bits(p.x) ^ bits(p.y); parts q = { { T, 2, 3, 4, 5 }, plain(in, T) }; if (T & 1) q = split(q, word(in, T)); OUT(2) = q.a[0] + q.a[1] * 3 + q.a[2] * 5 + q.a[3] * 7 + q.a[4] * 11; OUT(3) = bits(q.f); }
__device__ __noinline__ u32 twice(u32 x) { return 2 * x + 1; }
__device__ __noinline__ u32 turned(u32 x) { return x << 7 | x >> 25; }
__device__ __noinline__ u32 halved(u32 x) { return collatz(x & 255) + x / 2; }
typedef u32 (*action)(u32);
__device__ const action actions[3] = { twice, turned, halved };
//: function_pointers words=128
KERNEL(function_pointers) { u32 x = word(in, T); OUT(0) = actions[x % 3](x); action a = noise(in, 0) & 1 ? twice : turned; OUT(1) = a(x) + actions[T % 2 + 1](x); }
struct shape { __device__ virtual u32 area(u32 k) const { return k; } u32 n; };
struct square : shape { __device__ u32 area(u32 k) const override { return n * n + k; } };
struct circle : shape { __device__ u32 area(u32 k) const override { return n * 3 * k; } };
//: virtual_functions words=64
KERNEL(virtual_functions) { square s; circle c; s.n = T; c.n = word(in, T); const shape *p = word(in, T + 1) & 1 ? (const shape *)&s : (const shape *)&c; OUT(0) = p->area(5); }
//: loops_with_barriers words=64
KERNEL(loops_with_barriers) { __shared__ u32 s[64]; s[T] = word(in, T) & 255; __syncthreads(); for (u32 d = 32; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); } OUT(0) = s[0]; }
//: spinning_lock words=64
KERNEL(spinning_lock) { __shared__ u32 lock, value; if (T == 0) lock = value = 0; __syncthreads(); bool done = false; while (!done) if (atomicCAS(&lock, 0, 1) == 0) { *(volatile u32 *)&value = *(volatile u32 *)&value + T; __threadfence_block(); atomicExch(&lock, 0); done = true; } __syncthreads(); OUT(0) = value; }
//: early_warps block=128 words=128
KERNEL(early_warps) { __shared__ u32 s[128]; s[T] = T; if (T >= 96) return; __syncthreads(); out[T] = s[T ^ 32] + s[T]; }
//: partial_warp block=45 words=64
KERNEL(partial_warp) { __shared__ u32 s[45]; s[T] = word(in, T); __syncthreads(); out[T] = s[44 - T] + __popc(__activemask()); }
template <int N> __device__ u32 chain(const u32 *in, u32 x) { if constexpr (N == 0) return x; else return chain<N - 1>(in, x * 3 + word(in, x + N)); }
//: templates words=64
KERNEL(templates) { OUT(0) = chain<12>(in, T); }
//: long_loop words=64
KERNEL(long_loop) { u32 x = T + 1; for (int i = 0; i < 5000; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; } OUT(0) = x; }
//: bubble_sort words=64
KERNEL(bubble_sort) { u32 a[8]; for (int i = 0; i < 8; i++) a[i] = word(in, T * 8 + i); for (int i = 0; i < 8; i++) for (int j = 0; j + 1 < 8 - i; j++) if (a[j] > a[j + 1]) { u32 t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; } u32 s = 0; for (int i = 0; i < 8; i++) s = s * 17 + a[i]; OUT(0) = s; }

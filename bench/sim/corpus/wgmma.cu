// wgmma.cu - products of warpgroups. Shared memory is filled by address with small whole numbers,
// so that whatever a descriptor means shows in the results; the kernels named _error have
// fractions. What factors mean: tests/sim/test_sim_wgmma.c.
#define LIST4 "{%0, %1, %2, %3}"
#define INOUT4(c, d) "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3])
#define LIST32 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, " \
  "%26, %27, %28, %29, %30, %31}"
#define INOUT32(c, d) "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3]), "+" c(d[4]), "+" c(d[5]), "+" c(d[6]), "+" c(d[7]), "+" c(d[8]), "+" c(d[9]), \
  "+" c(d[10]), "+" c(d[11]), "+" c(d[12]), "+" c(d[13]), "+" c(d[14]), "+" c(d[15]), "+" c(d[16]), "+" c(d[17]), "+" c(d[18]), "+" c(d[19]), \
  "+" c(d[20]), "+" c(d[21]), "+" c(d[22]), "+" c(d[23]), "+" c(d[24]), "+" c(d[25]), "+" c(d[26]), "+" c(d[27]), "+" c(d[28]), "+" c(d[29]), \
  "+" c(d[30]), "+" c(d[31])
#define LIST128 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, " \
  "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
  "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, " \
  "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, " \
  "%104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define INOUT128(c, d) "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3]), "+" c(d[4]), "+" c(d[5]), "+" c(d[6]), "+" c(d[7]), "+" c(d[8]), "+" c(d[9]), \
  "+" c(d[10]), "+" c(d[11]), "+" c(d[12]), "+" c(d[13]), "+" c(d[14]), "+" c(d[15]), "+" c(d[16]), "+" c(d[17]), "+" c(d[18]), "+" c(d[19]), \
  "+" c(d[20]), "+" c(d[21]), "+" c(d[22]), "+" c(d[23]), "+" c(d[24]), "+" c(d[25]), "+" c(d[26]), "+" c(d[27]), "+" c(d[28]), "+" c(d[29]), \
  "+" c(d[30]), "+" c(d[31]), "+" c(d[32]), "+" c(d[33]), "+" c(d[34]), "+" c(d[35]), "+" c(d[36]), "+" c(d[37]), "+" c(d[38]), "+" c(d[39]), \
  "+" c(d[40]), "+" c(d[41]), "+" c(d[42]), "+" c(d[43]), "+" c(d[44]), "+" c(d[45]), "+" c(d[46]), "+" c(d[47]), "+" c(d[48]), "+" c(d[49]), \
  "+" c(d[50]), "+" c(d[51]), "+" c(d[52]), "+" c(d[53]), "+" c(d[54]), "+" c(d[55]), "+" c(d[56]), "+" c(d[57]), "+" c(d[58]), "+" c(d[59]), \
  "+" c(d[60]), "+" c(d[61]), "+" c(d[62]), "+" c(d[63]), "+" c(d[64]), "+" c(d[65]), "+" c(d[66]), "+" c(d[67]), "+" c(d[68]), "+" c(d[69]), \
  "+" c(d[70]), "+" c(d[71]), "+" c(d[72]), "+" c(d[73]), "+" c(d[74]), "+" c(d[75]), "+" c(d[76]), "+" c(d[77]), "+" c(d[78]), "+" c(d[79]), \
  "+" c(d[80]), "+" c(d[81]), "+" c(d[82]), "+" c(d[83]), "+" c(d[84]), "+" c(d[85]), "+" c(d[86]), "+" c(d[87]), "+" c(d[88]), "+" c(d[89]), \
  "+" c(d[90]), "+" c(d[91]), "+" c(d[92]), "+" c(d[93]), "+" c(d[94]), "+" c(d[95]), "+" c(d[96]), "+" c(d[97]), "+" c(d[98]), "+" c(d[99]), \
  "+" c(d[100]), "+" c(d[101]), "+" c(d[102]), "+" c(d[103]), "+" c(d[104]), "+" c(d[105]), "+" c(d[106]), "+" c(d[107]), "+" c(d[108]), "+" c(d[109]), \
  "+" c(d[110]), "+" c(d[111]), "+" c(d[112]), "+" c(d[113]), "+" c(d[114]), "+" c(d[115]), "+" c(d[116]), "+" c(d[117]), "+" c(d[118]), "+" c(d[119]), \
  "+" c(d[120]), "+" c(d[121]), "+" c(d[122]), "+" c(d[123]), "+" c(d[124]), "+" c(d[125]), "+" c(d[126]), "+" c(d[127])

__device__ __forceinline__ int digit(u32 i) { return (int)(mixed(i * 0x9e3779b9u + 7) % 9) - 4; }
__device__ __forceinline__ u32 as_f16(u32 i) { return pair_bits(halves(digit(2 * i), digit(2 * i + 1))); }
__device__ __forceinline__ u32 as_bf16(u32 i) { return pair_bits(brains(digit(2 * i), digit(2 * i + 1))); }
__device__ __forceinline__ u32 as_tf32(u32 i) { return __float_as_uint((float)digit(i)); }
__device__ __forceinline__ u32 as_s8(u32 i) { return mixed(i + 99); }
__device__ __forceinline__ u32 as_e4m3(u32 i) { return (mixed(i + 5) & 0x88888888) | 0x30303030; }     // +-0.5, +-1
#define FILL(f) __shared__ __align__(1024) u32 sm[8192]; for (u32 i = T; i < 8192; i += blockDim.x) sm[i] = f(i); \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); begin();
#define GROUP(regs, c, d, shape, tail, ...) asm volatile("wgmma.mma_async.sync.aligned." shape " " LIST##regs tail ";" : INOUT##regs(c, d) : __VA_ARGS__)
// 64 x 64 of floats from descriptors a and b.
#define PLAIN(type, a, b, tail, f) { FILL(f) float d[32]; for (int i = 0; i < 32; i++) d[i] = (float)(i - 9); \
  GROUP(32, "f", d, type, ", %32, %33, 1, " tail, "l"(a), "l"(b)); end(); for (int i = 0; i < 32; i++) out[T * 32 + i] = bits(d[i]); }
#define BF16(a, b, tail) PLAIN("m64n64k16.f32.bf16.bf16", a, b, tail, as_bf16)
#define B (sm + 4096)
//: wgmma_bf16 block=128 words=4096
KERNEL(wgmma_bf16) BF16(tile(sm, 0, 1024, 128, 0), tile(B, 0, 128, 256, 0), "1, 1, 0, 0")
//: wgmma_by_128 block=128 words=4096
KERNEL(wgmma_by_128) BF16(tile(sm, 32, 16, 1024, 1), tile(B, 96, 16, 1024, 1), "1, 1, 0, 0")
//: wgmma_by_64 block=128 words=4096
KERNEL(wgmma_by_64) BF16(tile(sm, 0, 16, 512, 2), tile(B, 32, 16, 512, 2), "1, 1, 0, 0")
//: wgmma_by_32 block=128 words=4096
KERNEL(wgmma_by_32) BF16(tile(sm, 0, 16, 256, 3), tile(B, 0, 16, 512, 3), "1, 1, 0, 0")
//: wgmma_behind block=128 words=4096
KERNEL(wgmma_behind) BF16(tile(sm, 3 * 128, 16, 1024, 1, 3), tile(B, 6 * 128 + 64, 16, 1024, 1, 6), "1, 1, 0, 0")
//: wgmma_behind_64 block=128 words=4096
KERNEL(wgmma_behind_64) BF16(tile(sm, 128, 16, 512, 2, 1), tile(B, 3 * 128, 16, 512, 2, 3), "1, 1, 0, 0")
//: wgmma_turned block=128 words=4096
KERNEL(wgmma_turned) BF16(tile(sm, 0, 4096, 256, 0), tile(B, 0, 128, 512, 0), "1, 1, 1, 1")
//: wgmma_turned_128 block=128 words=4096
KERNEL(wgmma_turned_128) BF16(tile(sm, 0, 3072, 1024, 1), tile(B, 0, 3072, 2048, 1), "1, 1, 1, 1")
//: wgmma_turned_64 block=128 words=4096
KERNEL(wgmma_turned_64) BF16(tile(sm, 0, 2048, 512, 2), tile(B, 0, 1024, 4096, 2), "1, 1, 1, 1")
//: wgmma_turned_32 block=128 words=4096
KERNEL(wgmma_turned_32) BF16(tile(sm, 0, 1024, 256, 3), tile(B, 0, 512, 4096, 3), "1, 1, 1, 1")
//: wgmma_turned_a block=128 words=4096
KERNEL(wgmma_turned_a) BF16(tile(sm, 0, 2048, 512, 2), tile(B, 0, 16, 1024, 1), "1, 1, 1, 0")
//: wgmma_turned_b block=128 words=4096
KERNEL(wgmma_turned_b) BF16(tile(sm, 0, 128, 256, 0), tile(B, 0, 1024, 256, 3), "1, 1, 0, 1")
//: wgmma_minus block=128 words=4096
KERNEL(wgmma_minus) BF16(tile(sm, 0, 128, 256, 0), tile(B, 0, 128, 256, 0), "-1, 1, 0, 0")
//: wgmma_f16 block=128 words=4096
KERNEL(wgmma_f16) PLAIN("m64n64k16.f32.f16.f16", tile(sm, 0, 128, 256, 0), tile(B, 0, 16, 1024, 1), "1, 1, 0, 1", as_f16)
//: wgmma_tf32 block=128 words=4096
KERNEL(wgmma_tf32) PLAIN("m64n64k8.f32.tf32.tf32", tile(sm, 0, 16, 512, 2), tile(B, 64, 16, 1024, 1), "1, 1", as_tf32)
//: wgmma_e4m3 block=128 words=4096
KERNEL(wgmma_e4m3) PLAIN("m64n64k32.f32.e4m3.e4m3", tile(sm, 0, 16, 1024, 1), tile(B, 0, 128, 256, 0), "1, 1", as_e4m3)
//: wgmma_f16_sums block=128 words=512
KERNEL(wgmma_f16_sums) { FILL(as_f16) u32 d[4]; for (int i = 0; i < 4; i++) d[i] = as_f16(i); GROUP(4, "r", d, "m64n16k16.f16.f16.f16", ", %4, %5, 1, 1, -1, 0, 0", "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(B, 0, 128, 256, 0))); end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = d[i]; }
//: wgmma_s8 block=128 words=512
KERNEL(wgmma_s8) { FILL(as_s8) u32 d[4]; for (int i = 0; i < 4; i++) d[i] = i * T; GROUP(4, "r", d, "m64n8k32.s32.s8.s8", ", %4, %5, 1", "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(B, 0, 128, 256, 0))); GROUP(4, "r", d, "m64n8k32.s32.u8.s8.satfinite", ", %4, %5, 1", "l"(tile(sm, 4096, 16, 512, 2)), "l"(tile(B, 32, 16, 1024, 1))); end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = d[i]; }
//: wgmma_saturated block=128 words=512
KERNEL(wgmma_saturated) { FILL(as_s8) u32 d[4]; for (int i = 0; i < 4; i++) d[i] = i & 1 ? 0x7ffffff0 : 0x80000010; GROUP(4, "r", d, "m64n8k32.s32.s8.s8.satfinite", ", %4, %5, 1", "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(B, 0, 128, 256, 0))); end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = d[i]; }
//: wgmma_registers block=128 words=4096
KERNEL(wgmma_registers) { FILL(as_bf16) float d[32] = {}; u32 a[4]; for (int i = 0; i < 4; i++) a[i] = as_bf16(T * 4 + i); begin(); GROUP(32, "f", d, "m64n64k16.f32.bf16.bf16", ", {%32, %33, %34, %35}, %36, 0, 1, 1, 1", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(tile(B, 0, 2048, 1024, 1))); end(); for (int i = 0; i < 32; i++) out[T * 32 + i] = bits(d[i]); }
//: wgmma_registers_s8 block=128 words=512
KERNEL(wgmma_registers_s8) { FILL(as_s8) u32 d[4], a[4]; for (int i = 0; i < 4; i++) a[i] = as_s8(T * 4 + i), d[i] = i; begin(); GROUP(4, "r", d, "m64n8k32.s32.s8.u8", ", {%4, %5, %6, %7}, %8, 1", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(tile(B, 0, 16, 1024, 1))); end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = d[i]; }
//: wgmma_scale block=128 words=512
KERNEL(wgmma_scale) { FILL(as_bf16) float d[4]; for (int i = 0; i < 4; i++) d[i] = (float)i; for (int k = 0; k < 3; k++) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 " LIST4 ", %4, %5, p, 1, 1, 0, 0;\n}" : INOUT4("f", d) : "l"(tile(sm, 1024 * k, 128, 256, 0)), "l"(tile(B, 0, 128, 256, 0)), "r"(k)); end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(d[i]); }
//: wgmma_wide block=128 words=4096
KERNEL(wgmma_wide) { FILL(as_bf16) float d[128]; for (int i = 0; i < 128; i++) d[i] = (float)i; GROUP(128, "f", d, "m64n256k16.f32.bf16.bf16", ", %128, %129, 1, 1, 1, 0, 1", "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(B, 0, 2048, 1024, 1))); end(); for (int i = 0; i < 32; i++) out[T * 32 + i] = bits(d[i] + 3 * d[i + 32] + 5 * d[i + 64] + 7 * d[i + 96]); }
//: wgmma_two_groups block=256 words=1024
KERNEL(wgmma_two_groups) { FILL(as_bf16) float d[4] = {}; int g = T / 128; for (int k = 0; k < 4; k++) { GROUP(4, "f", d, "m64n8k16.f32.bf16.bf16", ", %4, %5, 1, 1, 1, 0, 0", "l"(tile(sm, 32 * k, 16, 1024, 1)), "l"(tile(B, 1024 * g + 32 * k, 16, 1024, 1))); } end(); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(d[i]); }
#define FRACTION(i) pair_bits(brains(plain(in, 2 * (i)), plain(in, 2 * (i) + 1)))
#define FRACTIONH(i) pair_bits(halves(plain(in, 2 * (i)), plain(in, 2 * (i) + 1)))
#define FRACTION32(i) __float_as_uint(plain(in, i))
#define FRACTION8(i) (noise(in, i) & 0xbfbfbfbf)
//: wgmma_bf16_error block=128 words=1024
KERNEL(wgmma_bf16_error) PLAIN("m64n64k16.f32.bf16.bf16", tile(sm, 0, 128, 256, 0), tile(B, 0, 128, 256, 0), "1, 1, 0, 0", FRACTION)
//: wgmma_f16_error block=128 words=1024
KERNEL(wgmma_f16_error) PLAIN("m64n64k16.f32.f16.f16", tile(sm, 0, 128, 256, 0), tile(B, 0, 128, 256, 0), "1, 1, 0, 0", FRACTIONH)
//: wgmma_tf32_error block=128 words=1024
KERNEL(wgmma_tf32_error) PLAIN("m64n64k8.f32.tf32.tf32", tile(sm, 0, 128, 256, 0), tile(B, 0, 128, 256, 0), "1, 1", FRACTION32)
//: wgmma_e4m3_error block=128 words=1024
KERNEL(wgmma_e4m3_error) PLAIN("m64n64k32.f32.e4m3.e4m3", tile(sm, 0, 128, 256, 0), tile(B, 0, 128, 256, 0), "1, 1", FRACTION8)
// Four stages of bulk copies by a warp of their own, two warpgroups that multiply what has come.
__device__ __forceinline__ void wait_for(u32 barrier, u32 parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" :: "r"(barrier), "r"(parity) : "memory");
}
//: wgmma_pipeline block=288 words=1024
KERNEL(wgmma_pipeline) {
  __shared__ __align__(1024) u32 sm[4 * 1024];
  __shared__ __align__(8) u64 full[4], empty[4];
  u32 at = (u32)__cvta_generic_to_shared(full), free_at = (u32)__cvta_generic_to_shared(empty);
  if (T == 0) for (int s = 0; s < 4; s++) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at + 8 * s) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(free_at + 8 * s) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (T >= 256) {
    if (T == 256) for (int k = 0; k < 12; k++) {
      int s = k % 4;
      if (k >= 4) wait_for(free_at + 8 * s, (k / 4 - 1) & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" :: "r"(at + 8 * s) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
        :: "r"((u32)__cvta_generic_to_shared(sm + 1024 * s)), "l"(in + 3072 - 256 * k), "r"(at + 8 * s) : "memory");
    }
    return;
  }
  u32 d[4] = {}, g = T / 128;
  for (int k = 0; k < 12; k++) {
    int s = k % 4;
    wait_for(at + 8 * s, k / 4 & 1);
    begin();
    GROUP(4, "r", d, "m64n8k32.s32.s8.u8", ", %4, %5, 1", "l"(tile(sm + 1024 * s, 0, 128, 256, 0)), "l"(tile(sm + 1024 * s, 2048 + 1024 * g, 128, 256, 0)));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (k > 0 && T % 128 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(free_at + 8 * ((k - 1) % 4)) : "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) out[T * 4 + i] = d[i];
}

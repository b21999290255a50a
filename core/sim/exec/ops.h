/*
** ops.h - the operations of the executor: name and the unit that runs it, for
** the time model. A statement `add.s32` becomes the operation `add_b32`; the
** decoder composes these names, the bodies define one function for each.
** Pipes: NONE costs nothing (it vanishes when PTX becomes machine code).
*/
#ifndef CAWB_SIM_EXEC_OPS_H
#define CAWB_SIM_EXEC_OPS_H

#define SIM_OPS_INT(X) \
  X(add_b32, INT) X(add_b64, INT) X(sub_b32, INT) X(sub_b64, INT) \
  X(mul_lo_b32, INT) X(mul_lo_b64, INT) X(mul_hi_s16, INT) X(mul_hi_u16, INT) \
  X(mul_hi_s32, INT) X(mul_hi_u32, INT) X(mul_hi_s64, INT) X(mul_hi_u64, INT) \
  X(mul_wide_s16, INT) X(mul_wide_u16, INT) X(mul_wide_s32, INT) X(mul_wide_u32, INT) \
  X(mad_lo_b32, INT) X(mad_lo_b64, INT) X(mad_hi_s32, INT) X(mad_hi_u32, INT) \
  X(mad_hi_s64, INT) X(mad_hi_u64, INT) X(mad_wide_s16, INT) X(mad_wide_u16, INT) \
  X(mad_wide_s32, INT) X(mad_wide_u32, INT) X(mul24_lo_s32, INT) X(mul24_lo_u32, INT) \
  X(mad24_lo_s32, INT) X(mad24_lo_u32, INT) \
  X(div_s16, INT) X(div_u16, INT) X(div_s32, INT) X(div_u32, INT) X(div_s64, INT) \
  X(div_u64, INT) X(rem_s16, INT) X(rem_u16, INT) X(rem_s32, INT) X(rem_u32, INT) \
  X(rem_s64, INT) X(rem_u64, INT) X(abs_s16, INT) X(abs_s32, INT) X(abs_s64, INT) \
  X(neg_s32, INT) X(neg_s64, INT) \
  X(min_s16, INT) X(min_u16, INT) X(min_s32, INT) X(min_u32, INT) X(min_s64, INT) \
  X(min_u64, INT) X(max_s16, INT) X(max_u16, INT) X(max_s32, INT) X(max_u32, INT) \
  X(max_s64, INT) X(max_u64, INT) \
  X(and_b32, INT) X(and_b64, INT) X(and_pred, INT) X(or_b32, INT) X(or_b64, INT) \
  X(or_pred, INT) X(xor_b32, INT) X(xor_b64, INT) X(xor_pred, INT) X(not_b32, INT) \
  X(not_b64, INT) X(not_pred, INT) X(cnot_b32, INT) X(cnot_b64, INT) \
  X(shl_b16, INT) X(shl_b32, INT) X(shl_b64, INT) X(shr_u16, INT) X(shr_s16, INT) \
  X(shr_u32, INT) X(shr_s32, INT) X(shr_u64, INT) X(shr_s64, INT) \
  X(shf_l_wrap, INT) X(shf_l_clamp, INT) X(shf_r_wrap, INT) X(shf_r_clamp, INT) \
  X(bfe_u32, INT) X(bfe_s32, INT) X(bfe_u64, INT) X(bfe_s64, INT) X(bfi_b32, INT) \
  X(bfi_b64, INT) X(bfind_u32, INT) X(bfind_s32, INT) X(bfind_u64, INT) X(bfind_s64, INT) \
  X(brev_b32, INT) X(brev_b64, INT) X(clz_b32, INT) X(clz_b64, INT) X(popc_b32, INT) \
  X(popc_b64, INT) X(prmt_b32, INT) X(lop3_b32, INT) X(sad_s32, INT) X(sad_u32, INT) \
  X(dp4a, INT) X(dp2a, INT) X(carry_add_b32, INT) X(carry_add_b64, INT) \
  X(carry_sub_b32, INT) X(carry_sub_b64, INT) X(carry_mad_lo_b32, INT) \
  X(carry_mad_hi_s32, INT) X(carry_mad_hi_u32, INT) X(carry_mad_lo_b64, INT) \
  X(carry_mad_hi_s64, INT) X(carry_mad_hi_u64, INT) \
  X(selp_b32, INT) X(selp_b64, INT) X(slct_b32_s32, INT) X(slct_b64_s32, INT) \
  X(slct_b32_f32, INT) X(slct_b64_f32, INT) X(bmsk_b32, INT) \
  X(add_sat_s32, INT) X(sub_sat_s32, INT) X(szext_s32, INT) X(szext_u32, INT) X(fns_b32, INT) \
  X(sad_s16, INT) X(sad_u16, INT) X(sad_s64, INT) X(sad_u64, INT) X(min_relu_s32, INT) \
  X(max_relu_s32, INT) X(add_s16x2, INT) X(add_u16x2, INT) X(min_s16x2, INT) X(min_u16x2, INT) \
  X(max_s16x2, INT) X(max_u16x2, INT) X(min_relu_s16x2, INT) X(max_relu_s16x2, INT) X(video, INT) \
  X(mul24_hi_s32, INT) X(mul24_hi_u32, INT) X(mad_hi_s16, INT) X(mad_hi_u16, INT)

#define SIM_OPS_COMPARE(X) \
  X(setp_s16, INT) X(setp_u16, INT) X(setp_s32, INT) X(setp_u32, INT) X(setp_s64, INT) \
  X(setp_u64, INT) X(setp_f32, INT) X(setp_f64, FP64) X(setp_f16, INT) X(setp_bf16, INT) \
  X(setp_f16x2, INT) X(setp_bf16x2, INT) X(set_from_pred, INT) X(set_f16x2, INT) \
  X(set_bf16x2, INT) X(testp_f32, INT) X(testp_f64, FP64)

#define SIM_OPS_FLOAT(X) \
  X(add_f32, FP32) X(sub_f32, FP32) X(mul_f32, FP32) X(fma_f32, FP32) X(div_f32, SPECIAL) \
  X(rcp_f32, SPECIAL) X(sqrt_f32, SPECIAL) X(rsqrt_f32, SPECIAL) X(ex2_f32, SPECIAL) \
  X(lg2_f32, SPECIAL) X(sin_f32, SPECIAL) X(cos_f32, SPECIAL) X(tanh_f32, SPECIAL) \
  X(abs_f32, FP32) X(neg_f32, FP32) X(min_f32, INT) X(max_f32, INT) X(min_nan_f32, INT) \
  X(max_nan_f32, INT) X(copysign_f32, INT) \
  X(min_xorsign_f32, INT) X(max_xorsign_f32, INT) \
  X(add_f64, FP64) X(sub_f64, FP64) X(mul_f64, FP64) X(fma_f64, FP64) X(div_f64, FP64) \
  X(rcp_f64, FP64) X(sqrt_f64, FP64) X(rsqrt_f64, FP64) X(rcp_approx_f64, SPECIAL) \
  X(rsqrt_approx_f64, SPECIAL) X(abs_f64, INT) X(neg_f64, INT) X(min_f64, FP64) \
  X(max_f64, FP64) X(copysign_f64, INT)

#define SIM_OPS_HALF(X) \
  X(add_f16, FP32) X(sub_f16, FP32) X(mul_f16, FP32) X(fma_f16, FP32) X(neg_f16, FP32) \
  X(abs_f16, FP32) X(min_f16, INT) X(max_f16, INT) X(min_nan_f16, INT) X(max_nan_f16, INT) \
  X(ex2_f16, SPECIAL) X(tanh_f16, SPECIAL) \
  X(add_f16x2, FP32) X(sub_f16x2, FP32) X(mul_f16x2, FP32) X(fma_f16x2, FP32) \
  X(neg_f16x2, FP32) X(abs_f16x2, FP32) X(min_f16x2, INT) X(max_f16x2, INT) \
  X(min_nan_f16x2, INT) X(max_nan_f16x2, INT) X(ex2_f16x2, SPECIAL) X(tanh_f16x2, SPECIAL) \
  X(add_bf16, FP32) X(sub_bf16, FP32) X(mul_bf16, FP32) X(fma_bf16, FP32) X(neg_bf16, FP32) \
  X(abs_bf16, FP32) X(min_bf16, INT) X(max_bf16, INT) X(min_nan_bf16, INT) \
  X(max_nan_bf16, INT) X(ex2_bf16, SPECIAL) X(tanh_bf16, SPECIAL) \
  X(add_bf16x2, FP32) X(sub_bf16x2, FP32) X(mul_bf16x2, FP32) X(fma_bf16x2, FP32) \
  X(neg_bf16x2, FP32) X(abs_bf16x2, FP32) X(min_bf16x2, INT) X(max_bf16x2, INT) \
  X(min_nan_bf16x2, INT) X(max_nan_bf16x2, INT) X(ex2_bf16x2, SPECIAL) X(tanh_bf16x2, SPECIAL)

/* cvt: the common ones by name; cvt_any does the rest lane by lane. */
#define SIM_OPS_CONVERT(X) \
  X(mov_b32, NONE) X(mov_b64, NONE) X(mov_pred, NONE) X(pack, NONE) X(unpack, NONE) \
  X(cvt_b32_u16, INT) X(cvt_b32_s16, INT) X(cvt_b32_u8, INT) X(cvt_b32_s8, INT) \
  X(cvt_b64_u32, NONE) X(cvt_b64_s32, INT) X(cvt_b32_b64, NONE) X(cvt_f32_s32, INT) \
  X(cvt_f32_u32, INT) X(cvt_s32_f32, INT) X(cvt_f64_f32, FP64) X(cvt_f32_f64, FP64) \
  X(cvt_f32_f16, INT) X(cvt_f16_f32, INT) X(cvt_f32_bf16, INT) X(cvt_bf16_f32, INT) \
  X(cvt_f16x2_f32, INT) X(cvt_bf16x2_f32, INT) X(cvt_f32_f32, INT) X(cvt_any, INT) \
  X(cvt_pair, INT) X(cvt_small, INT) X(cvt_unsmall, INT) X(cvt_tf32, INT) \
  X(cvta_window, NONE) X(cvta_to_window, NONE) X(isspacep, INT)

#define SIM_OPS_MEMORY(X) \
  X(ld_global, MEMORY) X(ld_shared, MEMORY) X(ld_local, MEMORY) X(ld_param, MEMORY) \
  X(ld_const, MEMORY) X(ld_generic, MEMORY) X(st_global, MEMORY) X(st_shared, MEMORY) \
  X(st_local, MEMORY) X(st_generic, MEMORY) X(atom_global, MEMORY) X(atom_shared, MEMORY) \
  X(atom_generic, MEMORY) X(cp_async, MEMORY) X(cp_commit, NONE) X(cp_wait, CONTROL) \
  X(cp_arrive, MEMORY) X(ld_cluster, MEMORY) X(st_cluster, MEMORY) X(atom_cluster, MEMORY) \
  X(mapa, INT) X(rank_of, INT) X(mbarrier_init, MEMORY) X(mbarrier_inval, MEMORY) \
  X(mbarrier_arrive, MEMORY) X(mbarrier_tx, MEMORY) X(mbarrier_wait, MEMORY) \
  X(mbarrier_pending, INT) X(bulk_load, MEMORY) X(bulk_send, MEMORY) X(bulk_store, MEMORY) \
  X(bulk_reduce, MEMORY) X(st_async, MEMORY) X(ldmatrix, MEMORY) X(stmatrix, MEMORY) \
  X(wmma_load, MEMORY) X(wmma_store, MEMORY)

#define SIM_OPS_CONTROL(X) \
  X(bra, CONTROL) X(brx, CONTROL) X(exit, CONTROL) X(trap, CONTROL) X(assertion, CONTROL) \
  X(nop, NONE) X(bar, CONTROL) X(bar_warp, CONTROL) X(shfl, MEMORY) X(vote, INT) \
  X(activemask, INT) X(match, INT) X(redux, INT) X(elect, INT) X(clock_u32, INT) \
  X(clock_u64, INT) X(bar_cluster, CONTROL) X(nanosleep, CONTROL) X(movmatrix, MEMORY) \
  X(mma, TENSOR) X(wgmma, TENSOR) X(wgmma_fence, CONTROL) X(wgmma_commit, NONE) \
  X(wgmma_wait, CONTROL) X(wgmma_early, NONE) X(fence_proxy, NONE) X(smid, INT) X(adjust, NONE) X(unknown, NONE)

#define SIM_OPS(X) SIM_OPS_INT(X) SIM_OPS_COMPARE(X) SIM_OPS_FLOAT(X) SIM_OPS_HALF(X) \
  SIM_OPS_CONVERT(X) SIM_OPS_MEMORY(X) SIM_OPS_CONTROL(X)

enum {
#define X(name, pipe) SIM_OP_##name,
  SIM_OPS(X)
#undef X
  SIM_OP_COUNT
};

#endif

/*
** ops.h - the table of instructions: a row each, X(name, pipe, traits). A statement `add.s32`
** becomes the instruction `add_b32`; the decoder composes these names, and there is one function
** op_NAME for each. Whatever has to know what an instruction does looks into its row.
**
** The pipe is the unit that executes it, for the time model. NONE costs nothing: the instruction
** vanishes when PTX becomes machine code. PRODUCT is integer multiplication, which the units of
** float32 do.
**
** Traits are one of the names below (VALUE, SUM, ...), or HAS(...) of bits.
*/
#ifndef CAWB_SIM_EXEC_OPS_H
#define CAWB_SIM_EXEC_OPS_H

#include <stdint.h>

/* Registers: operand 0 is written as a whole, and not read; as are operands 2 up to the number
   of elements (of vectors). An instruction without either may read what it writes. A second
   result (`second`) is always written. */
#define OP_DEFINES          (UINT32_C(1) << 0)
#define OP_DEFINES_VECTOR   (UINT32_C(1) << 1)
#define OP_COPIES           (UINT32_C(1) << 3)   /* a register to another, with nothing done to it */

/* Memory, and the spaces that it may be in. GENERIC: the address, or an operand, says which. */
#define OP_READS            (UINT32_C(1) << 4)
#define OP_WRITES           (UINT32_C(1) << 5)
#define OP_ATOMIC           (UINT32_C(1) << 6)   /* both at once, with nothing between */
#define OP_GLOBAL           (UINT32_C(1) << 7)
#define OP_SHARED           (UINT32_C(1) << 8)   /* of the block, or of one of its cluster */
#define OP_LOCAL            (UINT32_C(1) << 9)
#define OP_CONSTANT         (UINT32_C(1) << 10)  /* parameters too */
#define OP_GENERIC          (UINT32_C(1) << 11)
#define OP_ASYNC            (UINT32_C(1) << 12)  /* goes on after the next instruction has begun */
#define OP_ELEMENTS         (UINT32_C(1) << 13)  /* of each lane, `vec` at the address in operand 1 */

/* Control: what follows is not, or not always, the next instruction. */
#define OP_JUMPS            (UINT32_C(1) << 14)  /* to one place */
#define OP_JUMPS_BY_TABLE   (UINT32_C(1) << 15)
#define OP_EXITS            (UINT32_C(1) << 16)  /* the thread leaves the block */
#define OP_FAULTS           (UINT32_C(1) << 17)  /* the launch ends */
#define OP_TARGET           (UINT32_C(1) << 18)  /* an entry of a jump table */
#define OP_BARRIER_WARP     (UINT32_C(1) << 19)
#define OP_BARRIER_BLOCK    (UINT32_C(1) << 20)
#define OP_BARRIER_CLUSTER  (UINT32_C(1) << 21)
#define OP_CLOCK            (UINT32_C(1) << 22)  /* what it gives depends on what was executed before */

/* For the time model: warps wait for the result, as long as global memory takes; the machine needs two instructions, or
   a program of some. */
#define OP_WAITS_GLOBAL     (UINT32_C(1) << 23)
#define OP_TWICE            (UINT32_C(1) << 26)
#define OP_PROGRAM(which)   ((uint32_t)SIM_##which << 27)
#define OP_PROGRAM_OF(traits) ((traits) >> 27 & 7)

/* For the machine code: it becomes exactly one instruction, of its own kind; or one of a kind
   that the machine's compiler may put elsewhere. */
#define OP_ONE_TO_ONE       (UINT32_C(1) << 30)
#define OP_REARRANGED       (UINT32_C(1) << 31)

/* The pipes. */
enum { SIM_PIPE_NONE, SIM_PIPE_FP32, SIM_PIPE_INT, SIM_PIPE_FP64, SIM_PIPE_SPECIAL,
       SIM_PIPE_MEMORY, SIM_PIPE_CONTROL, SIM_PIPE_TENSOR, SIM_PIPE_PRODUCT, SIM_PIPES };

/* The programs; time/cost.c says how long they are. */
enum { SIM_ONE_INSTRUCTION, SIM_DIVIDE, SIM_DIVIDE_WIDE, SIM_DIVIDE_FLOAT, SIM_ROOT_FLOAT, SIM_SPECIAL_FLOAT,
       SIM_DIVIDE_DOUBLE, SIM_ROOT_DOUBLE, SIM_PROGRAMS };

#define OP_HAS(bits)   (bits)
#define OP_NOTHING     0
#define OP_VALUE       OP_DEFINES
#define OP_VALUE64     (OP_DEFINES | OP_TWICE)
#define OP_COPY        (OP_DEFINES | OP_COPIES)
#define OP_SUM         (OP_DEFINES | OP_REARRANGED)
#define OP_QUOTIENT    (OP_DEFINES | OP_PROGRAM(DIVIDE))
#define OP_QUOTIENT64  (OP_DEFINES | OP_TWICE | OP_PROGRAM(DIVIDE_WIDE))
#define OP_LOAD        (OP_DEFINES_VECTOR | OP_READS | OP_ELEMENTS)
#define OP_STORE       (OP_WRITES | OP_ELEMENTS)
#define OP_UPDATE      (OP_ATOMIC | OP_READS | OP_WRITES | OP_ELEMENTS)

#define SIM_OPS_INT(X) \
  X(add_b32, INT, VALUE) X(add_b64, INT, VALUE64) X(sub_b32, INT, VALUE) X(sub_b64, INT, VALUE64) \
  X(mul_lo_b32, PRODUCT, VALUE) X(mul_lo_b64, PRODUCT, VALUE64) X(mul_hi_s16, PRODUCT, VALUE) \
  X(mul_hi_u16, PRODUCT, VALUE) X(mul_hi_s32, PRODUCT, VALUE) X(mul_hi_u32, PRODUCT, VALUE) \
  X(mul_hi_s64, PRODUCT, VALUE64) X(mul_hi_u64, PRODUCT, VALUE64) X(mul_wide_s16, PRODUCT, VALUE) \
  X(mul_wide_u16, PRODUCT, VALUE) X(mul_wide_s32, PRODUCT, VALUE) X(mul_wide_u32, PRODUCT, VALUE) \
  X(mad_lo_b32, PRODUCT, VALUE) X(mad_lo_b64, PRODUCT, VALUE64) X(mad_hi_s32, PRODUCT, VALUE) \
  X(mad_hi_u32, PRODUCT, VALUE) X(mad_hi_s64, PRODUCT, VALUE64) X(mad_hi_u64, PRODUCT, VALUE64) \
  X(mad_wide_s16, PRODUCT, VALUE) X(mad_wide_u16, PRODUCT, VALUE) X(mad_wide_s32, PRODUCT, VALUE) \
  X(mad_wide_u32, PRODUCT, VALUE) X(mul24_lo_s32, PRODUCT, VALUE) X(mul24_lo_u32, PRODUCT, VALUE) \
  X(mad24_lo_s32, PRODUCT, VALUE) X(mad24_lo_u32, PRODUCT, VALUE) X(div_s16, INT, QUOTIENT) \
  X(div_u16, INT, QUOTIENT) X(div_s32, INT, QUOTIENT) X(div_u32, INT, QUOTIENT) X(div_s64, INT, QUOTIENT64) \
  X(div_u64, INT, QUOTIENT64) X(rem_s16, INT, QUOTIENT) X(rem_u16, INT, QUOTIENT) X(rem_s32, INT, QUOTIENT) \
  X(rem_u32, INT, QUOTIENT) X(rem_s64, INT, QUOTIENT64) X(rem_u64, INT, QUOTIENT64) X(abs_s16, INT, VALUE) \
  X(abs_s32, INT, VALUE) X(abs_s64, INT, VALUE64) X(neg_s32, INT, VALUE) X(neg_s64, INT, VALUE64) \
  X(min_s16, INT, VALUE) X(min_u16, INT, VALUE) X(min_s32, INT, VALUE) X(min_u32, INT, VALUE) \
  X(min_s64, INT, VALUE64) X(min_u64, INT, VALUE64) X(max_s16, INT, VALUE) X(max_u16, INT, VALUE) \
  X(max_s32, INT, VALUE) X(max_u32, INT, VALUE) X(max_s64, INT, VALUE64) X(max_u64, INT, VALUE64) \
  X(and_b32, INT, VALUE) X(and_b64, INT, VALUE64) X(and_pred, INT, VALUE) X(or_b32, INT, VALUE) \
  X(or_b64, INT, VALUE64) X(or_pred, INT, VALUE) X(xor_b32, INT, VALUE) X(xor_b64, INT, VALUE64) \
  X(xor_pred, INT, VALUE) X(not_b32, INT, VALUE) X(not_b64, INT, VALUE64) X(not_pred, INT, VALUE) \
  X(cnot_b32, INT, VALUE) X(cnot_b64, INT, VALUE64) X(shl_b16, INT, VALUE) X(shl_b32, INT, VALUE) \
  X(shl_b64, INT, VALUE64) X(shr_u16, INT, VALUE) X(shr_s16, INT, VALUE) X(shr_u32, INT, VALUE) \
  X(shr_s32, INT, VALUE) X(shr_u64, INT, VALUE64) X(shr_s64, INT, VALUE64) X(shf_l_wrap, INT, VALUE) \
  X(shf_l_clamp, INT, VALUE) X(shf_r_wrap, INT, VALUE) X(shf_r_clamp, INT, VALUE) X(bfe_u32, INT, VALUE) \
  X(bfe_s32, INT, VALUE) X(bfe_u64, INT, VALUE64) X(bfe_s64, INT, VALUE64) X(bfi_b32, INT, VALUE) \
  X(bfi_b64, INT, VALUE64) X(bfind_u32, INT, VALUE) X(bfind_s32, INT, VALUE) X(bfind_u64, INT, VALUE64) \
  X(bfind_s64, INT, VALUE64) X(brev_b32, INT, VALUE) X(brev_b64, INT, VALUE64) X(clz_b32, INT, VALUE) \
  X(clz_b64, INT, VALUE64) X(popc_b32, INT, VALUE) X(popc_b64, INT, VALUE64) X(prmt_b32, INT, VALUE) \
  X(lop3_b32, INT, VALUE) X(sad_s32, INT, VALUE) X(sad_u32, INT, VALUE) X(dp4a, INT, VALUE) X(dp2a, INT, VALUE) \
  X(carry_add_b32, INT, VALUE) X(carry_add_b64, INT, VALUE) X(carry_sub_b32, INT, VALUE) \
  X(carry_sub_b64, INT, VALUE) X(carry_mad_lo_b32, INT, VALUE) X(carry_mad_hi_s32, INT, VALUE) \
  X(carry_mad_hi_u32, INT, VALUE) X(carry_mad_lo_b64, INT, VALUE) X(carry_mad_hi_s64, INT, VALUE) \
  X(carry_mad_hi_u64, INT, VALUE) X(selp_b32, INT, VALUE) X(selp_b64, INT, VALUE) X(slct_b32_s32, INT, VALUE) \
  X(slct_b64_s32, INT, VALUE) X(slct_b32_f32, INT, VALUE) X(slct_b64_f32, INT, VALUE) X(bmsk_b32, INT, VALUE) \
  X(add_sat_s32, INT, VALUE) X(sub_sat_s32, INT, VALUE) X(szext_s32, INT, VALUE) X(szext_u32, INT, VALUE) \
  X(fns_b32, INT, VALUE) X(sad_s16, INT, VALUE) X(sad_u16, INT, VALUE) X(sad_s64, INT, VALUE64) \
  X(sad_u64, INT, VALUE64) X(min_relu_s32, INT, VALUE) X(max_relu_s32, INT, VALUE) X(add_s16x2, INT, VALUE) \
  X(add_u16x2, INT, VALUE) X(min_s16x2, INT, VALUE) X(min_u16x2, INT, VALUE) X(max_s16x2, INT, VALUE) \
  X(max_u16x2, INT, VALUE) X(min_relu_s16x2, INT, VALUE) X(max_relu_s16x2, INT, VALUE) X(video, INT, VALUE) X(video_one, INT, VALUE) \
  X(mul24_hi_s32, PRODUCT, VALUE) X(mul24_hi_u32, PRODUCT, VALUE) X(mad_hi_s16, PRODUCT, VALUE) \
  X(mad_hi_u16, PRODUCT, VALUE)

#define SIM_OPS_COMPARE(X) \
  X(setp_s16, INT, VALUE) X(setp_u16, INT, VALUE) X(setp_s32, INT, VALUE) X(setp_u32, INT, VALUE) \
  X(setp_s64, INT, VALUE64) X(setp_u64, INT, VALUE64) X(setp_f32, INT, VALUE) X(setp_f64, FP64, VALUE) \
  X(setp_f16, INT, VALUE) X(setp_bf16, INT, VALUE) X(setp_f16x2, INT, VALUE) X(setp_bf16x2, INT, VALUE) \
  X(set_from_pred, INT, VALUE) X(set_f16x2, INT, VALUE) X(set_bf16x2, INT, VALUE) X(testp_f32, INT, VALUE) \
  X(testp_f64, FP64, VALUE)

#define SIM_OPS_FLOAT(X) \
  X(add_f32, FP32, SUM) X(sub_f32, FP32, SUM) X(mul_f32, FP32, SUM) X(fma_f32, FP32, SUM) \
  X(div_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(DIVIDE_FLOAT))) \
  X(rcp_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(ROOT_FLOAT))) \
  X(sqrt_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(ROOT_FLOAT))) \
  X(rsqrt_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(SPECIAL_FLOAT))) \
  X(ex2_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(SPECIAL_FLOAT))) \
  X(lg2_f32, SPECIAL, HAS(OP_DEFINES | OP_PROGRAM(SPECIAL_FLOAT))) X(sin_f32, SPECIAL, VALUE) \
  X(cos_f32, SPECIAL, VALUE) X(tanh_f32, SPECIAL, VALUE) X(abs_f32, FP32, VALUE) X(neg_f32, FP32, VALUE) \
  X(min_f32, INT, VALUE) X(max_f32, INT, VALUE) X(min_nan_f32, INT, VALUE) X(max_nan_f32, INT, VALUE) \
  X(copysign_f32, INT, VALUE) X(min_xorsign_f32, INT, VALUE) X(max_xorsign_f32, INT, VALUE) X(add_f64, FP64, SUM) \
  X(sub_f64, FP64, SUM) X(mul_f64, FP64, SUM) X(fma_f64, FP64, SUM) \
  X(div_f64, FP64, HAS(OP_DEFINES | OP_PROGRAM(DIVIDE_DOUBLE))) \
  X(rcp_f64, FP64, HAS(OP_DEFINES | OP_PROGRAM(ROOT_DOUBLE))) \
  X(sqrt_f64, FP64, HAS(OP_DEFINES | OP_PROGRAM(ROOT_DOUBLE))) \
  X(rsqrt_f64, FP64, HAS(OP_DEFINES | OP_PROGRAM(ROOT_DOUBLE))) X(rcp_approx_f64, SPECIAL, VALUE) \
  X(rsqrt_approx_f64, SPECIAL, VALUE) X(abs_f64, INT, VALUE64) X(neg_f64, INT, VALUE64) X(min_f64, FP64, VALUE) \
  X(max_f64, FP64, VALUE) X(copysign_f64, INT, VALUE64)

#define SIM_OPS_HALF(X) \
  X(add_f16, FP32, VALUE) X(sub_f16, FP32, VALUE) X(mul_f16, FP32, VALUE) X(fma_f16, FP32, VALUE) \
  X(neg_f16, FP32, VALUE) X(abs_f16, FP32, VALUE) X(min_f16, INT, VALUE) X(max_f16, INT, VALUE) \
  X(min_nan_f16, INT, VALUE) X(max_nan_f16, INT, VALUE) X(ex2_f16, SPECIAL, VALUE) X(tanh_f16, SPECIAL, VALUE) \
  X(add_f16x2, FP32, SUM) X(sub_f16x2, FP32, SUM) X(mul_f16x2, FP32, SUM) X(fma_f16x2, FP32, SUM) \
  X(neg_f16x2, FP32, VALUE) X(abs_f16x2, FP32, VALUE) X(min_f16x2, INT, VALUE) X(max_f16x2, INT, VALUE) \
  X(min_nan_f16x2, INT, VALUE) X(max_nan_f16x2, INT, VALUE) X(ex2_f16x2, SPECIAL, VALUE) \
  X(tanh_f16x2, SPECIAL, VALUE) X(add_bf16, FP32, VALUE) X(sub_bf16, FP32, VALUE) X(mul_bf16, FP32, VALUE) \
  X(fma_bf16, FP32, VALUE) X(neg_bf16, FP32, VALUE) X(abs_bf16, FP32, VALUE) X(min_bf16, INT, VALUE) \
  X(max_bf16, INT, VALUE) X(min_nan_bf16, INT, VALUE) X(max_nan_bf16, INT, VALUE) X(ex2_bf16, SPECIAL, VALUE) \
  X(tanh_bf16, SPECIAL, VALUE) X(add_bf16x2, FP32, VALUE) X(sub_bf16x2, FP32, VALUE) X(mul_bf16x2, FP32, VALUE) \
  X(fma_bf16x2, FP32, VALUE) X(neg_bf16x2, FP32, VALUE) X(abs_bf16x2, FP32, VALUE) X(min_bf16x2, INT, VALUE) \
  X(max_bf16x2, INT, VALUE) X(min_nan_bf16x2, INT, VALUE) X(max_nan_bf16x2, INT, VALUE) \
  X(ex2_bf16x2, SPECIAL, VALUE) X(tanh_bf16x2, SPECIAL, VALUE)

/* cvt: the common ones by name; cvt_any does the rest lane by lane. */
#define SIM_OPS_CONVERT(X) \
  X(mov_b32, NONE, COPY) X(mov_b64, NONE, COPY) X(mov_pred, NONE, VALUE) X(pack, NONE, VALUE) \
  X(unpack, NONE, HAS(OP_DEFINES_VECTOR)) X(cvt_b32_u16, INT, VALUE) X(cvt_b32_s16, INT, VALUE) \
  X(cvt_b32_u8, INT, VALUE) X(cvt_b32_s8, INT, VALUE) X(cvt_b64_u32, NONE, VALUE) X(cvt_b64_s32, INT, VALUE) \
  X(cvt_b32_b64, NONE, VALUE) X(cvt_f32_s32, INT, VALUE) X(cvt_f32_u32, INT, VALUE) X(cvt_s32_f32, INT, VALUE) \
  X(cvt_f64_f32, FP64, VALUE) X(cvt_f32_f64, FP64, VALUE) X(cvt_f32_f16, INT, VALUE) X(cvt_f16_f32, INT, VALUE) \
  X(cvt_f32_bf16, INT, VALUE) X(cvt_bf16_f32, INT, VALUE) X(cvt_f16x2_f32, INT, VALUE) \
  X(cvt_bf16x2_f32, INT, VALUE) X(cvt_f32_f32, INT, VALUE) X(cvt_any, INT, VALUE) X(cvt_pair, INT, VALUE) \
  X(cvt_small, INT, VALUE) X(cvt_unsmall, INT, VALUE) X(cvt_tf32, INT, VALUE) X(cvta_window, NONE, VALUE) \
  X(cvta_to_window, NONE, VALUE) X(isspacep, INT, VALUE)

#define SIM_OPS_MEMORY(X) \
  X(ld_global, MEMORY, HAS(OP_LOAD | OP_GLOBAL | OP_WAITS_GLOBAL | OP_ONE_TO_ONE)) \
  X(ld_shared, MEMORY, HAS(OP_LOAD | OP_SHARED | OP_ONE_TO_ONE)) \
  X(ld_local, MEMORY, HAS(OP_LOAD | OP_LOCAL | OP_ONE_TO_ONE)) \
  X(ld_param, MEMORY, HAS(OP_LOAD | OP_CONSTANT)) \
  X(ld_const, MEMORY, HAS(OP_LOAD | OP_CONSTANT)) \
  X(st_global, MEMORY, HAS(OP_STORE | OP_GLOBAL | OP_ONE_TO_ONE)) \
  X(st_shared, MEMORY, HAS(OP_STORE | OP_SHARED | OP_ONE_TO_ONE)) \
  X(st_local, MEMORY, HAS(OP_STORE | OP_LOCAL | OP_ONE_TO_ONE)) \
  X(atom_global, MEMORY, HAS(OP_UPDATE | OP_GLOBAL | OP_WAITS_GLOBAL | OP_ONE_TO_ONE)) \
  X(atom_shared, MEMORY, HAS(OP_UPDATE | OP_SHARED | OP_ONE_TO_ONE))

/* Copies that go on by themselves, and the barrier objects that they tell. */
#define SIM_OPS_ASYNC(X) \
  X(cp_async, MEMORY, HAS(OP_READS | OP_GLOBAL | OP_WRITES | OP_SHARED | OP_ASYNC | OP_WAITS_GLOBAL)) \
  X(cp_commit, NONE, NOTHING) \
  X(cp_wait, CONTROL, HAS(OP_WRITES | OP_SHARED)) \
  X(cp_arrive, MEMORY, HAS(OP_ATOMIC | OP_SHARED)) \
  X(mbarrier_init, MEMORY, HAS(OP_WRITES | OP_SHARED)) \
  X(mbarrier_inval, MEMORY, HAS(OP_WRITES | OP_SHARED)) \
  X(mbarrier_arrive, MEMORY, HAS(OP_ATOMIC | OP_SHARED)) \
  X(mbarrier_tx, MEMORY, HAS(OP_ATOMIC | OP_SHARED)) \
  X(mbarrier_wait, MEMORY, HAS(OP_READS | OP_SHARED)) \
  X(mbarrier_pending, INT, VALUE) \
  X(bulk_load, MEMORY, HAS(OP_READS | OP_GLOBAL | OP_WRITES | OP_SHARED | OP_ASYNC)) \
  X(bulk_send, MEMORY, HAS(OP_READS | OP_WRITES | OP_SHARED | OP_ASYNC)) \
  X(bulk_store, MEMORY, HAS(OP_READS | OP_SHARED | OP_WRITES | OP_GLOBAL | OP_ASYNC)) \
  X(bulk_reduce, MEMORY, HAS(OP_READS | OP_SHARED | OP_ATOMIC | OP_GLOBAL | OP_ASYNC)) \
  X(st_async, MEMORY, HAS(OP_WRITES | OP_SHARED | OP_ASYNC)) \
  X(fence_proxy, NONE, NOTHING)

#define SIM_OPS_CONTROL(X) \
  X(bra, CONTROL, HAS(OP_JUMPS)) \
  X(brx, CONTROL, HAS(OP_JUMPS_BY_TABLE)) \
  X(target, NONE, HAS(OP_TARGET)) \
  X(exit, CONTROL, HAS(OP_EXITS)) \
  X(trap, CONTROL, HAS(OP_FAULTS)) \
  X(assertion, CONTROL, HAS(OP_FAULTS)) \
  X(unknown, NONE, HAS(OP_FAULTS)) \
  X(nop, NONE, NOTHING) \
  X(nanosleep, CONTROL, NOTHING) \
  X(bar, CONTROL, HAS(OP_BARRIER_BLOCK | OP_ONE_TO_ONE)) \
  X(bar_warp, CONTROL, HAS(OP_BARRIER_WARP)) \
  X(bar_cluster, CONTROL, HAS(OP_BARRIER_CLUSTER)) \
  X(clock_u32, INT, HAS(OP_DEFINES | OP_CLOCK)) \
  X(clock_u64, INT, HAS(OP_DEFINES | OP_CLOCK)) \
  X(call, CONTROL, HAS(OP_JUMPS)) \
  X(come_back, CONTROL, HAS(OP_JUMPS_BY_TABLE)) \
  X(local_move, MEMORY, NOTHING) \
  X(heap_alloc, MEMORY, HAS(OP_DEFINES | OP_CLOCK)) \
  X(heap_free, MEMORY, HAS(OP_CLOCK)) \
  X(print, MEMORY, HAS(OP_DEFINES | OP_CLOCK)) \
  X(smid, INT, VALUE)

/* What the lanes of a warp do together. `adjust` goes around another: other roundings, saturation. */
#define SIM_OPS_TOGETHER(X) \
  X(shfl, MEMORY, HAS(OP_DEFINES | OP_ONE_TO_ONE)) \
  X(vote, INT, VALUE) \
  X(activemask, INT, VALUE) \
  X(match, INT, VALUE) \
  X(redux, INT, HAS(OP_DEFINES | OP_ONE_TO_ONE)) \
  X(elect, INT, VALUE) \
  X(mma, TENSOR, NOTHING) \
  X(mma_sp, TENSOR, NOTHING) \
  X(adjust, NONE, NOTHING)

/* Addresses that may lie in several spaces, or in another block; matrices; warps and blocks together.
   `wgmma_early` goes around another, and looks whether what that reads is ready. */
#define SIM_OPS_ELSEWHERE(X) \
  X(ld_generic, MEMORY, HAS(OP_LOAD | OP_GENERIC | OP_WAITS_GLOBAL | OP_ONE_TO_ONE)) \
  X(st_generic, MEMORY, HAS(OP_STORE | OP_GENERIC | OP_ONE_TO_ONE)) \
  X(atom_generic, MEMORY, HAS(OP_UPDATE | OP_GENERIC | OP_WAITS_GLOBAL | OP_ONE_TO_ONE)) \
  X(fence, NONE, NOTHING) \
  X(grid_wait, CONTROL, NOTHING) \
  X(atom_wide, MEMORY, HAS(OP_ATOMIC | OP_READS | OP_WRITES | OP_GENERIC | OP_WAITS_GLOBAL | OP_ONE_TO_ONE)) \
  X(ld_cluster, MEMORY, HAS(OP_LOAD | OP_SHARED)) \
  X(st_cluster, MEMORY, HAS(OP_STORE | OP_SHARED)) \
  X(atom_cluster, MEMORY, HAS(OP_UPDATE | OP_SHARED)) \
  X(ldmatrix, MEMORY, HAS(OP_DEFINES_VECTOR | OP_READS | OP_SHARED | OP_ONE_TO_ONE)) \
  X(stmatrix, MEMORY, HAS(OP_WRITES | OP_SHARED)) \
  X(wmma_load, MEMORY, HAS(OP_READS | OP_GENERIC)) \
  X(wmma_store, MEMORY, HAS(OP_WRITES | OP_GENERIC)) \
  X(movmatrix, MEMORY, VALUE) \
  X(mapa, INT, VALUE) \
  X(rank_of, INT, VALUE) \
  X(wgmma, TENSOR, HAS(OP_READS | OP_SHARED | OP_ASYNC)) \
  X(wgmma_fence, CONTROL, NOTHING) \
  X(wgmma_commit, NONE, NOTHING) \
  X(wgmma_wait, CONTROL, NOTHING) \
  X(wgmma_early, NONE, NOTHING)

/* Compiled once per instruction set (sim/isa); ordinary functions. */
#define SIM_OPS_LANES(X) SIM_OPS_INT(X) SIM_OPS_COMPARE(X) SIM_OPS_FLOAT(X) SIM_OPS_HALF(X) SIM_OPS_CONVERT(X) \
  SIM_OPS_MEMORY(X) SIM_OPS_TOGETHER(X)
#define SIM_OPS_PLAIN(X) SIM_OPS_ELSEWHERE(X) SIM_OPS_ASYNC(X) SIM_OPS_CONTROL(X)
#define SIM_OPS(X) SIM_OPS_LANES(X) SIM_OPS_PLAIN(X)

enum {
#define X(name, pipe, traits) SIM_OP_##name,
  SIM_OPS(X)
#undef X
  SIM_OP_COUNT
};

typedef struct sim_op {
  const char *name;
  uint32_t traits;
  uint8_t pipe;                 /* SIM_PIPE_... */
} sim_op;

extern const sim_op sim_ops[SIM_OP_COUNT];      /* ops.c */

/* Whether the instruction has any of these traits. */
static inline int sim_op_has(unsigned op, uint32_t traits) { return (sim_ops[op].traits & traits) != 0; }

#endif

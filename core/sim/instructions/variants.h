/*
** variants.h - the variants (`mode`) and modifiers (`flags`) of instructions that the decoder and
** what executes them both have to know.
*/
#ifndef CAWB_SIM_EXEC_VARIANTS_H
#define CAWB_SIM_EXEC_VARIANTS_H

enum { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC };         /* mode of atomics */
enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };                              /* mode of bar */
enum { VIDEO_ADD, VIDEO_SUB, VIDEO_ABSDIFF, VIDEO_MIN, VIDEO_MAX, VIDEO_SET,
       VIDEO_AVRG, VIDEO_SHL, VIDEO_SHR, VIDEO_MAD };                                  /* mode of video, video_one */
/* flags of bar, of mbarrier.arrive, of mma, of wgmma */
enum { BAR_ALIGNED = 1 };
enum { ARRIVE_DROPS = 1, ARRIVE_EXPECTS = 2, ARRIVE_COUNTS = 4, ARRIVE_STATE = 8, ARRIVE_OPEN = 16 };
enum { MMA_SATURATES = 1, MMA_XOR = 2, MMA_AND = 4, MMA_WMMA = 8 };
enum { WG_SATURATES = 1, WG_REGISTERS = 2, WG_TURN_A = 4, WG_TURN_B = 8, WG_MINUS = 16, WG_KEEP_NOT = 32 };

#endif

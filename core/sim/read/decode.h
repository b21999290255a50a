/* decode.h - what the decoder's files share: a mnemonic taken apart, operands. */
#ifndef CAWB_SIM_READ_DECODE_H
#define CAWB_SIM_READ_DECODE_H

#include "sim/instructions/ops.h"
#include "sim/instructions/variants.h"
#include "sim/parse/ptx_parse.h"

/* Modifiers of a mnemonic, as bits of form.has. */
#define PTX_WORDS_LIST(X) \
  X(RN, "rn") X(RZ, "rz") X(RM, "rm") X(RP, "rp") X(RNA, "rna") X(RNI, "rni") X(RZI, "rzi") \
  X(RMI, "rmi") X(RPI, "rpi") X(FTZ, "ftz") X(SAT, "sat") X(SATFINITE, "satfinite") \
  X(CC, "cc") X(LO, "lo") X(HI, "hi") X(WIDE, "wide") X(APPROX, "approx") X(FULL, "full") \
  X(NAN, "NaN") X(XORSIGN, "xorsign") X(RELU, "relu") X(UNI, "uni") X(WRAP, "wrap") \
  X(CLAMP, "clamp") X(SHIFTAMT, "shiftamt") X(L, "l") X(R, "r") X(EQ, "eq") X(NE, "ne") \
  X(LT, "lt") X(LE, "le") X(GT, "gt") X(GE, "ge") X(EQU, "equ") X(NEU, "neu") X(LTU, "ltu") \
  X(LEU, "leu") X(GTU, "gtu") X(GEU, "geu") X(NUM, "num") X(NANC, "nan") X(LS, "ls") \
  X(HS, "hs") X(AND, "and") X(OR, "or") X(XOR, "xor") X(MIN, "min") X(MAX, "max") \
  X(ADD, "add") X(INC, "inc") X(DEC, "dec") X(EXCH, "exch") X(CAS, "cas") X(POPC, "popc") \
  X(ALL, "all") X(ANY, "any") X(BALLOT, "ballot") X(UP, "up") X(DOWN, "down") \
  X(BFLY, "bfly") X(IDX, "idx") X(SYNC, "sync") X(ARRIVE, "arrive") X(RED, "red") \
  X(WARP, "warp") X(ALIGNED, "aligned") X(CTA, "cta") X(GPU, "gpu") X(SYS, "sys") \
  X(CLUSTER, "cluster") X(GL, "gl") X(GLOBAL, "global") X(SHARED, "shared") \
  X(SHARED_CTA, "shared::cta") X(LOCAL, "local") X(PARAM, "param") \
  X(PARAM_ENTRY, "param::entry") X(PARAM_FUNC, "param::func") X(CONST, "const") \
  X(GENERIC, "generic") X(TO, "to") X(VOLATILE, "volatile") X(RELAXED, "relaxed") \
  X(ACQUIRE, "acquire") X(RELEASE, "release") X(ACQ_REL, "acq_rel") X(WEAK, "weak") \
  X(SC, "sc") X(NC, "nc") X(CA, "ca") X(CG, "cg") X(CS, "cs") X(LU, "lu") X(CV, "cv") \
  X(WB, "wb") X(WT, "wt") X(V2, "v2") X(V4, "v4") X(V8, "v8") X(F4E, "f4e") X(B4E, "b4e") \
  X(RC8, "rc8") X(ECL, "ecl") X(ECR, "ecr") X(RC16, "rc16") X(FINITE, "finite") \
  X(INFINITE, "infinite") X(NUMBER, "number") X(NOTANUMBER, "notanumber") \
  X(NORMAL, "normal") X(SUBNORMAL, "subnormal") X(NOINC, "noinc") X(HINT, "::") \
  X(PROXY, "proxy") X(ASYNC, "async") X(NOFTZ, "noftz") X(COMMIT, "commit_group") \
  X(WAIT, "wait_group") X(WAIT_ALL, "wait_all") X(ABS, "abs") X(SHARED_CLUSTER, "shared::cluster") \
  X(FRACTIONAL, "fractional") X(RANGE, "range") X(SATF, "satf") X(SHR7, "shr7") X(SHR15, "shr15") X(PO, "po")

enum {
#define X(id, text) W_##id,
  PTX_WORDS_LIST(X)
#undef X
  W_COUNT
};

typedef enum ptx_class { PTX_B, PTX_U, PTX_S, PTX_F, PTX_BF, PTX_P, PTX_FX2, PTX_BFX2, PTX_SX2,
               PTX_UX2, PTX_E4X2, PTX_E5X2, PTX_TF } ptx_class;

typedef struct ptx_type {
  ptx_class class;
  unsigned bytes;
  char name[8];             /* "s32" */
} ptx_type;

typedef struct ptx_form {
  char base[16];
  uint64_t has[3];
  ptx_type type[4];
  unsigned types;
} ptx_form;

static inline int ptx_has(const ptx_form *f, int word) {
  return (int)(f->has[word / 64] >> (word % 64) & 1);
}

/* Raises UNSUPPORTED in the end, by name: emits an instruction that is not known. */
void ptx_refuse(ptx_parser *p, const ptx_statement *s);
int  ptx_op_named(const ptx_parser *p, const char *name);    /* -1: none */

/* Operand number i as a source or destination of `bytes` a lane (0: predicate). */
sim_ref ptx_source(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned bytes, const ptx_type *t);
sim_ref ptx_source_of(ptx_parser *p, const ptx_operand *o, unsigned bytes, const ptx_type *t);
sim_ref ptx_target_of(ptx_parser *p, const ptx_operand *o, unsigned bytes);
sim_ref ptx_target(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned bytes);
const ptx_operand *ptx_operand_at(ptx_parser *p, const ptx_statement *s, unsigned i);
uint64_t ptx_immediate(ptx_parser *p, const ptx_statement *s, unsigned i);
sim_ref ptx_symbol_address(ptx_parser *p, uint32_t symbol, int64_t offset, unsigned bytes);

static inline unsigned ptx_lane(unsigned type_bytes) { return type_bytes == 8 ? 8 : 4; }

int ptx_rounding(const ptx_form *f);
int ptx_compare(const ptx_form *f);
void ptx_adjust(ptx_parser *p, sim_insn *in, int round, int saturate);

static inline int ptx_word_is(const ptx_word *w, const char *text) {
  return __builtin_strlen(text) == w->size && __builtin_memcmp(w->text, text, w->size) == 0;
}
/* The place of this word in the mnemonic, behind its first; 0: it is not there. */
static inline unsigned ptx_word_at(const ptx_statement *s, const char *text) {
  for (unsigned i = 1; i < s->words; i++) if (ptx_word_is(&s->word[i], text)) return i;
  return 0;
}

/* decode_tensor.c: matrices. Types are letters ('h': f16), in the order of the mnemonic. */
unsigned ptx_tensor_types(const ptx_statement *s, char out[4]);
int      ptx_tensor_shape(const ptx_statement *s, unsigned out[3]);
unsigned ptx_tensor_bits(int code);
unsigned ptx_tensor_cost(const unsigned m[3], int code);
int      ptx_tensor_registers(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned n, unsigned bytes,
                              int target);

/* decode_wide.c: values of 128 bits are two of 64 side by side. */
unsigned ptx_halves(ptx_parser *p, const ptx_operand *whole, ptx_operand half[2]);     /* 2, or 0: it is no such register */
int      ptx_decode_wide_mov(ptx_parser *p, const ptx_statement *s);
int      ptx_decode_wide_atom(ptx_parser *p, const ptx_statement *s, int space, int mode, uint8_t order);

/* Each returns 0 when the statement is not of its kind. */
int ptx_decode_video(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_arith(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_compare(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_move(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_convert(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_memory(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_warp(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_hint(ptx_parser *p, const ptx_statement *s, const ptx_form *f);
int ptx_decode_tensor(ptx_parser *p, const ptx_statement *s);
int ptx_decode_wgmma(ptx_parser *p, const ptx_statement *s);
int ptx_decode_async(ptx_parser *p, const ptx_statement *s);
int ptx_decode_control(ptx_parser *p, const ptx_statement *s, const ptx_form *f);

#endif

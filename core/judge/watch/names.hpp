/*
** names.hpp - who looks functions up by their names while a program runs, and how numpy's products are
** called. A candidate's own library need not import what it uses: it may put the name together and ask
** the dynamic linker. So the names themselves are made to tell: each function of interest, of
** the libraries that are there before a candidate, becomes an indirect one, whose resolver the
** linker calls whenever somebody asks, in whatever way; it says who asked and answers with the function.
** Those who were bound before notice nothing. numpy calls its BLAS through a table of
** addresses, where counting functions are put.
**
** What reads a library's file and counts addresses itself is not seen.
*/
#ifndef CAWB_JAILED_NAMES_H
#define CAWB_JAILED_NAMES_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace lookups {

/* Parts of names of functions that are work, or that hide it. */
inline bool tells(const char *name) {
  static const char *const told[] = { "gemm", "GEMM", "gemv", "GEMV", "cblas", "dnnl", "mkl_", "cudnn", "cublas",
    "2at3cpu", "2at6native", "redispatch", "aoti_torch_c", "RecordFunction", "record_function_tls",
    "clearCallbacks", "clearGlobalCallbacks", "removeCallback", "disableCallback", "cuptiFinalize" };
  for (const char *w : told)
    if (strstr(name, w) != nullptr) return true;
  return false;
}

/* What a library says of itself. */
struct Dynamic {
  ElfW(Sym) *symbols = nullptr;
  const char *strings = nullptr;
  const uint32_t *hash = nullptr;
  const ElfW(Rela) *table[2] = { nullptr, nullptr };
  size_t size[2] = { 0, 0 };

  explicit Dynamic(const dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++)
      if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) read((const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if ((ElfW(Addr))symbols < info->dlpi_addr || strings == nullptr) symbols = nullptr;
  }

  void read(const ElfW(Dyn) *d) {
    for (; d->d_tag != DT_NULL; d++) {
      if (d->d_tag == DT_SYMTAB) symbols = (ElfW(Sym) *)d->d_un.d_ptr;
      else if (d->d_tag == DT_STRTAB) strings = (const char *)d->d_un.d_ptr;
      else if (d->d_tag == DT_GNU_HASH) hash = (const uint32_t *)d->d_un.d_ptr;
      else if (d->d_tag == DT_JMPREL) table[0] = (const ElfW(Rela) *)d->d_un.d_ptr;
      else if (d->d_tag == DT_PLTRELSZ) size[0] = d->d_un.d_val / sizeof(ElfW(Rela));
      else if (d->d_tag == DT_RELA) table[1] = (const ElfW(Rela) *)d->d_un.d_ptr;
      else if (d->d_tag == DT_RELASZ) size[1] = d->d_un.d_val / sizeof(ElfW(Rela));
    }
  }

  /* How many symbols there are: one more than the last that the table of hashes names. */
  size_t count() const {
    if (symbols == nullptr || hash == nullptr) return 0;
    uint32_t buckets = hash[0], first = hash[1], last = 0;
    const uint32_t *bucket = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
      if (bucket[i] > last) last = bucket[i];
    if (last < first) return 0;
    while ((chain[last - first] & 1) == 0) last++;
    return last + 1;
  }
};

inline void writable(void *at, size_t bytes, int protection) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1);
  mprotect((void *)from, (uintptr_t)at + bytes - from, protection);
}

/* ---- resolvers: one for each function, of a few instructions */

struct Function { const char *name; void *at; };
inline std::vector<Function> *functions;
inline void (*asked)(const char *name);      /* told each time that somebody asks */

inline void *resolve(uint32_t number) {
  Function f = (*functions)[number];
  if (asked != nullptr) asked(f.name);
  return f.at;
}

enum { STUB = 32 };

/* Ask resolve() for the function of this number; false where it is not known how. */
inline bool write_stub(unsigned char *to, uint32_t number) {
  uint64_t target = (uint64_t)(uintptr_t)&resolve;
#if defined(__x86_64__)
  const unsigned char code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xbf, 0, 0, 0, 0, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0 };
  memcpy(to, code, sizeof code);             /* endbr64; mov edi, number; mov rax, target; jmp rax */
  memcpy(to + 5, &number, 4);
  memcpy(to + 11, &target, 8);
  return true;
#elif defined(__aarch64__)
  const uint32_t code[] = { 0x52800000u | (number & 0xffff) << 5, 0x72a00000u | (number >> 16) << 5, 0x58000050u, 0xd61f0200u };
  memcpy(to, code, sizeof code);             /* movz w0; movk w0, lsl 16; ldr x16, target; br x16 */
  memcpy(to + sizeof code, &target, 8);
  return true;
#else
  (void)to, (void)number, (void)target;
  return false;
#endif
}

inline void make_indirect(const dl_phdr_info *info, const Dynamic &d, std::vector<size_t> &chosen) {
  size_t bytes = chosen.size() * STUB;
  auto code = (unsigned char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return;
  bool known = true;
  size_t from = functions->size();
  for (size_t i = 0; known && i < chosen.size(); i++) {
    const ElfW(Sym) &s = d.symbols[chosen[i]];
    functions->push_back({ d.strings + s.st_name, (void *)(info->dlpi_addr + s.st_value) });
    known = write_stub(code + i * STUB, (uint32_t)(from + i));
  }
  if (!known || mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0) return;
  __builtin___clear_cache((char *)code, (char *)code + bytes);
  size_t last = chosen.back() + 1;
  writable(d.symbols, last * sizeof(ElfW(Sym)), PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < chosen.size(); i++) {
    ElfW(Sym) &s = d.symbols[chosen[i]];
    s.st_info = ELF64_ST_INFO(ELF64_ST_BIND(s.st_info), STT_GNU_IFUNC);
    s.st_value = (ElfW(Addr))(code + i * STUB) - info->dlpi_addr;
  }
  writable(d.symbols, last * sizeof(ElfW(Sym)), PROT_READ);
}

/* ---- numpy's BLAS: alike for whole numbers of 32 and of 64 bits, each of which has a place of 64 */

inline void (*counted)(const char *name, uint64_t elements);

template <int which> struct Real { inline static void *at; };

template <class T> struct Product {
  static void gemm(long o, long ta, long tb, long m, long n, long k, T alpha, const T *a, long lda, const T *b, long ldb,
                   T beta, T *c, long ldc) {
    counted(sizeof(T) == 4 ? "numpy::sgemm" : "numpy::dgemm", (uint64_t)(m * k + k * n));
    ((decltype(&gemm))Real<sizeof(T)>::at)(o, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  static void gemv(long o, long t, long m, long n, T alpha, const T *a, long lda, const T *x, long dx, T beta, T *y, long dy) {
    counted(sizeof(T) == 4 ? "numpy::sgemv" : "numpy::dgemv", (uint64_t)(m * n + n));
    ((decltype(&gemv))Real<16 + sizeof(T)>::at)(o, t, m, n, alpha, a, lda, x, dx, beta, y, dy);
  }
  static void syrk(long o, long u, long t, long n, long k, T alpha, const T *a, long lda, T beta, T *c, long ldc) {
    counted(sizeof(T) == 4 ? "numpy::ssyrk_gemm" : "numpy::dsyrk_gemm", (uint64_t)(n * k));
    ((decltype(&syrk))Real<32 + sizeof(T)>::at)(o, u, t, n, k, alpha, a, lda, beta, c, ldc);
  }
};

struct Counter { const char *part; void *function; void **real; };

inline void count_calls(const dl_phdr_info *info, const Dynamic &d) {
  static const Counter counters[] = {
    { "cblas_sgemm", (void *)&Product<float>::gemm, &Real<4>::at }, { "cblas_dgemm", (void *)&Product<double>::gemm, &Real<8>::at },
    { "cblas_sgemv", (void *)&Product<float>::gemv, &Real<20>::at }, { "cblas_dgemv", (void *)&Product<double>::gemv, &Real<24>::at },
    { "cblas_ssyrk", (void *)&Product<float>::syrk, &Real<36>::at }, { "cblas_dsyrk", (void *)&Product<double>::syrk, &Real<40>::at } };
  void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  for (size_t i = 0; library != nullptr && d.symbols != nullptr && i < d.size[0]; i++) {
    const char *name = d.strings + d.symbols[ELF64_R_SYM(d.table[0][i].r_info)].st_name;
    for (const Counter &c : counters) {
      if (strstr(name, c.part) == nullptr) continue;
      void *real = dlsym(library, name), **slot = (void **)(info->dlpi_addr + d.table[0][i].r_offset);
      if (real == nullptr) continue;
      *c.real = real;
      writable(slot, sizeof *slot, PROT_READ | PROT_WRITE);
      *slot = c.function;
    }
  }
}

/* ---- a library, of those that are there before a candidate */

inline int prepare_one(dl_phdr_info *info, size_t, void *wanted) {
  Dynamic d(info);
  if (*(int *)wanted == 0) {
    if (strstr(info->dlpi_name, "_multiarray_umath") != nullptr) count_calls(info, d);
    return 0;
  }
  std::vector<size_t> chosen;
  for (size_t i = 0, n = strstr(info->dlpi_name, "cawb-watch") == nullptr ? d.count() : 0; i < n; i++) {
    const ElfW(Sym) &s = d.symbols[i];
    if (s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_FUNC && tells(d.strings + s.st_name)) chosen.push_back(i);
  }
  if (!chosen.empty()) make_indirect(info, d, chosen);
  return 0;
}

/* All of them: once in a process. */
inline void prepare() {
  if (functions != nullptr) return;
  functions = new std::vector<Function>;
  for (int step = 0; step < 2; step++) dl_iterate_phdr(prepare_one, &step);
}

}  // namespace lookups

#endif

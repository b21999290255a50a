/*
** watch.cpp - what a candidate's process has PyTorch and NVIDIA's libraries do, seen as it
** executes. PyTorch calls here for every operator that goes through its dispatcher, in
** whatever thread and from whatever language it was asked for; CUPTI for every kernel that
** starts, with its name, and the caller is looked up; Python for what it imports, what it
** fetches from libraries and what programs it starts, from a hook that nothing can remove.
** Libraries that the candidate has brought are asked what they import; what is looked up by name says so
** itself (names.hpp).
**
** It all goes to a page shared with the judge, who alone reads it: names, how often, and how
** many elements. One who rewrites this process's memory can falsify it; who stops it is
** missed, because copying outputs is an operator too. watch.py builds it against the PyTorch
** that is there.
*/
#include "names.hpp"

#include <ATen/record_function.h>

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <mutex>
#include <string>
#include <unordered_map>

namespace {

/* As python/cawb_host/judge/candidate/work.py reads it. */
struct Entry {
  uint32_t ready, phase;
  uint64_t count, largest, elements;
  char name[224];
};

struct Page {
  uint32_t phase;                       /* the judge writes it: 0 while it is loaded, 1 in calls */
  uint32_t entries, lost, means;        /* means: 1 operators, 2 kernels, 4 Python's */
  uint64_t events, room[5];
  Entry entry[1];
};

struct Key {
  const void *name;
  uint32_t phase;
  bool operator==(const Key &o) const { return name == o.name && phase == o.phase; }
};

struct Hash {
  size_t operator()(const Key &k) const { return (size_t)k.name * 2 + k.phase; }
};

Page *page;
size_t most;
std::mutex lock;
std::unordered_map<Key, Entry *, Hash> *known;
std::unordered_map<std::string, std::string *> *names;

Entry *add(const Key &key, const char *name) {
  if (page->entries >= most) {
    page->lost++;
    return nullptr;
  }
  Entry *e = &page->entry[page->entries];
  strncpy(e->name, name, sizeof e->name - 1);
  e->phase = key.phase;
  e->ready = 1;
  page->entries++;
  return (*known)[key] = e;
}

/* `name` keeps its address. */
void count(const char *name, uint64_t elements) {
  if (page == nullptr) return;
  std::lock_guard<std::mutex> held(lock);
  page->events++;
  Key key = { name, page->phase };
  auto at = known->find(key);
  Entry *e = at != known->end() ? at->second : add(key, name);
  if (e == nullptr) return;
  e->count++;
  e->elements += elements;
  if (elements > e->largest) e->largest = elements;
}

/* A name that may move, with what stands before it. */
const char *kept(const char *kind, const char *name) {
  std::lock_guard<std::mutex> held(lock);
  std::string text = std::string(kind) + name;
  auto at = names->find(text);
  if (at == names->end()) at = names->emplace(text, new std::string(text)).first;
  return at->second->c_str();
}

void note(const char *kind, const char *name) {
  if (page != nullptr) count(kept(kind, name == nullptr ? "?" : name), 0);
}

/* ---- operators */

uint64_t elements_of(const c10::IValue &v) {
  uint64_t n = 0;
  if (v.isTensor()) {
    const at::Tensor &t = v.toTensor();
    if (t.defined() && !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) n = (uint64_t)t.numel();
  } else if (v.isTensorList()) {
    for (const at::Tensor &t : v.toTensorList())
      if (t.defined()) n += (uint64_t)t.numel();
  }
  return n;
}

std::unique_ptr<at::ObserverContext> on_operator(const at::RecordFunction &f) {
  uint64_t n = 0;
  for (const c10::IValue &v : f.inputs()) n += elements_of(v);
  count(f.name(), n);
  return nullptr;
}

/* ---- kernels */

/* The part of CUpti_CallbackData that is needed, as in every version so far. */
struct Call { int site; const char *function; const void *params; void *result; const char *symbol; };

enum { DRIVER_API = 1, ENTER = 0, MOST_CALLS = 4096 };
signed char is_launch[MOST_CALLS];      /* 0: not looked at, 1: it is, -1: it is not */

/* The library that asked for it: the nearest caller that is no part of the driver. */
const char *asked_by() {
  static const char *const between[] = { "libcuda.", "libcupti", "libcudart", "cawb-watch", "libc.", "libnvidia" };
  void *frames[24];
  int n = backtrace(frames, 24);
  for (int i = 2; i < n; i++) {
    Dl_info at;
    if (dladdr(frames[i], &at) == 0 || at.dli_fname == nullptr) continue;
    const char *slash = strrchr(at.dli_fname, '/'), *file = slash ? slash + 1 : at.dli_fname;
    bool part = false;
    for (const char *b : between) part = part || strncmp(file, b, strlen(b)) == 0;
    if (!part) return file;
  }
  return "?";
}

void on_call(void *, int domain, uint32_t id, const void *data) {
  const Call *c = (const Call *)data;
  if (page == nullptr || domain != DRIVER_API || id >= MOST_CALLS || c->site != ENTER) return;
  if (is_launch[id] == 0)
    is_launch[id] = strstr(c->function, "Launch") != nullptr && strstr(c->function, "HostFunc") == nullptr ? 1 : -1;
  if (is_launch[id] < 0) return;
  const char *symbol = c->symbol != nullptr ? c->symbol : c->function;
  static thread_local std::unordered_map<std::string, const char *> mine;
  auto at = mine.find(symbol);
  if (at == mine.end())
    at = mine.emplace(symbol, kept((std::string("kernel ") + asked_by() + " ").c_str(), symbol)).first;
  count(at->second, 0);
}

int watch_kernels() {
  typedef int (*subscribe_call)(void **, void (*)(void *, int, uint32_t, const void *), void *);
  typedef int (*enable_call)(uint32_t, void *, int);
  void *subscriber;
  auto subscribe = (subscribe_call)dlsym(RTLD_DEFAULT, "cuptiSubscribe");
  auto enable = (enable_call)dlsym(RTLD_DEFAULT, "cuptiEnableDomain");
  if (subscribe == nullptr || enable == nullptr) return 0;
  void *frame[2];
  backtrace(frame, 2);                  /* loads what it needs now */
  return subscribe(&subscriber, on_call, nullptr) == 0 && enable(1, subscriber, DRIVER_API) == 0;
}

/* ---- Python: its own calls, so that no header is needed */

typedef void *object;
object (*item)(object, ssize_t);
const char *(*text)(object);
void (*forget)();

const char *argument(object args, ssize_t at) {
  object o = item(args, at);
  const char *s = o != nullptr ? text(o) : nullptr;
  if (s == nullptr) forget();
  return s;
}

int on_event(const char *event, object args, void *) {
  if (page == nullptr) return 0;
  if (strcmp(event, "import") == 0) {                /* packages, and the one that compiles */
    const char *name = argument(args, 0);
    if (name != nullptr && (strchr(name, '.') == nullptr || strcmp(name, "torch._inductor.compile_fx") == 0))
      note("import ", name);
  }
  else if (strcmp(event, "ctypes.dlsym") == 0) note("symbol ", argument(args, 1));
  else if (strcmp(event, "subprocess.Popen") == 0 || strcmp(event, "os.posix_spawn") == 0 ||
           strcmp(event, "os.exec") == 0 || strcmp(event, "os.system") == 0)
    note("program ", event);
  return 0;
}

int watch_python() {
  typedef int (*hook)(const char *, object, void *);
  auto add_hook = (int (*)(hook, void *))dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
  item = (object (*)(object, ssize_t))dlsym(RTLD_DEFAULT, "PyTuple_GetItem");
  text = (const char *(*)(object))dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
  forget = (void (*)())dlsym(RTLD_DEFAULT, "PyErr_Clear");
  return add_hook != nullptr && item != nullptr && text != nullptr && forget != nullptr &&
         add_hook(on_event, nullptr) == 0;
}

/* ---- libraries that it brought: what they want of others */

size_t libraries;                       /* how many were there before */

bool is_brought(const char *path) {
  return strncmp(path, "/usr/", 5) != 0 && strstr(path, "-packages/") == nullptr && strstr(path, "/lib-dynload/") == nullptr;
}

void note_wanted(const lookups::Dynamic &d) {
  for (int t = 0; d.symbols != nullptr && t < 2; t++)
    for (size_t i = 0; d.table[t] != nullptr && i < d.size[t]; i++) {
      const ElfW(Sym) *s = &d.symbols[ELF64_R_SYM(d.table[t][i].r_info)];
      const char *name = d.strings + s->st_name;
      if (s->st_shndx == SHN_UNDEF && lookups::tells(name)) note("symbol ", name);
    }
}

int look(dl_phdr_info *info, size_t, void *seen) {
  size_t at = (*(size_t *)seen)++;
  if (at < libraries) return 0;
  if (is_brought(info->dlpi_name)) note_wanted(lookups::Dynamic(info));
  return 0;
}

int number(dl_phdr_info *, size_t, void *seen) {
  ++*(size_t *)seen;
  return 0;
}

/* ---- functions that somebody looks up while the program runs */

/* Whether a candidate asks: its library, code that is in none, or Python's ctypes. */
bool is_candidate_s(const char *path) {
  return path == nullptr || strstr(path, "libffi") != nullptr || strstr(path, "_ctypes") != nullptr || is_brought(path);
}

void on_asked(const char *name) {
  static const char *const between[] = { "cawb-watch", "/libc.", "/ld-linux", "/libdl." };
  if (page == nullptr) return;
  void *frames[24];
  int n = backtrace(frames, 24);
  for (int i = 1; i < n; i++) {
    Dl_info at;
    const char *path = dladdr(frames[i], &at) != 0 ? at.dli_fname : nullptr;
    bool part = false;
    for (const char *b : between) part = part || (path != nullptr && strstr(path, b) != nullptr);
    if (part) continue;
    if (is_candidate_s(path)) note("symbol ", name);
    return;
  }
}

}  // namespace

extern "C" {

/* Before any process is watched: what is here now is prepared for it, in this process and its forks. */
void cawb_watch_prepare(void) {
  lookups::asked = on_asked;
  lookups::counted = count;
  lookups::prepare();
}

/* Watch this process from here on, for the page of `bytes` behind `fd`. The means that work. */
int cawb_watch_begin(int fd, size_t bytes, int gpu) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return 0;
  known = new std::unordered_map<Key, Entry *, Hash>;
  names = new std::unordered_map<std::string, std::string *>;
  most = (bytes - offsetof(Page, entry)) / sizeof(Entry);
  page = (Page *)at;
  dl_iterate_phdr(number, &libraries);
  at::addGlobalCallback(at::RecordFunctionCallback(on_operator).needsInputs(true).scopes({ at::RecordScope::FUNCTION }));
  page->means = 1 | (gpu && watch_kernels() ? 2 : 0) | (watch_python() ? 4 : 0);
  return (int)page->means;
}

/* A name that somebody else saw. */
void cawb_watch_note(const char *kind, const char *name) { note(kind, name); }

/* What has been loaded since the last time. */
void cawb_watch_libraries(void) {
  size_t seen = 0;
  dl_iterate_phdr(look, &seen);
  if (seen > libraries) libraries = seen;
}

}

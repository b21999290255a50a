-- build: a CUDA C++ source to a program that cawb exec can run: by nvcc, or, where there is none, by NVRTC and the machine's C++
-- compiler, each for its half (halves.lua).

local compile = require "cawb.gpu.compile"
local core = require "cawb.core"
local file = require "cawb.base.file"
local halves = require "cawb.sim.halves"
local python = require "cawb.base.python"
local shell = require "cawb.base.shell"

local M = {}

local function nvcc()
  if os.getenv "CAWB_HIDE_TOOLKIT" then return nil end
  local usual = "/usr/local/cuda/bin/nvcc"
  return core.fs.which "nvcc" or core.fs.kind(usual) == "file" and usual or nil
end

-- Run a compiler; its words where it refuses.
local function ran(words, log)
  local ok = os.execute(table.concat(words, " ") .. " >" .. shell.quoted(log) .. " 2>&1")
  if ok then return true end
  return nil, (file.read(log) or ""):gsub("%s+$", ""), "task"
end

local function by_nvcc(tool, source, out, device)
  return ran({ shell.quoted(tool), "-cudart shared -lineinfo", "-arch=" .. device.info.arch, "-o", shell.quoted(out), shell.quoted(source) }, out .. ".log")
end

-- ---- without nvcc

-- What both sides of a launch call, ahead of the host's half; headers and overloads that only nvcc brings.
local prelude = [[
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, struct CUstream_st *);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
static inline unsigned cawb_push(dim3 g, dim3 b, size_t s = 0, cudaStream_t t = 0) { return __cudaPushCallConfiguration(g, b, s, t); }
static inline void cawb_pop(const void *f, void **a) {
  dim3 g, b; size_t s; cudaStream_t t;
  if (__cudaPopCallConfiguration(&g, &b, &s, &t) == cudaSuccess) cudaLaunchKernel(f, g, b, a, s, t);
}
template <class T> static inline cudaError_t cudaMemcpyToSymbol(const T &s, const void *p, size_t n, size_t o = 0, cudaMemcpyKind k = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void *)&s, p, n, o, k);
}
template <class T> static inline cudaError_t cudaMemcpyFromSymbol(void *p, const T &s, size_t n, size_t o = 0, cudaMemcpyKind k = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(p, (const void *)&s, n, o, k);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **p, const T &s) { return cudaGetSymbolAddress(p, (const void *)&s); }
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *n, const T &s) { return cudaGetSymbolSize(n, (const void *)&s); }
template <class... A> static inline cudaError_t cudaFuncSetAttribute(void (*f)(A...), cudaFuncAttribute a, int v) {
  return cudaFuncSetAttribute((const void *)f, a, v);
}
template <class... A> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, void (*f)(A...)) {
  return cudaFuncGetAttributes(a, (const void *)f);
}
template <class... A> static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void (*f)(A...), int b, size_t s) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, (const void *)f, b, s);
}
template <class... A> static inline cudaError_t cudaLaunchCooperativeKernel(void (*f)(A...), dim3 g, dim3 b, void **a, size_t s = 0, cudaStream_t t = 0) {
  return cudaLaunchCooperativeKernel((const void *)f, g, b, a, s, t);
}
]]

-- PTX as nvcc embeds it: see core/sim/cudart/fatbin.c.
local function fatbin(ptx, arch)
  ptx = ptx .. ("\0"):rep(8 - #ptx % 8)
  local head = string.pack("<I2I2I4I8I4I4I4I4I8I8I8", 1, 0x101, 64, #ptx, 0, 0, 0, arch, 0, 0, 0)
  head = head .. ("\0"):rep(64 - #head)
  return string.pack("<I4I2I2I8", 0xba55ed50, 1, 16, #head + #ptx) .. head .. ptx
end

-- What tells the runtime of the device's code before main: kernels and variables bear the same names on both sides.
local function registration(ptx, bin)
  local names, calls = {}, {}
  local function add(name, call)
    names[#names + 1] = ("extern char %s[] __attribute__((weak));"):format(name)
    calls[#calls + 1] = ("  if (%s) %s;"):format(name, call)
  end
  for name in ptx:gmatch "%.entry ([%w_$]+)" do
    if not name:find "cawb_keeps_" then
      add(name, ("__cudaRegisterFunction(m, %s, 0, %q, -1, 0, 0, 0, 0, 0)"):format(name, name))
    end
  end
  for line in ptx:gmatch "[^\n]+" do
    local space, name, size = line:match "^[%.%w%s]*%.(%w+) %.align %d+ %.%w+ ([%w_$]+)%[?(%d*)%]?"
    local width = tonumber(line:match " %.%a(%d+) [%w_$]+" or 8) // 8
    if name and (space == "global" or space == "const") and not line:match "^%.extern" and not name:match "^%$" then
      add(name, ("__cudaRegisterVar(m, %s, 0, %q, 0, %d, %d, 0)"):format(name, name, width * (tonumber(size) or 1), space == "const" and 1 or 0))
    end
  end
  return ([[
#include <stddef.h>
extern "C" {
void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
__asm__(".section .rodata\n.balign 8\n.globl cawb_fatbin\ncawb_fatbin:\n.incbin \"BIN\"\n.previous");
extern const char cawb_fatbin[];
static const struct { int magic, version; const void *data, *more; } wrapper = { 0x466243b1, 1, cawb_fatbin, 0 };
%s
}
__attribute__((constructor)) static void cawb_register(void) {
  void **m = __cudaRegisterFatBinary(&wrapper);
%s
}
]]):format(table.concat(names, "\n"), table.concat(calls, "\n")):gsub("BIN", (bin:gsub("%%", "%%%%")))
end

local function include_flags()
  local found, message, name = core.locate.includes(python.site_packages())
  if not found then return nil, message, name end
  local words = {}
  for k, one in ipairs(found) do words[k] = "-isystem " .. shell.quoted(one.path) end
  return table.concat(words, " ")
end

-- The lines of a text and of the files beside it that it includes in quotes; `from` has of each its file and number.
local function whole(path, lines, from)
  local text, message, name = file.read(path)
  if not text then return nil, message, name end
  local number, folder = 0, path:match "^(.*/)" or ""
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local inner = line:match '^%s*#%s*include%s*"([^"]+)"'
    if inner and #lines < 1 << 20 and core.fs.kind(folder .. inner) == "file" then whole(folder .. inner, lines, from)
    else lines[#lines + 1], from[#from + 1] = line, { file = path, line = number } end
  end
  return lines
end

-- A text whose lines are of several files, for a compiler that is told so.
local function with_places(text, from)
  local out, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local at, before = from[number], from[number - 1]
    if at and (not before or before.file ~= at.file or before.line + 1 ~= at.line) then out[#out + 1] = ("#line %d %q"):format(at.line, at.file) end
    out[#out + 1] = line
  end
  return table.concat(out, "\n")
end

-- PTX whose lines are those of their files.
local function placed(ptx, from)
  local numbers, names = {}, {}
  local function file_number(path)
    if not numbers[path] then
      names[#names + 1] = path
      numbers[path] = 1000 + #names
    end
    return numbers[path]
  end
  ptx = ptx:gsub("(%.loc%s+)1 (%d+)", function(head, line)
    local at = from[tonumber(line)]
    return at and ("%s%d %d"):format(head, file_number(at.file), at.line) or nil
  end)
  for k, path in ipairs(names) do ptx = ("%s\n\t.file\t%d %q\n"):format(ptx, 1000 + k, path) end
  return ptx
end

local function device_half(text, from, device)
  local built, message, name = compile.compile { source = text, device = device }
  if not built then return nil, message, name end
  if built.ok then return placed(assert(file.read(built.ptx)), from) end
  local log = (built.log or ""):find ": [%w ]*error" and built.log or built.reason
  return nil, (log:gsub("kernel%.cu%((%d+)%)", function(line)
    local at = from[tonumber(line)]
    return at and ("%s(%d)"):format(at.file, at.line) or nil
  end)), "task"
end

local function by_nvrtc(source, out, device, libraries)
  local cxx = core.fs.which "g++" or core.fs.which "clang++"
  if not cxx then return nil, "a program needs nvcc, or a C++ compiler (g++ or clang++) beside NVRTC", "missing" end
  local from = {}
  local lines, message, name = whole(source, {}, from)
  if not lines then return nil, message, name end
  local flags
  flags, message, name = include_flags()
  if not flags then return nil, message, name end
  local half, ptx = halves.of(table.concat(lines, "\n")), nil
  ptx, message, name = device_half(half.device, from, device)
  if not ptx then return nil, message, name end
  local texts = { [".fatbin"] = fatbin(ptx, tonumber(device.info.arch:match "%d+")), ["_register.cpp"] = registration(ptx, out .. ".fatbin"),
                  [".cpp"] = prelude .. with_places(half.host, from) }
  for ending, content in pairs(texts) do assert(file.replace(out .. ending, content)) end
  return ran({ shell.quoted(cxx), "-w -O1 -std=c++17", flags, "-o", shell.quoted(out), shell.quoted(out .. ".cpp"), shell.quoted(out .. "_register.cpp"),
    shell.quoted(libraries .. "/libcudart.so.13"), "-Wl,--allow-shlib-undefined" }, out .. ".log")
end

--- Build the program of a source at `out`, for a device, against the runtime in `libraries`. Files beside `out` are left there. Returns true and "nvcc" or
--- "NVRTC"; or nil, message, name ("task": the source is at fault).
function M.build(source, out, device, libraries)
  local tool = nvcc()
  local ok, message, name
  if tool then ok, message, name = by_nvcc(tool, source, out, device)
  else ok, message, name = by_nvrtc(source, out, device, libraries) end
  if not ok then return nil, message, name end
  return true, tool and "nvcc" or "NVRTC"
end

return M

# Lua and SQLite from their static archives, cJSON shared (Debian has no static
# one; it is installed beside the program), CUDA as headers only: libcuda, NVRTC
# and the rest are opened at run time.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(cawb_import name header library hint)
  find_path(${name}_include ${header} PATH_SUFFIXES lua5.4)
  find_library(${name}_library ${library})
  if(NOT ${name}_include OR NOT ${name}_library)
    message(FATAL_ERROR "${header} or ${library} not found: install ${hint}, or run ./bootstrap")
  endif()
  add_library(cawb::${name} UNKNOWN IMPORTED)
  set_target_properties(cawb::${name} PROPERTIES
    IMPORTED_LOCATION ${${name}_library}
    INTERFACE_INCLUDE_DIRECTORIES ${${name}_include})
endfunction()

cawb_import(lua lua.h liblua5.4.a liblua5.4-dev)
cawb_import(sqlite sqlite3.h libsqlite3.a libsqlite3-dev)
cawb_import(cjson cjson/cJSON.h libcjson.so libcjson-dev)

if(NOT CAWB_CUDA_INCLUDE)
  find_path(cawb_cuda_h NAMES cuda.h NO_CACHE
    HINTS $ENV{CAWB_CUDA_HOME}/include $ENV{CUDA_HOME}/include /usr/local/cuda/include)
  if(NOT cawb_cuda_h)
    message(FATAL_ERROR "cuda.h not found: set CAWB_CUDA_HOME to a CUDA toolkit, "
      "or run ./bootstrap, which takes the headers from PyTorch's packages")
  endif()
  set(CAWB_CUDA_INCLUDE ${cawb_cuda_h})
endif()

# Lua and SQLite from their static archives, cJSON and civetweb shared (Debian has no
# static ones; they are installed beside the program), CUDA as headers only: libcuda,
# NVRTC and the rest are opened at run time.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(cawb_import name header library hint)
  find_path(${name}_include ${header} PATH_SUFFIXES lua5.4)
  find_library(${name}_library ${library})
  if(NOT ${name}_include OR NOT ${name}_library)
    message(FATAL_ERROR "${header} or ${library} not found: install ${hint}, or run ./bootstrap")
  endif()
  add_library(cawb::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(cawb::${name} PROPERTIES
    IMPORTED_LOCATION ${${name}_library}
    INTERFACE_INCLUDE_DIRECTORIES ${${name}_include})
  message(STATUS "${name}: ${${name}_library}")
endfunction()

cawb_import(lua lua.h liblua5.4.a liblua5.4-dev)
cawb_import(sqlite sqlite3.h libsqlite3.a libsqlite3-dev)
cawb_import(cjson cjson/cJSON.h libcjson.so libcjson-dev)
cawb_import(civetweb civetweb.h libcivetweb.so libcivetweb-dev)

# libcurl as headers only: it is opened at run time, like NVIDIA's libraries.
find_path(curl_include curl/curl.h)
if(NOT curl_include)
  message(FATAL_ERROR "curl/curl.h not found: install libcurl4-openssl-dev, or run ./bootstrap")
endif()

# The Python for the tests, and the hint that the install tree carries.
set(CAWB_PYTHON "" CACHE FILEPATH "Python with PyTorch; found when empty")
if(NOT CAWB_PYTHON)
  if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cawb_cache $ENV{XDG_CACHE_HOME})
  else()
    set(cawb_cache $ENV{HOME}/.cache)
  endif()
  find_program(cawb_python NO_CACHE NAMES $ENV{CAWB_PYTHON}
    ${cawb_cache}/cawb/venv-torch2.11/bin/python python3)
  if(cawb_python)
    set(CAWB_PYTHON ${cawb_python})
  endif()
endif()
message(STATUS "python: ${CAWB_PYTHON}")

# CAWB_HIDE_TOOLKIT=1 in the environment stands for a machine without a toolkit.
function(cawb_find_cuda_headers out)
  if(NOT "$ENV{CAWB_HIDE_TOOLKIT}")
    foreach(root $ENV{CAWB_CUDA_HOME} $ENV{CUDA_HOME} /usr/local/cuda)
      if(EXISTS ${root}/include/cuda.h AND EXISTS ${root}/include/nvrtc.h)
        set(${out} ${root}/include PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
  if(CAWB_PYTHON)
    execute_process(
      COMMAND ${CAWB_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/pypi_headers.py cuda.h nvrtc.h
      OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

if(NOT CAWB_CUDA_INCLUDE)
  cawb_find_cuda_headers(CAWB_CUDA_INCLUDE)
  if(NOT CAWB_CUDA_INCLUDE)
    message(FATAL_ERROR "cuda.h and nvrtc.h not found: set CAWB_CUDA_HOME to a CUDA toolkit, "
      "or CAWB_PYTHON to a Python with PyTorch and its nvidia-* packages, or run ./bootstrap")
  endif()
endif()
message(STATUS "CUDA headers: ${CAWB_CUDA_INCLUDE}")

# CUPTI's headers: in the same folder, or in a package of their own. Without them
# the program is built all the same and says that it has no hardware counters.
set(CAWB_CUPTI_INCLUDE "" CACHE PATH "folder with cupti_range_profiler.h; found when empty")
function(cawb_find_cupti_headers out)
  foreach(folder ${CAWB_CUDA_INCLUDE})
    if(EXISTS ${folder}/cupti_range_profiler.h AND EXISTS ${folder}/cupti_profiler_host.h)
      set(${out} ${folder} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(CAWB_PYTHON)
    execute_process(COMMAND ${CAWB_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/pypi_headers.py
      cupti_range_profiler.h cupti_profiler_host.h
      OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

if(NOT CAWB_CUPTI_INCLUDE)
  cawb_find_cupti_headers(CAWB_CUPTI_INCLUDE)
endif()
message(STATUS "CUPTI headers: ${CAWB_CUPTI_INCLUDE}")

# Chart.js for the page of `cawb report`; without it the page has tables only.
find_file(CAWB_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
set(CAWB_CHART_LICENCE /usr/share/doc/libjs-chart.js/copyright)
if(CAWB_CHART_JS)
  configure_file(${CAWB_CHART_JS} ${CMAKE_BINARY_DIR}/page/chart.min.js COPYONLY)
endif()
message(STATUS "Chart.js: ${CAWB_CHART_JS}")

# The fuzzers: tests/fuzz/fuzz_*.c against core built once more with coverage,
# ASan and UBSan. Only clang has libFuzzer:
#   cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCAWB_FUZZ=ON
if(NOT CMAKE_C_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "CAWB_FUZZ needs clang: cmake -DCMAKE_C_COMPILER=clang -DCAWB_FUZZ=ON")
endif()
set(fuzz_flags -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined)

add_library(cawb_fuzz_core STATIC EXCLUDE_FROM_ALL ${core})
target_include_directories(cawb_fuzz_core PUBLIC core)
target_include_directories(cawb_fuzz_core SYSTEM PUBLIC ${CAWB_CUDA_INCLUDE})
target_compile_definitions(cawb_fuzz_core PUBLIC _GNU_SOURCE CAWB_VERSION="${PROJECT_VERSION}")
target_compile_options(cawb_fuzz_core PUBLIC ${fuzz_flags}
  -fsanitize=fuzzer-no-link,address,undefined)
target_link_libraries(cawb_fuzz_core PUBLIC cawb::lua cawb::sqlite cawb::cjson cawb::civetweb
  Threads::Threads m ${CMAKE_DL_LIBS})

# The simulator converts all lanes of a warp, those that hold no number too.
foreach(source ${core})
  if(source MATCHES "/core/sim/")
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=float-cast-overflow)
  endif()
endforeach()

add_custom_target(fuzzers)
add_dependencies(fuzzers ptx)        # seeds
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${fuzzers})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name} PRIVATE tests/support)
  target_link_libraries(${name} PRIVATE cawb_fuzz_core)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  add_dependencies(fuzzers ${name})
endforeach()

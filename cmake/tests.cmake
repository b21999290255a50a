# Every tests/c/test_*.c is a program, every tests/lua/test_*.lua and
# tests/python/test_*.py a script: adding a test is adding a file.
if(CAWB_PYTHON)          # for the tests that find NVRTC among a Python's packages
  execute_process(COMMAND ${CAWB_PYTHON} -c
    "import sysconfig; print(sysconfig.get_path('purelib'))"
    OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# Tests that judge draw all secrets from this: the same verdicts in each run. Empty: fresh ones, to hunt with.
set(CAWB_SEED 2602 CACHE STRING "what the secrets of tests follow from; empty: fresh ones each time")

# What tests of the simulated device execute: tests/ptx/*.cu, compiled once, by NVRTC.
add_executable(compile_ptx tests/ptx/compile.c core/compile/nvrtc.c core/base/bytes.c core/base/err.c core/base/locate.c
  core/base/slurp.c core/base/utf8.c)
target_include_directories(compile_ptx PRIVATE core)
target_include_directories(compile_ptx SYSTEM PRIVATE ${CAWB_CUDA_INCLUDE})
target_compile_definitions(compile_ptx PRIVATE _GNU_SOURCE CAWB_SOURCE="${CMAKE_SOURCE_DIR}")
target_compile_options(compile_ptx PRIVATE -Wall -Wextra -Wshadow -Werror)
target_link_libraries(compile_ptx PRIVATE ${CMAKE_DL_LIBS})
set(ptx_folder ${CMAKE_BINARY_DIR}/ptx)
file(MAKE_DIRECTORY ${ptx_folder})
file(GLOB cu_sources CONFIGURE_DEPENDS tests/ptx/*.cu)
foreach(source ${cu_sources})
  get_filename_component(name ${source} NAME_WE)
  add_custom_command(OUTPUT ${ptx_folder}/${name}.ptx DEPENDS compile_ptx ${source}
    COMMAND compile_ptx ${source} ${ptx_folder}/${name}.ptx ${site_packages} VERBATIM)
  list(APPEND ptx ${ptx_folder}/${name}.ptx)
endforeach()
add_custom_target(ptx DEPENDS ${ptx})

file(GLOB c_tests CONFIGURE_DEPENDS tests/c/test_*.c)
foreach(source ${c_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE cawb_core)
  target_compile_options(${name} PRIVATE -O0)    # they run for moments, and one compiles the simulator again
  target_compile_definitions(${name} PRIVATE CAWB_SOURCE="${CMAKE_SOURCE_DIR}" CAWB_PTX="${ptx_folder}")
  if(name MATCHES "^test_(sim_|worker$)")
    add_dependencies(${name} ptx)
  endif()
  add_test(NAME c/${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(c/${name} PROPERTIES LABELS c TIMEOUT 900
    ENVIRONMENT "CAWB_REQUIRE_NVRTC=1;CAWB_TEST_SITE_PACKAGES=${site_packages}")
endforeach()

# The simulated device's, with blocks on four threads.
foreach(source ${c_tests})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^test_sim_(kernels|features|races|findings|faults|sample|units)$")
    add_test(NAME cores/${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(cores/${name} PROPERTIES LABELS c TIMEOUT 900 ENVIRONMENT "CAWB_TEST_THREADS=4")
  endif()
endforeach()

# Task hosts of tests are forked from one process that has PyTorch in memory; see tests/warm.
set(warm_socket ${CMAKE_BINARY_DIR}/warm.socket)
add_executable(warm_python tests/warm/python.c)
target_compile_definitions(warm_python PRIVATE _GNU_SOURCE CAWB_REAL_PYTHON="${CAWB_PYTHON}"
  CAWB_SOURCE="${CMAKE_SOURCE_DIR}" CAWB_WARM_SOCKET="${warm_socket}")
target_compile_options(warm_python PRIVATE -Wall -Wextra -Werror)
add_test(NAME warm COMMAND ${CAWB_PYTHON} tests/warm/server.py ${warm_socket}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(warm PROPERTIES FIXTURES_SETUP warm)

file(GLOB lua_tests CONFIGURE_DEPENDS tests/lua/test_*.lua)
foreach(source ${lua_tests})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME lua/${name} COMMAND cawb ${source} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(lua/${name} PROPERTIES LABELS lua TIMEOUT 1800
    FIXTURES_REQUIRED warm ENVIRONMENT "CAWB_PYTHON=$<TARGET_FILE:warm_python>;CAWB_SEED=${CAWB_SEED}")
endforeach()

file(GLOB python_tests CONFIGURE_DEPENDS tests/python/test_*.py)
foreach(source ${python_tests})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME python/${name} COMMAND ${CAWB_PYTHON} ${source}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(python/${name} PROPERTIES LABELS python TIMEOUT 1800
    FIXTURES_REQUIRED warm ENVIRONMENT "CAWB_WARM_PYTHON=$<TARGET_FILE:warm_python>;CAWB_SEED=${CAWB_SEED}")
endforeach()

# The simulated device for tests in Python.
add_library(sim_launch MODULE tests/c/sim_launch.c)
target_link_libraries(sim_launch PRIVATE cawb_core)

# What some of them need of this build.
function(cawb_test_environment)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TESTS;SET")
  set_property(TEST ${arg_TESTS} APPEND PROPERTY ENVIRONMENT ${arg_SET})
endfunction()
cawb_test_environment(TESTS python/test_judge SET "CAWB_SIM_LAUNCH=$<TARGET_FILE:sim_launch>")
cawb_test_environment(TESTS python/test_judge python/test_report python/test_report_text python/test_slides python/test_cluster python/test_promote
  python/test_mcp python/test_serve python/test_serve_sessions
  python/test_serve_dialects python/test_serve_cheats python/test_serve_kills python/test_client
  SET "CAWB_PROGRAM=$<TARGET_FILE:cawb>" "CAWB_PYTHON=$<TARGET_FILE:warm_python>")
cawb_test_environment(TESTS python/test_jail python/test_jail_limits SET "CAWB_JAIL_LIBRARY=$<TARGET_FILE:cawb_jail>")
cawb_test_environment(TESTS python/test_native SET "CAWB_NATIVE_LIBRARY=$<TARGET_FILE:cawb_native>")

# Programs of others that load a runtime of this build must load its sanitizer ahead of it.
if(CAWB_SANITIZE MATCHES "address")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE libasan OUTPUT_STRIP_TRAILING_WHITESPACE)
  cawb_test_environment(TESTS lua/test_exec SET "CAWB_TEST_PRELOAD=${libasan}")
endif()

# A libcuda without a GPU behind it, for the logic of the real device.
add_library(fake_cuda MODULE tests/c/fake_cuda.c)
target_include_directories(fake_cuda SYSTEM PRIVATE ${CAWB_CUDA_INCLUDE})
add_dependencies(test_device_cuda fake_cuda)
target_compile_definitions(test_device_cuda PRIVATE CAWB_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")

# And a libcupti that counts its launches; found where CAWB_CUDA_HOME points to.
if(CAWB_CUPTI_INCLUDE)
  add_library(fake_cupti MODULE tests/c/fake_cupti.c)
  target_include_directories(fake_cupti PRIVATE core/cuda/cupti/shim)
  target_include_directories(fake_cupti SYSTEM PRIVATE ${CAWB_CUDA_INCLUDE} ${CAWB_CUPTI_INCLUDE})
  set_target_properties(fake_cupti PROPERTIES PREFIX lib OUTPUT_NAME cupti
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_toolkit/lib64)
  add_dependencies(test_cupti_profile fake_cuda fake_cupti)
  target_compile_definitions(test_cupti_profile PRIVATE
    CAWB_FAKE_CUDA="$<TARGET_FILE:fake_cuda>" CAWB_FAKE_CUPTI="$<TARGET_FILE:fake_cupti>"
    CAWB_FAKE_TOOLKIT="${CMAKE_BINARY_DIR}/fake_toolkit")
  target_compile_definitions(test_cupti PRIVATE CAWB_HAVE_CUPTI)
endif()

# And NVIDIA's libraries of operations, found in the same way.
foreach(library cublasLt cudnn)
  string(TOLOWER ${library} name)
  add_library(fake_${name} MODULE tests/c/fake_${name}.c)
  set_target_properties(fake_${name} PROPERTIES PREFIX lib OUTPUT_NAME ${library}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_libraries/lib64)
  add_dependencies(test_device_cuda_library fake_${name})
endforeach()
add_dependencies(test_device_cuda_library fake_cuda)
target_compile_definitions(test_device_cuda_library PRIVATE
  CAWB_FAKE_CUDA="$<TARGET_FILE:fake_cuda>" CAWB_FAKE_LIBRARIES="${CMAKE_BINARY_DIR}/fake_libraries")

# The longest first, so that no core waits for one at the end.
set_tests_properties(lua/test_examples PROPERTIES COST 30)
set_tests_properties(lua/test_react lua/test_run lua/test_tier2 PROPERTIES COST 20)
set_tests_properties(lua/test_export lua/test_redteam python/test_judge python/test_promote PROPERTIES COST 10)

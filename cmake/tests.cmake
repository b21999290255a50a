# Every tests/ROOM/**/test_*.c is a program, every test_*.lua and test_*.py a script, and each test is called by the path of
# its file below tests/: adding a test is adding a file.
if(CAWB_PYTHON)          # for the tests that find NVRTC among a Python's packages
  execute_process(COMMAND ${CAWB_PYTHON} -c
    "import sysconfig; print(sysconfig.get_path('purelib'))"
    OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# Tests that judge draw all secrets from this: the same verdicts in each run. Empty: fresh ones, to hunt with.
set(CAWB_SEED 2602 CACHE STRING "what the secrets of tests follow from; empty: fresh ones each time")

# What tests of the simulated device execute: tests/sim/ptx/*.cu, compiled once, by NVRTC.
add_executable(compile_ptx tests/sim/ptx/compile.c core/gpu/compile/nvrtc.c core/base/bytes.c core/base/err.c core/base/locate.c
  core/base/file.c core/base/utf8.c)
target_include_directories(compile_ptx PRIVATE core)
target_include_directories(compile_ptx SYSTEM PRIVATE ${CAWB_CUDA_INCLUDE})
target_compile_definitions(compile_ptx PRIVATE _GNU_SOURCE CAWB_SOURCE="${CMAKE_SOURCE_DIR}")
target_compile_options(compile_ptx PRIVATE -Wall -Wextra -Wshadow -Werror)
target_link_libraries(compile_ptx PRIVATE ${CMAKE_DL_LIBS})
set(ptx_folder ${CMAKE_BINARY_DIR}/ptx)
file(MAKE_DIRECTORY ${ptx_folder})
file(GLOB cu_sources CONFIGURE_DEPENDS tests/sim/ptx/*.cu)
foreach(source ${cu_sources})
  get_filename_component(name ${source} NAME_WE)
  add_custom_command(OUTPUT ${ptx_folder}/${name}.ptx DEPENDS compile_ptx ${source}
    COMMAND compile_ptx ${source} ${ptx_folder}/${name}.ptx ${site_packages} VERBATIM)
  list(APPEND ptx ${ptx_folder}/${name}.ptx)
endforeach()
add_custom_target(ptx DEPENDS ${ptx})

# The tests of a language: their files, without those that need a GPU.
function(cawb_tests out extension)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests tests/test_*.${extension})
  list(FILTER found EXCLUDE REGEX "^cuda/gpu/")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

cawb_tests(c_tests c)
foreach(test ${c_tests})
  get_filename_component(name ${test} NAME_WE)
  add_executable(${name} tests/${test})
  target_link_libraries(${name} PRIVATE cawb_core)
  target_include_directories(${name} PRIVATE tests/support)
  target_compile_options(${name} PRIVATE -O0)    # they run for moments, and one compiles the simulator again
  target_compile_definitions(${name} PRIVATE CAWB_SOURCE="${CMAKE_SOURCE_DIR}" CAWB_PTX="${ptx_folder}")
  if(name MATCHES "^test_(sim_|worker$)")
    add_dependencies(${name} ptx)
  endif()
  add_test(NAME ${test} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${test} PROPERTIES LABELS c TIMEOUT 900
    ENVIRONMENT "CAWB_REQUIRE_NVRTC=1;CAWB_TEST_SITE_PACKAGES=${site_packages}")
endforeach()

# The simulated device's, with blocks on four threads.
foreach(name kernels features races findings faults sample units)
  add_test(NAME sim/test_sim_${name}.c,threads COMMAND test_sim_${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(sim/test_sim_${name}.c,threads PROPERTIES LABELS c TIMEOUT 900 ENVIRONMENT "CAWB_TEST_THREADS=4")
endforeach()

# Task hosts of tests are forked from one process that has PyTorch in memory; see tests/support/warm.
set(warm_socket ${CMAKE_BINARY_DIR}/warm.socket)
add_executable(warm_python tests/support/warm/python.c)
target_compile_definitions(warm_python PRIVATE _GNU_SOURCE CAWB_REAL_PYTHON="${CAWB_PYTHON}"
  CAWB_SOURCE="${CMAKE_SOURCE_DIR}" CAWB_WARM_SOCKET="${warm_socket}")
target_compile_options(warm_python PRIVATE -Wall -Wextra -Werror)
add_test(NAME warm COMMAND ${CAWB_PYTHON} tests/support/warm/server.py ${warm_socket}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(warm PROPERTIES FIXTURES_SETUP warm)

cawb_tests(lua_tests lua)
foreach(test ${lua_tests})
  add_test(NAME ${test} COMMAND cawb tests/${test} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${test} PROPERTIES LABELS lua TIMEOUT 1800
    FIXTURES_REQUIRED warm ENVIRONMENT "CAWB_PYTHON=$<TARGET_FILE:warm_python>;CAWB_SEED=${CAWB_SEED}")
endforeach()

cawb_tests(python_tests py)
foreach(test ${python_tests})
  add_test(NAME ${test} COMMAND ${CAWB_PYTHON} tests/${test} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${test} PROPERTIES LABELS python TIMEOUT 1800
    FIXTURES_REQUIRED warm ENVIRONMENT "CAWB_WARM_PYTHON=$<TARGET_FILE:warm_python>;CAWB_SEED=${CAWB_SEED}")
endforeach()

# The simulated device for tests in Python.
add_library(sim_launch MODULE tests/sim/sim_launch.c)
target_include_directories(sim_launch PRIVATE tests/support)
target_link_libraries(sim_launch PRIVATE cawb_core)

# What some of them need of this build.
function(cawb_test_environment)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TESTS;SET")
  set_property(TEST ${arg_TESTS} APPEND PROPERTY ENVIRONMENT ${arg_SET})
endfunction()
cawb_test_environment(TESTS judge/host/test_judge.py SET "CAWB_SIM_LAUNCH=$<TARGET_FILE:sim_launch>")
cawb_test_environment(TESTS judge/host/test_judge.py suite/test_report.py suite/test_report_text.py door/workshop/test_slides.py
  suite/test_cluster.py door/test_promote.py door/test_promote_launcher.py door/backend/test_backend.py door/backend/test_attention.py
  door/backend/test_check.py door/backend/test_graphs.py door/backend/test_late.py door/backend/test_sixteen.py door/backend/test_sizes.py
  door/test_opinfo.py door/test_programs.py agent/test_mcp.py learn/test_serve.py
  learn/test_serve_sessions.py learn/test_serve_dialects.py learn/test_serve_cheats.py learn/test_serve_kills.py learn/test_serve_load.py
  learn/test_client.py door/ci/test_judging.py door/look/test_look.py door/look/test_look_page.py
  SET "CAWB_PROGRAM=$<TARGET_FILE:cawb>" "CAWB_PYTHON=$<TARGET_FILE:warm_python>")
cawb_test_environment(TESTS door/ci/test_workflow.py SET "CAWB_BUILD=${CMAKE_BINARY_DIR}")
cawb_test_environment(TESTS judge/python/test_jail.py judge/python/test_jail_limits.py SET "CAWB_JAIL_LIBRARY=$<TARGET_FILE:cawb_jail>")
cawb_test_environment(TESTS cuda/test_launcher.py SET "CAWB_PROGRAM=$<TARGET_FILE:cawb>" "CAWB_LAUNCHER_LIBRARY=$<TARGET_FILE:cawb_launcher>")
cawb_test_environment(TESTS ${python_tests} SET "CAWB_NATIVE_LIBRARY=$<TARGET_FILE:cawb_native>")

# Programs of others that load a runtime of this build must load its sanitizer ahead of it.
if(CAWB_SANITIZE MATCHES "address")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE libasan OUTPUT_STRIP_TRAILING_WHITESPACE)
  cawb_test_environment(TESTS sim/exec/test_exec.lua SET "CAWB_TEST_PRELOAD=${libasan}")
endif()

# A libcuda without a GPU behind it, for the logic of the real device.
add_library(fake_cuda MODULE tests/cuda/fake_cuda.c)
target_include_directories(fake_cuda SYSTEM PRIVATE ${CAWB_CUDA_INCLUDE})
add_dependencies(test_device_cuda fake_cuda)
target_compile_definitions(test_device_cuda PRIVATE CAWB_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")

# And a libcupti that counts its launches; found where CAWB_CUDA_HOME points to.
if(CAWB_CUPTI_INCLUDE)
  add_library(fake_cupti MODULE tests/cuda/fake_cupti.c)
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
  add_library(fake_${name} MODULE tests/cuda/fake_${name}.c)
  set_target_properties(fake_${name} PROPERTIES PREFIX lib OUTPUT_NAME ${library}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_libraries/lib64)
  add_dependencies(test_device_cuda_library fake_${name})
endforeach()
add_dependencies(test_device_cuda_library fake_cuda)
target_compile_definitions(test_device_cuda_library PRIVATE
  CAWB_FAKE_CUDA="$<TARGET_FILE:fake_cuda>" CAWB_FAKE_LIBRARIES="${CMAKE_BINARY_DIR}/fake_libraries")

# The longest first, so that no core waits for one at the end.
set_tests_properties(judge/python/test_tier2.lua compose/emit/test_tensor_conv.lua PROPERTIES COST 100)
set_tests_properties(door/ci/test_judging.py door/test_docs_run.lua judge/test_redteam.lua PROPERTIES COST 70)
set_tests_properties(door/test_examples.lua door/ci/test_workflow.py compose/emit/test_tensor.lua compose/test_compose.lua PROPERTIES COST 40)
set_tests_properties(sim/code/test_corpus.lua compose/emit/test_attention_group.lua door/workshop/test_workshop.lua compose/test_operators.lua
  door/test_promote.py compose/emit/test_attention.lua sim/code/test_kernels.lua run/test_run.lua PROPERTIES COST 20)

# `./bootstrap test` runs the tests labelled quick, `./bootstrap test all` the long ones too. A test is long above about six seconds of
# a processor, where its room has quick tests of the same things. A new one is quick until its cost puts it here.
set(long_tests
  agent/test_mcp.py agent/test_react.lua agent/test_shell.lua agent/test_skills.lua base/test_protocol.lua compose/emit/test_accuracy.lua
  compose/emit/test_accuracy_conv.lua compose/emit/test_attention.lua compose/emit/test_attention_group.lua
  compose/emit/test_attention_half.lua compose/emit/test_eight.lua compose/emit/test_cell.lua compose/emit/test_cell_persistent.lua compose/emit/test_cell_wave.lua
  compose/emit/test_gathered.lua compose/emit/test_half.lua compose/emit/test_product.lua compose/emit/test_segment.lua compose/emit/test_sixteen.lua
  compose/emit/test_tensor.lua compose/emit/test_tensor_conv.lua compose/emit/test_window.lua compose/test_chips.lua
  compose/test_compose.lua compose/test_fusion.lua compose/test_fuzz.lua compose/test_merge.lua compose/test_operators.lua
  compose/test_partial.lua compose/test_rewrite.lua compose/test_rewrite_norm.lua compose/test_search.lua compose/test_weights.lua
  door/ci/test_judging.py door/ci/test_sent.py door/ci/test_workflow.py door/class/test_class.lua door/look/test_look.py
  door/look/test_look_page.py
  door/backend/test_backend.py door/backend/test_attention.py door/backend/test_graphs.py door/backend/test_sixteen.py door/backend/test_sizes.py
  door/test_benches.lua door/test_docs_run.lua
  door/test_door.lua door/test_examples.lua door/test_live.py door/test_newcomer.lua door/test_opinfo.py door/test_programs.py
  door/test_promote.py door/test_promote_launcher.py door/workshop/test_workshop.lua gpu/test_ceilings.lua gpu/test_library.lua judge/host/test_battery.py
  judge/host/test_freivalds.py judge/host/test_judge.py judge/host/test_plain.py judge/python/test_python_folder.lua
  judge/python/test_tier2.lua judge/test_classes.lua judge/test_redteam.lua learn/test_serve.py learn/test_serve_dialects.py
  learn/test_serve_kills.py learn/test_serve_load.py learn/test_synth.lua learn/test_synth.py learn/test_teach.lua
  run/test_export.lua run/test_keeping.lua run/test_run.lua run/test_strategies.lua sim/code/test_corpus.lua
  sim/code/test_kernels.lua sim/exec/test_exec.lua suite/test_bench.lua suite/test_cluster.py suite/test_report.py torch/test_operators.lua
  torch/test_operators.py)
get_property(all_tests DIRECTORY PROPERTY TESTS)
foreach(test ${long_tests})
  if(NOT test IN_LIST all_tests)
    message(FATAL_ERROR "cmake/tests.cmake: there is no test ${test}, which long_tests names")
  endif()
endforeach()
list(REMOVE_ITEM all_tests warm ${long_tests})
set_property(TEST ${all_tests} APPEND PROPERTY LABELS quick)
set_property(TEST ${long_tests} APPEND PROPERTY LABELS long)

# Under sanitizers run the tests of C, and those in Lua that lead through much of it: the store, servers, jails, plans, the worker,
# the simulator. What is Lua's and Python's own runs without.
set(sanitized_tests ${lua_tests})
list(FILTER sanitized_tests INCLUDE REGEX "^(base|gpu|sim)/|^judge/(test|time)|^agent/test_(ask|mcp|shell|tools)|\
^run/test_(keeping|run)|^learn/test_serve|^compose/test_suite|^door/test_commands|^door/class/test_exercises")
list(REMOVE_ITEM sanitized_tests base/test_protocol.lua gpu/test_ceilings.lua)
set_property(TEST ${sanitized_tests} APPEND PROPERTY LABELS sanitized)

# A relocatable tree: bin/cawb, lib/libcjson.so.1, lib/libcivetweb.so.1, share/cawb/..., share/doc/cawb/...
# Folders with nothing in them yet are left out.
set(CMAKE_INSTALL_MESSAGE NEVER)
install(TARGETS cawb RUNTIME DESTINATION bin)

# The files that the program asks the loader for, under those names and no links.
foreach(name cjson civetweb)
  get_target_property(file cawb::${name} IMPORTED_LOCATION)
  get_filename_component(file ${file} REALPATH)
  string(REGEX MATCH "lib${name}\\.so\\.[0-9]+" soname ${file})
  install(FILES ${file} DESTINATION lib RENAME ${soname})
  if(EXISTS /usr/share/doc/lib${name}1/copyright)
    install(FILES /usr/share/doc/lib${name}1/copyright DESTINATION share/doc/cawb RENAME LICENSE.${name})
  endif()
endforeach()

foreach(folder bench cluster docs lua python strategies configs prompts kernels examples skills tests/agent/cassettes tests/cuda/gpu tests/judge/cheats)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder})
    install(DIRECTORY ${folder}/ DESTINATION share/cawb/${folder} USE_SOURCE_PERMISSIONS
      PATTERN __pycache__ EXCLUDE PATTERN .* EXCLUDE)
  endif()
endforeach()
install(PROGRAMS python/cawb_learn/cawb-train DESTINATION bin)
set(support check.lua compiled_models.py composed.lua features.lua kernels.lua library.lua skills.lua)       # for tests/cuda/gpu, and bench
list(TRANSFORM support PREPEND tests/support/)
install(FILES ${support} DESTINATION share/cawb/tests/support)
install(FILES tests/fuzz/graphs.lua DESTINATION share/cawb/tests/fuzz)         # for bench/compose/compose_fuzz.lua
foreach(folder base/protocol gpu/compile/headers judge/statistics judge/watch)       # what is read at run time
  install(DIRECTORY core/${folder}/ DESTINATION share/cawb/core/${folder}
    PATTERN __pycache__ EXCLUDE PATTERN .* EXCLUDE)
endforeach()

# What the page of `cawb report` draws with, and its licence.
if(CAWB_CHART_JS)
  install(FILES ${CAWB_CHART_JS} DESTINATION share/cawb/page RENAME chart.min.js)
  if(EXISTS ${CAWB_CHART_LICENCE})
    install(FILES ${CAWB_CHART_LICENCE} DESTINATION share/doc/cawb RENAME LICENSE.chart.js)
  endif()
endif()

foreach(file README.md CONTRIBUTING.md LICENSE)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${file})
    install(FILES ${file} DESTINATION share/doc/cawb)
  endif()
endforeach()

install(FILES README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff DESTINATION share/cawb)      # where the pages of docs/ look for them
install(FILES core/README.md DESTINATION share/cawb/core)
install(FILES core/sim/README.md DESTINATION share/cawb/core/sim)

# Where to look for a Python after $CAWB_PYTHON; of no effect where it does not exist.
if(CAWB_PYTHON)
  file(WRITE ${CMAKE_BINARY_DIR}/python.path "${CAWB_PYTHON}\n")
  install(FILES ${CMAKE_BINARY_DIR}/python.path DESTINATION share/cawb)
endif()
install(FILES cmake/gpu_tests.cmake DESTINATION share/cawb RENAME CTestTestfile.cmake)

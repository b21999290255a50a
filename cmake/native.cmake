# Statistics of outputs as a library of its own: the task host is a Python, and no sanitizer may be in what it loads.
add_library(cawb_native MODULE core/judge/statistics/native.c)
target_link_libraries(cawb_native PRIVATE m)
target_compile_options(cawb_native PRIVATE -O3 -fno-math-errno -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror)
set_target_properties(cawb_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(cawb cawb_native)
install(TARGETS cawb_native LIBRARY DESTINATION lib)

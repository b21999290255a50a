# `tidy`: clang-tidy over every .c file of core/ with the checks of .clang-tidy, two files at a
# time. One process a file: clang-tidy 14 sees va_lists of one in the next.
find_program(CAWB_CLANG_TIDY NAMES clang-tidy clang-tidy-14)
mark_as_advanced(CAWB_CLANG_TIDY)
if(CAWB_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND sh -c "find core -name '*.c' | xargs -P2 -n1 '${CAWB_CLANG_TIDY}' -p '${CMAKE_BINARY_DIR}' --quiet"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
endif()

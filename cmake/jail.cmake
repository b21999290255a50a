# The confinement as a library of its own: the jail host is a Python, and no sanitizer
# may be in what it loads.
file(GLOB jail CONFIGURE_DEPENDS core/judge/jail/*.c)
list(FILTER jail EXCLUDE REGEX "/confined\\.c$")       # a process of the program's own
add_library(cawb_jail MODULE ${jail} core/base/err.c core/base/utf8.c)
target_include_directories(cawb_jail PRIVATE core)
target_compile_definitions(cawb_jail PRIVATE _GNU_SOURCE)
target_compile_options(cawb_jail PRIVATE -Wall -Wextra -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Werror)
set_target_properties(cawb_jail PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(cawb cawb_jail)
install(TARGETS cawb_jail LIBRARY DESTINATION lib)

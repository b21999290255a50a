# Launches of packages as a library of its own: the user's Python loads it, and only the CUDA driver is behind it.
add_library(cawb_launcher MODULE core/cuda/launcher/launcher.c core/cuda/launcher/driver.c core/cuda/launcher/call.c)
target_include_directories(cawb_launcher PRIVATE core)
target_link_libraries(cawb_launcher PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(cawb_launcher PRIVATE -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror)
set_target_properties(cawb_launcher PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(cawb cawb_launcher)
install(TARGETS cawb_launcher LIBRARY DESTINATION lib)

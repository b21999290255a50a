# The CUDA runtime in front of the simulator, under the names that programs of CUDA 12 and 13 ask the loader for. In a
# folder of its own: `cawb exec` puts that folder before all others.
file(GLOB_RECURSE cudart CONFIGURE_DEPENDS core/sim/cudart/*.c)
foreach(version 12 13)
  set(script ${CMAKE_BINARY_DIR}/cudart${version}.map)
  file(WRITE ${script} "libcudart.so.${version} { global: cuda*; __cuda*; local: *; };\n")
  add_library(cawb_cudart${version} MODULE ${cudart})
  target_link_libraries(cawb_cudart${version} PRIVATE cawb_core)
  target_compile_definitions(cawb_cudart${version} PRIVATE CAWB_CUDART_VERSION=${version})
  target_link_options(cawb_cudart${version} PRIVATE -Wl,--as-needed -Wl,-soname,libcudart.so.${version}
    -Wl,--version-script=${script})
  set_target_properties(cawb_cudart${version} PROPERTIES PREFIX lib OUTPUT_NAME cudart SUFFIX .so.${version}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/exec INSTALL_RPATH "$ORIGIN/..")
  add_dependencies(cawb cawb_cudart${version})
  install(TARGETS cawb_cudart${version} LIBRARY DESTINATION lib/exec)
endforeach()

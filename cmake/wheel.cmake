# `wheel`: build/cawb-VERSION-....whl beside the build folder, the install tree and the Python client in one file.
if(CAWB_PYTHON)
  add_custom_target(wheel
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/wheel
    COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${CMAKE_BINARY_DIR}/wheel
    COMMAND ${CAWB_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/wheel.py ${CMAKE_BINARY_DIR}/wheel ${CMAKE_SOURCE_DIR}/python/cawb
      ${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/..
    DEPENDS cawb VERBATIM)
endif()

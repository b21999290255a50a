# Installed as share/cawb/CTestTestfile.cmake: the tests that need a GPU, run by
# the installed program wherever the tree is: ctest --test-dir share/cawb -L gpu
get_filename_component(cawb_share "${CMAKE_CURRENT_LIST_DIR}" ABSOLUTE)
get_filename_component(cawb_program "${cawb_share}/../../bin/cawb" ABSOLUTE)
file(GLOB cawb_scripts "${cawb_share}/tests/gpu/test_*.lua")
foreach(cawb_script ${cawb_scripts})
  get_filename_component(cawb_name "${cawb_script}" NAME_WE)
  add_test("gpu/${cawb_name}" "${cawb_program}" "${cawb_script}")
  set_tests_properties("gpu/${cawb_name}" PROPERTIES
    LABELS gpu RUN_SERIAL TRUE TIMEOUT 600 WORKING_DIRECTORY "${cawb_share}")
endforeach()

# Installed as share/cawb/CTestTestfile.cmake: the tests that need a GPU, run by
# the installed program wherever the tree is: ctest --test-dir share/cawb -L gpu
# CTest sets none of CMake's variables on the current folder, but a relative GLOB
# is taken from there and gives absolute paths.
file(GLOB cawb_program "../../bin/cawb")
file(GLOB cawb_scripts "tests/cuda/gpu/test_*.lua")
foreach(cawb_script ${cawb_scripts})
  get_filename_component(cawb_name "${cawb_script}" NAME_WE)
  add_test("gpu/${cawb_name}" "${cawb_program}" "${cawb_script}")
  set_tests_properties("gpu/${cawb_name}" PROPERTIES
    LABELS gpu RUN_SERIAL TRUE TIMEOUT 600)
endforeach()

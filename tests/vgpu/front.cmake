# Tests of the virtual GPU's front end: PTX parser, fatbinaries, profiles, occupancy, timing model.
add_executable(test-vgpu-front
  ${CMAKE_CURRENT_LIST_DIR}/fatbin_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/front_main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx_hostile_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx_parser_test.cpp)
target_compile_definitions(test-vgpu-front PRIVATE WG_VGPU_SAMPLES="${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test-vgpu-front PRIVATE wg_ptx wg_flags)
add_test(NAME vgpu-front COMMAND test-vgpu-front)

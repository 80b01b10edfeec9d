# Tests of the virtual GPU's front end: PTX parser, fatbinaries, profiles, occupancy, timing model.
add_executable(test-vgpu-front
  ${CMAKE_CURRENT_LIST_DIR}/fatbin_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/occupancy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx_hostile_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx_link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx_parser_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timing_test.cpp)
# The reference for occupancy comes with the CUDA toolkit; without it that comparison is left out.
if(EXISTS "${WG_CUDA_INCLUDE_DIR}/cuda_occupancy.h")
  target_include_directories(test-vgpu-front SYSTEM PRIVATE ${WG_CUDA_INCLUDE_DIR})
endif()
target_compile_definitions(test-vgpu-front PRIVATE WG_VGPU_SAMPLES="${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test-vgpu-front PRIVATE wg_ptx wg_test_support)
wg_precompile_catch(test-vgpu-front)
add_test(NAME vgpu-front COMMAND test-vgpu-front)

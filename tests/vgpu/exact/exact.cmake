# Exactness: the virtual GPU's results compared with recorded results of a real GPU on the same operands.
add_executable(test-vgpu-exact
  ${CMAKE_CURRENT_LIST_DIR}/exact_test.cpp ${CMAKE_CURRENT_LIST_DIR}/forms.cpp ${CMAKE_CURRENT_LIST_DIR}/operands.cpp)
target_compile_definitions(test-vgpu-exact PRIVATE WG_TEST_KERNELS="" WG_EXACT_RECORDS="${CMAKE_CURRENT_LIST_DIR}/recorded")
target_link_libraries(test-vgpu-exact PRIVATE wg_vgpu wg_test_support)
add_test(NAME vgpu-exact COMMAND test-vgpu-exact)

# Makes the records. It runs on a machine with a GPU, so it brings its own standard library.
add_executable(vgpu-exact-record
  ${CMAKE_CURRENT_LIST_DIR}/record.cpp ${CMAKE_CURRENT_LIST_DIR}/forms.cpp ${CMAKE_CURRENT_LIST_DIR}/operands.cpp)
target_link_libraries(vgpu-exact-record PRIVATE wg_flags ${CMAKE_DL_LIBS})
target_link_options(vgpu-exact-record PRIVATE -static-libstdc++ -static-libgcc)

# What CUDA's own headers make of typical kernels, compiled for old and new front ends: the decoder must take all of it.
add_executable(vgpu-survey ${CMAKE_CURRENT_LIST_DIR}/survey.cpp)
target_link_libraries(vgpu-survey PRIVATE wg_vgpu wg_flags)

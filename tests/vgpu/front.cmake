# Tests of the virtual GPU's front end: PTX parser, fatbinaries, profiles, occupancy, timing model.
set(test_front_sources "")
foreach(folder text ptx container model)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${folder}/*_test.cpp)
  list(APPEND test_front_sources ${sources})
endforeach()
list(FILTER test_front_sources EXCLUDE REGEX "/(advice|clock)_test\\.cpp$")
add_executable(test-vgpu-front ${test_front_sources})
# The reference for occupancy is in the CUDA toolkit; without the toolkit, that comparison is omitted.
if(EXISTS "${WG_CUDA_INCLUDE_DIR}/cuda_occupancy.h")
  target_include_directories(test-vgpu-front SYSTEM PRIVATE ${WG_CUDA_INCLUDE_DIR})
endif()
# What the parser must read: for both front ends of nvcc, and for debuggers.
set(ptx_samples ${CMAKE_CURRENT_BINARY_DIR}/ptx)
file(MAKE_DIRECTORY ${ptx_samples})
set(sample_ptx ${ptx_samples}/votes-debug.sm_90.ptx)
wg_compile_to_ptx(ptx/votes.cu sm_90 ${sample_ptx} -G)
foreach(file calls mixed votes)
  foreach(architecture sm_90 sm_100)
    set(ptx ${ptx_samples}/${file}.${architecture}.ptx)
    list(APPEND sample_ptx ${ptx})
    wg_compile_to_ptx(ptx/${file}.cu ${architecture} ${ptx})
  endforeach()
endforeach()
# Images as nvcc embeds them: compressed in each way, of several architectures, and what is missing or empty in some;
# beside each, what ptxas says of its kernels.
set(fatbin_samples ${CMAKE_CURRENT_BINARY_DIR}/fatbin)
file(MAKE_DIRECTORY ${fatbin_samples})
function(wg_sample_fatbin name)
  set(image ${fatbin_samples}/${name}.fatbin)
  add_custom_command(OUTPUT ${image}
    COMMAND sh -c "\"$@\" 2> ${image}.txt" sh
            ${WG_NVCC} -fatbin -Xptxas -v ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/fatbin/resources.cu -o ${image}
    DEPENDS fatbin/resources.cu COMMENT "Compiling fatbin/resources.cu to ${name}.fatbin" VERBATIM)
  set(sample_fatbins ${sample_fatbins} ${image} PARENT_SCOPE)
endfunction()
set(hopper -gencode arch=compute_90,code=[compute_90,sm_90])
wg_sample_fatbin(zstd ${hopper})
wg_sample_fatbin(lz4 ${hopper} --compress-mode=speed)
wg_sample_fatbin(uncompressed ${hopper} --no-compress)
wg_sample_fatbin(several -gencode arch=compute_75,code=[compute_75,sm_75] -gencode arch=compute_80,code=sm_80
                 -gencode arch=compute_100,code=compute_100)
wg_sample_fatbin(specific -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_90,code=compute_90)
wg_sample_fatbin(cubin-only -gencode arch=compute_90,code=sm_90)
wg_sample_fatbin(named -gencode arch=compute_80,code=compute_80 -lineinfo)
# Every executable also registers what nvcc links to it.
add_custom_command(OUTPUT ${fatbin_samples}/empty.fatbin
  COMMAND ${WG_NVCC} -c -arch=sm_90 ${CMAKE_CURRENT_SOURCE_DIR}/fatbin/resources.cu -o resources.o
  COMMAND ${WG_NVCC} -dlink -fatbin -arch=sm_90 resources.o -o ${fatbin_samples}/empty.fatbin
  DEPENDS fatbin/resources.cu COMMENT "Linking empty.fatbin" VERBATIM)
add_custom_target(wg_front_samples DEPENDS ${sample_ptx} ${sample_fatbins} ${fatbin_samples}/empty.fatbin)
add_dependencies(test-vgpu-front wg_front_samples)
target_compile_definitions(test-vgpu-front PRIVATE WG_VGPU_SAMPLES="${CMAKE_CURRENT_BINARY_DIR}")
target_link_libraries(test-vgpu-front PRIVATE wg_ptx wg_model wg_device wg_test_support)
wg_precompile_catch(test-vgpu-front)
add_test(NAME vgpu-front COMMAND test-vgpu-front)

# What CUDA's own headers make of typical kernels, compiled for old and new front ends: the decoder must take all of it.
# libcu.cu and random.cu take long to compile: they are for surveys by hand.
add_executable(vgpu-survey ${CMAKE_CURRENT_LIST_DIR}/survey.cpp)
target_link_libraries(vgpu-survey PRIVATE wg_vgpu wg_flags)

# Calls with a file, and the architectures to compile it for. Up to sm_90 all have the same front end.
function(wg_survey file)
  foreach(architecture ${ARGN})
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/survey-${file}.${architecture}.ptx)
    wg_compile_to_ptx(survey/${file}.cu ${architecture} ${ptx} -O3)
    list(APPEND survey_ptx ${ptx})
  endforeach()
  set(survey_ptx ${survey_ptx} PARENT_SCOPE)
endfunction()
wg_survey(half sm_75 sm_80 sm_90 sm_100)
wg_survey(integer sm_75 sm_80 sm_90 sm_100)
wg_survey(matrix sm_75 sm_80 sm_90 sm_100)
wg_survey(memory sm_75 sm_80 sm_90 sm_100)
wg_survey(math sm_80 sm_100)
wg_survey(groups sm_90)
wg_survey(textures sm_75 sm_100)
add_custom_target(wg_survey_ptx DEPENDS ${survey_ptx})
add_dependencies(vgpu-survey wg_survey_ptx)
add_test(NAME vgpu-survey COMMAND vgpu-survey ${survey_ptx})

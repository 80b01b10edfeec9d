# wg_precompile(TARGET GROUP HEADER…): the target's files find these headers, which are heavy, precompiled. The targets of
# a group name the same headers and have the same compile options: they share what the first of them makes.
#
# CMake lets all others wait for the first as a whole. Where that would be long, wg_precompiled(GROUP KIND LIBRARIES
# HEADER…) comes before: it makes the headers in a target of its own, with the options of LIBRARIES. KIND says who uses
# them, `libraries` or `programs`, which are compiled with -fPIC and -fPIE.
function(wg_precompile target group)
  get_property(first GLOBAL PROPERTY WG_PRECOMPILED_${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY WG_PRECOMPILED_${group} ${target})
  endif()
endfunction()

function(wg_precompiled group kind libraries)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/precompiled-${group}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Holds nothing: a target has a source file.\n")
  add_library(precompiled-${group} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(precompiled-${group} PRIVATE ${libraries})
  if(kind STREQUAL "programs")
    target_compile_options(precompiled-${group} PRIVATE -fPIE)
  endif()
  wg_precompile(precompiled-${group} ${group} ${ARGN})
endfunction()

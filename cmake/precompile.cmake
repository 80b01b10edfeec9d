# wg_precompile(TARGET GROUP HEADER…): precompiles these heavy headers for the target's files. The targets of a group
# name the same headers and have the same compile options, so they share what the first of them makes.
#
# CMake makes all others wait until the whole first target is built. If that takes long, call wg_precompiled(GROUP KIND
# LIBRARIES HEADER…) before: it precompiles the headers in a target of its own, with the options of LIBRARIES. KIND says
# which targets use them, `libraries` (compiled with -fPIC) or `programs` (-fPIE).
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

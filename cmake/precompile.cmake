# wg_precompile(TARGET GROUP HEADER…): the target's files find these headers, which are heavy, precompiled. The targets of
# a group name the same headers and have the same compile options: they share what the first of them makes.
function(wg_precompile target group)
  get_property(first GLOBAL PROPERTY WG_PRECOMPILED_${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY WG_PRECOMPILED_${group} ${target})
  endif()
endfunction()

# Flags that all our targets share: warnings, sanitizers, exact floating point.
add_library(wg_flags INTERFACE)
target_include_directories(wg_flags INTERFACE ${CMAKE_SOURCE_DIR}/grader)
target_compile_options(wg_flags INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
                                          -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false alarms in the standard library's string and vector code.
  target_compile_options(wg_flags INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang does not know `#pragma GCC ivdep` of lanes.hpp; it vectorises the handlers after checks of its own.
  target_compile_options(wg_flags INTERFACE -Wno-unknown-pragmas)
endif()
if(WARPGRADE_SANITIZE)
  set(wanted $<NOT:$<BOOL:$<TARGET_PROPERTY:WG_NO_SANITIZERS>>>)
  target_compile_options(wg_flags INTERFACE $<${wanted}:-fsanitize=${WARPGRADE_SANITIZE}> -fno-omit-frame-pointer
                                            $<${wanted}:-fno-sanitize-recover=undefined>)
  target_link_options(wg_flags INTERFACE $<${wanted}:-fsanitize=${WARPGRADE_SANITIZE}>)
endif()

# The virtual GPU's handlers are plain loops over 32 lanes, which the compiler turns into SIMD code. A build for this
# machine uses AVX2/FMA/F16C if the machine has them. A package holds one device server for each of WARPGRADE_LEVELS,
# from which grader/warpgrade/machine/cpu.py chooses. Results do not depend on the choice: contraction is off, and fma()
# is exact in hardware and in software.
include(CheckCXXSourceRuns)
set(WARPGRADE_LEVELS x86-64-v2 x86-64-v3 x86-64-v4 CACHE STRING "Levels of x86-64 that a package has device servers for")
set(WG_HOST_LEVEL "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }"
                        WG_HOST_HAS_AVX2)
  if(WG_HOST_HAS_AVX2)
    set(WG_HOST_LEVEL x86-64-v3)
  endif()
endif()
set(WG_OTHER_LEVELS ${WARPGRADE_LEVELS})
list(REMOVE_ITEM WG_OTHER_LEVELS "${WG_HOST_LEVEL}")

# The target of the device server for a level. The one for this machine has the plain name.
function(wg_server_of level result)
  if(level STREQUAL WG_HOST_LEVEL)
    set(${result} warpgrade-device PARENT_SCOPE)
  else()
    set(${result} warpgrade-device-${level} PARENT_SCOPE)
  endif()
endfunction()

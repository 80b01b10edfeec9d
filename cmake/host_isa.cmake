# The virtual GPU's handlers are plain loops over 32 lanes, which the compiler turns into SIMD code. The build happens
# on the machine that runs it, so it may use AVX2/FMA/F16C where that machine has them. Results do not depend on it:
# contraction is off, and fma() is exact in hardware and in software.
include(CheckCXXSourceRuns)
set(WG_HOST_ISA "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }"
                        WG_HOST_HAS_AVX2)
  if(WG_HOST_HAS_AVX2)
    set(WG_HOST_ISA -march=x86-64-v3)
  endif()
endif()

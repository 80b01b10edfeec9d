# wg_unity(TARGET N): compiles N source files of the target at a time, as one. Where most of a file's time goes into
# headers that all of them include, the first build is that much shorter. Names of anonymous namespaces must then differ
# between the files of a target. clang-tidy gets the files one by one: grader/warpgrade/dev/testing.py turns this off.
option(WARPGRADE_UNITY "Compile small source files several at a time" ON)
function(wg_unity target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WARPGRADE_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

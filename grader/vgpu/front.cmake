# What the virtual GPU knows about devices and time: profiles, occupancy, the timing model. Tests of labs may use it
# too.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/model/*.cpp)
add_library(wg_model STATIC ${sources})
target_link_libraries(wg_model PUBLIC wg_flags wg_fmt)

# The front end: PTX and fatbinaries. It does not depend on the interpreter, so it can be built and tested alone.
find_library(WG_ZSTD_FILE zstd REQUIRED)
find_library(WG_LZ4_FILE lz4 REQUIRED)
set(wg_ptx_sources "")
foreach(folder text ptx container)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${folder}/*.cpp)
  list(APPEND wg_ptx_sources ${sources})
endforeach()
add_library(wg_ptx STATIC ${wg_ptx_sources})
target_link_libraries(wg_ptx PUBLIC wg_flags wg_fmt PRIVATE ${WG_ZSTD_FILE} ${WG_LZ4_FILE})

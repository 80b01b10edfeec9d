# What the virtual GPU says of devices and of time: profiles, occupancy, the timing model. Labs' tests may ask it too.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/model/*.cpp)
add_library(wg_model STATIC ${sources})
target_link_libraries(wg_model PUBLIC wg_flags wg_fmt)

# Its front end: PTX and fatbinaries. Depends on no interpreter, so that it can be built and tested alone.
find_library(WG_ZSTD_FILE zstd REQUIRED)
find_library(WG_LZ4_FILE lz4 REQUIRED)
set(wg_ptx_sources "")
foreach(folder text ptx container)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${folder}/*.cpp)
  list(APPEND wg_ptx_sources ${sources})
endforeach()
add_library(wg_ptx STATIC ${wg_ptx_sources})
target_link_libraries(wg_ptx PUBLIC wg_flags wg_fmt PRIVATE ${WG_ZSTD_FILE} ${WG_LZ4_FILE})

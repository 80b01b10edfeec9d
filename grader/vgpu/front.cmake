# The front end of the virtual GPU: PTX, fatbinaries, device profiles, occupancy and the timing model. Depends on no
# interpreter, so that it can be built and tested alone.
find_library(WG_ZSTD_LIBRARY zstd REQUIRED)
find_library(WG_LZ4_LIBRARY lz4 REQUIRED)
add_library(wg_ptx STATIC
  ${CMAKE_CURRENT_LIST_DIR}/cubin.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fatbin.cpp
  ${CMAKE_CURRENT_LIST_DIR}/occupancy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/profile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/ast.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/declaration_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/function_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/link.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/module_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/operand_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ptx/table_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timing.cpp)
target_link_libraries(wg_ptx PUBLIC wg_flags PRIVATE ${WG_ZSTD_LIBRARY} ${WG_LZ4_LIBRARY})

# What is built here also goes into wheels (`./warpgrade package`), so programs depend on no library of the building
# machine and name none of its folders. `cmake --install --component native` collects them with the libraries and
# headers that a lab's tests and a student's program need. Sanitizers need their shared runtime.
if(NOT WARPGRADE_SANITIZE)
  set(WG_PORTABLE ON)
endif()

# Debian has no static libfmt, so it is built from the headers. Compiling fmt's functions wherever they are used would
# take two seconds more per file.
if(WG_PORTABLE)
  get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  try_compile(WG_FMT_IS_KNOWN ${CMAKE_BINARY_DIR}/fmt-probe
              SOURCES ${CMAKE_SOURCE_DIR}/cmake/fmt/fmt.cpp ${CMAKE_SOURCE_DIR}/cmake/fmt/probe.cpp
              CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_include}" CXX_STANDARD 20)
endif()
if(WG_FMT_IS_KNOWN)
  add_library(wg_fmt STATIC cmake/fmt/fmt.cpp)
  target_include_directories(wg_fmt SYSTEM PUBLIC ${fmt_include})
else()
  add_library(wg_fmt INTERFACE)
endif()
if(WG_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  if(NOT WG_FMT_IS_KNOWN)
    target_link_libraries(wg_fmt INTERFACE fmt::fmt-header-only)
  endif()
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -static")
else()
  target_link_libraries(wg_fmt INTERFACE fmt::fmt)
endif()

# To be called last, when all targets are known.
function(wg_install_native)
  set(native COMPONENT native)
  install(TARGETS wg_sandbox RUNTIME DESTINATION bin ${native})
  foreach(level IN LISTS WARPGRADE_LEVELS)
    wg_server_of(${level} server)
    install(PROGRAMS $<TARGET_FILE:${server}> DESTINATION bin RENAME warpgrade-device-${level} COMPONENT servers)
  endforeach()
  install(TARGETS wg_worker wg_native wg_cudart wg_cudart_shared wg_driver wg_driver_shared wg_judge
                  wg_judge_core wg_device wg_model
          ARCHIVE DESTINATION lib ${native} LIBRARY DESTINATION lib ${native} NAMELINK_SKIP)
  if(WG_FMT_IS_KNOWN)
    install(TARGETS wg_fmt ARCHIVE DESTINATION lib ${native})
  endif()
  # The names that nvcc itself links (grader/cudart/CMakeLists.txt). They are copies, since a wheel cannot have links.
  install(FILES $<TARGET_FILE:wg_cudart> DESTINATION lib/nvcc RENAME libcudart_static.a ${native})
  install(FILES $<TARGET_FILE:wg_driver> DESTINATION lib/nvcc RENAME libcuda.a ${native})
  # What tests include: the judge's headers, the headers below them, and the libraries that these need.
  foreach(folder judge device worker vgpu)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/grader/${folder} DESTINATION include ${native} FILES_MATCHING
            PATTERN *.hpp PATTERN *.def)
  endforeach()
  # Catch2 2 has only headers.
  get_target_property(catch_type Catch2::Catch2 TYPE)
  if(catch_type STREQUAL INTERFACE_LIBRARY)
    set(catch_header catch2/catch.hpp)
  else()
    set(catch_header catch2/catch_all.hpp)
    install(FILES $<TARGET_FILE:Catch2::Catch2> DESTINATION lib RENAME libCatch2.a ${native})
  endif()
  foreach(header ${catch_header} nlohmann/json.hpp fmt/format.h)
    find_path(found_${header} ${header} REQUIRED)
    get_filename_component(name ${header} DIRECTORY)
    install(DIRECTORY ${found_${header}}/${name} DESTINATION include ${native})
  endforeach()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/labs/common DESTINATION . ${native})
  # What `warpgrade explain` prints, and what a handout says about reports.
  foreach(page checks counters glossary runtime student supported)
    install(FILES ${CMAKE_SOURCE_DIR}/docs/${page}.md DESTINATION docs ${native})
  endforeach()
endfunction()

# The simulator for programs of others: all of sim/ in one archive, its headers, and what
# find_package(strata) reads. Vendors' headers appear in none of the headers that are installed, so
# whoever uses them needs the vendors' libraries, to link, and not one of their macros.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libstrata-dev)

set(objects)
get_property(libraries GLOBAL PROPERTY STRATA_LIBRARIES)
foreach(library ${libraries})
  get_target_property(folder ${library} SOURCE_DIR)
  get_target_property(type ${library} TYPE)
  if(folder MATCHES "^${CMAKE_SOURCE_DIR}/sim/" AND type STREQUAL "STATIC_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()

add_library(strata_sim STATIC ${objects})
add_library(strata::strata ALIAS strata_sim)
set_target_properties(strata_sim PROPERTIES
  OUTPUT_NAME strata EXPORT_NAME strata LINKER_LANGUAGE CXX)
target_compile_features(strata_sim PUBLIC cxx_std_20)
target_include_directories(strata_sim INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/strata>)
target_link_libraries(strata_sim PRIVATE
  fmt::fmt simdjson::simdjson tomlplusplus::tomlplusplus pugixml::pugixml SQLite::SQLite3
  Threads::Threads)
set(STRATA_WITH_ONNX OFF)
if(TARGET onnx)
  set(STRATA_WITH_ONNX ON)
  target_link_libraries(strata_sim PRIVATE onnx)
endif()
set(STRATA_WITH_HWLOC OFF)
if(HWLOC_FOUND)
  set(STRATA_WITH_HWLOC ON)
  target_link_libraries(strata_sim PRIVATE PkgConfig::HWLOC)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
install(TARGETS strata_sim EXPORT strata-targets)
install(EXPORT strata-targets NAMESPACE strata:: DESTINATION ${package})
configure_package_config_file(strata-config.cmake.in strata-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(strata-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strata-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/strata-config-version.cmake DESTINATION ${package})

# Without those that a reader of files has for itself, which do include a vendor's.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata
  FILES_MATCHING PATTERN "*.h"
  REGEX "/(importers/onnx|importers/trace/trace_(event|builder)\\.h|replay/(json_lines|replay_[a-z]+)\\.h)$" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/sim/importers/onnx/read_onnx.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata/sim/importers/onnx)

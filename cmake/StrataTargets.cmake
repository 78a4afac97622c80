# How every target is made: one library per folder, linking the folders it includes
# and no more (tests/architecture holds the include lines to the same arrows).

find_package(Threads REQUIRED)

add_library(strata_options INTERFACE)
target_compile_features(strata_options INTERFACE cxx_std_20)
target_include_directories(strata_options INTERFACE ${CMAKE_SOURCE_DIR})
# For C++ alone: nvcc takes its own.
function(strata_cxx_options)
  foreach(option ${ARGN})
    target_compile_options(strata_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${option}>)
  endforeach()
endfunction()
set(werror -Werror)
set(cuda_warnings -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror)
if(NOT STRATA_WERROR)
  set(werror)
  set(cuda_warnings -Xcompiler=-Wall,-Wextra)
endif()
strata_cxx_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor ${werror})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlaps in the standard library's own string concatenation (its bug 105651).
  strata_cxx_options(-Wno-restrict)
  # And overruns, where that comes from a precompiled header; the sanitizers see the real ones.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    strata_cxx_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # ccache keeps precompiled headers that are equal
  strata_cxx_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
# Results must be equal to the bit on every machine: no contraction of a*b+c into one rounding.
strata_cxx_options(-ffp-contract=off)
# CMake 3.25 knows no CUDA standard after 17.
foreach(option -std=c++20 --expt-relaxed-constexpr ${cuda_warnings})
  target_compile_options(strata_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:${option}>)
endforeach()
if(STRATA_PYTHON)
  # A module holds what the programs do. No caller replaces a function of it, so that inlining stays.
  strata_cxx_options(-fPIC -fno-semantic-interposition)
  target_compile_options(strata_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIC>)
endif()
if(STRATA_SANITIZE)
  strata_cxx_options(
    -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
endif()

# lld links in a fraction of GNU ld's time. (Debian 12's mold starts RELRO in the middle of a page
# where thread-local data are small: such programs do not start.)
find_program(STRATA_LLD ld.lld)
if(STRATA_LLD)
  target_link_options(strata_options INTERFACE $<$<LINK_LANGUAGE:CXX,CUDA>:-fuse-ld=lld>)
endif()

# What the build writes before it compiles; clang-tidy needs no more than that of a build.
add_custom_target(generated_sources)

# What nearly every source includes is parsed once. Precompiled headers serve only what has the same
# macros, so those of fmt stand on every target.
target_compile_definitions(strata_options INTERFACE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
set(STRATA_COMMON_HEADERS
  <algorithm> <array> <atomic> <cmath> <cstdint> <functional> <map> <memory> <mutex>
  <numeric> <optional> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility>
  <variant> <vector> <fmt/format.h>)

# strata_cold(target): its code runs once for each thing that a user asks, so that optimising it would
# cost more time than it saves.
function(strata_cold target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<CONFIG:Debug>,-O0,-O1>>)
endfunction()

# strata_precompiled(name [COLD] HEADERS <a> ... [LINKS ...]): headers that targets with the same
# links reuse, all cold or none.
function(strata_precompiled name)
  cmake_parse_arguments(ARG "COLD" "" "HEADERS;LINKS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(strata_${name} OBJECT ${source})
  target_link_libraries(strata_${name} PRIVATE strata_options fmt::fmt ${ARG_LINKS})
  target_precompile_headers(strata_${name} PRIVATE ${ARG_HEADERS})
  if(ARG_COLD)
    strata_cold(strata_${name})
  endif()
endfunction()
strata_precompiled(precompiled HEADERS ${STRATA_COMMON_HEADERS})
strata_precompiled(precompiled_cold COLD HEADERS ${STRATA_COMMON_HEADERS})

# strata_source_options(source OPTION...): of one source alone, an instruction set for example.
function(strata_source_options source)
  set_source_files_properties(${source}
    PROPERTIES COMPILE_OPTIONS "${ARGN}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# strata_library(name [COLD] SOURCES a.cpp ... [LINKS strata_x ...] [PRIVATE_LINKS vendor ...]
#                [PRECOMPILED <header> ...])
# COLD: see strata_cold.
# PRECOMPILED: of a target whose options differ from the others', or most of whose sources include
# more, which shares no headers with them.
# The global property STRATA_LIBRARIES lists them all.
function(strata_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;LINKS;PRIVATE_LINKS;PRECOMPILED" ${ARGN})
  if(ARG_SOURCES)
    add_library(strata_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(strata_${name} PUBLIC strata_options ${ARG_LINKS}
                                         PRIVATE ${ARG_PRIVATE_LINKS})
    if(ARG_COLD)
      strata_cold(strata_${name})
    endif()
    if(STRATA_FUZZ AND CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/(sim/|gui/document)")
      # The harnesses steer by the coverage of what they feed.
      target_compile_options(strata_${name} PRIVATE -fsanitize-coverage=${STRATA_FUZZ_COVERAGE})
    endif()
    if(ARG_PRECOMPILED)
      target_precompile_headers(strata_${name} PRIVATE ${STRATA_COMMON_HEADERS} ${ARG_PRECOMPILED})
    elseif(ARG_COLD)
      target_precompile_headers(strata_${name} REUSE_FROM strata_precompiled_cold)
    else()
      target_precompile_headers(strata_${name} REUSE_FROM strata_precompiled)
    endif()
  else()
    add_library(strata_${name} INTERFACE)
    target_link_libraries(strata_${name} INTERFACE strata_options ${ARG_LINKS})
  endif()
  set_property(GLOBAL APPEND PROPERTY STRATA_LIBRARIES strata_${name})
endfunction()

if(STRATA_TESTS)
  set(test_headers ${STRATA_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  strata_precompiled(precompiled_tests COLD LINKS GTest::gmock HEADERS ${test_headers})
  strata_precompiled(precompiled_tests_hot LINKS GTest::gmock HEADERS ${test_headers})
endif()

# strata_test_target(target hot): how code of tests is compiled; most of it is cold.
function(strata_test_target target hot)
  if(hot)
    set(headers strata_precompiled_tests_hot)
  else()
    set(headers strata_precompiled_tests)
    strata_cold(${target})
  endif()
  get_target_property(links ${target} LINK_LIBRARIES)
  if(NOT links MATCHES "Qt6|gui")  # their code has another form, and other macros
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# strata_test_library(name [HOT] SOURCES a.cpp ... LINKS strata_x ...): strata_test_NAME, which tests
# share. HOT: it computes much.
function(strata_test_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;LINKS" ${ARGN})
  add_library(strata_test_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(strata_test_${name} PUBLIC strata_options ${ARG_LINKS} GTest::gmock)
  strata_test_target(strata_test_${name} ${ARG_HOT})
endfunction()

# strata_test(name [HOT] [SHARDS N] [LABELS slow|threads|gui] SOURCES a_test.cpp ...
#             LINKS strata_x ...)
# One test program per folder, and one CTest case for it: N cases that share its tests where it takes
# long. Each writes reports/NAME.xml, which scripts/count-tests adds up (reports.txt names
# them all). The target threaded_tests builds those labelled `threads`, for the thread sanitizer;
# exec_tests those of exec/, whose kernels users run optimised; cli_tests those of cli/. At most one
# label: CTest splits lists of them.
add_custom_target(threaded_tests)
add_custom_target(exec_tests)
add_custom_target(cli_tests)
function(strata_test name)
  cmake_parse_arguments(ARG "HOT" "LABELS;SHARDS" "SOURCES;LINKS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE
    ${ARG_LINKS} strata_test_paths GTest::gmock GTest::gtest_main)
  strata_test_target(${name}_test ${ARG_HOT})
  if(ARG_LABELS STREQUAL "threads")
    add_dependencies(threaded_tests ${name}_test)
  endif()
  foreach(folder exec cli)
    if(name MATCHES "^${folder}_")
      add_dependencies(${folder}_tests ${name}_test)
    endif()
  endforeach()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(case ${name})
    if(ARG_SHARDS GREATER 1)
      string(APPEND case .${shard})
    endif()
    set(report ${CMAKE_BINARY_DIR}/reports/${case}.xml)
    set_property(GLOBAL APPEND_STRING PROPERTY STRATA_REPORTS "${case}\n")
    add_test(NAME ${case} COMMAND ${name}_test --gtest_brief=1 --gtest_output=xml:${report})
    math(EXPR index "${shard} - 1")
    set_tests_properties(${case} PROPERTIES TIMEOUT 900 LABELS "${ARG_LABELS}" COST ${ARG_SHARDS}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# How every target of the house is made: one library per folder, linking the folders it includes
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
endif()
# Results must be equal to the bit on every machine: no contraction of a*b+c into one rounding.
strata_cxx_options(-ffp-contract=off)
# CMake 3.25 knows no CUDA standard after 17.
foreach(option -std=c++20 --expt-relaxed-constexpr ${cuda_warnings})
  target_compile_options(strata_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:${option}>)
endforeach()
if(STRATA_SANITIZE)
  strata_cxx_options(
    -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
endif()
if(STRATA_FUZZ)  # the harnesses steer by the coverage of the whole library
  strata_cxx_options(-fsanitize=fuzzer-no-link)
endif()

# strata_library(name SOURCES a.cpp ... [LINKS strata_x ...] [PRIVATE_LINKS vendor ...])
# The global property STRATA_LIBRARIES lists them all.
function(strata_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(ARG_SOURCES)
    add_library(strata_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(strata_${name} PUBLIC strata_options ${ARG_LINKS}
                                         PRIVATE ${ARG_PRIVATE_LINKS})
  else()
    add_library(strata_${name} INTERFACE)
    target_link_libraries(strata_${name} INTERFACE strata_options ${ARG_LINKS})
  endif()
  set_property(GLOBAL APPEND PROPERTY STRATA_LIBRARIES strata_${name})
endfunction()

# strata_test(name SOURCES a_test.cpp ... LINKS strata_x ... [LABELS slow|threads])
# One test program per folder; every TEST in it is a CTest case. The target threaded_tests builds
# those labelled `threads`, for the thread sanitizer; exec_tests those of exec/, whose kernels users
# run optimised. At most one label: CTest splits lists of them.
add_custom_target(threaded_tests)
add_custom_target(exec_tests)
function(strata_test name)
  cmake_parse_arguments(ARG "" "LABELS" "SOURCES;LINKS;DEFINITIONS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE
    STRATA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ${ARG_DEFINITIONS})
  if(ARG_LABELS STREQUAL "threads")
    add_dependencies(threaded_tests ${name}_test)
  endif()
  if(name MATCHES "^exec_")
    add_dependencies(exec_tests ${name}_test)
  endif()
  set(properties TIMEOUT 600)
  if(ARG_LABELS)
    list(APPEND properties LABELS ${ARG_LABELS})
  endif()
  gtest_discover_tests(${name}_test
    TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

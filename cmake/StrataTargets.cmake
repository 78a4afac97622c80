# How every target of the house is made: one library per folder, linking the folders it includes
# and no more (tests/architecture holds the include lines to the same arrows).

find_package(Threads REQUIRED)

add_library(strata_options INTERFACE)
target_compile_features(strata_options INTERFACE cxx_std_20)
target_include_directories(strata_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(strata_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Werror)
# Results must be equal to the bit on every machine: no contraction of a*b+c into one rounding.
target_compile_options(strata_options INTERFACE -ffp-contract=off)
if(STRATA_SANITIZE)
  target_compile_options(strata_options INTERFACE
    -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
endif()

# strata_library(name SOURCES a.cpp ... [LINKS strata_x ...] [PRIVATE_LINKS vendor ...])
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
endfunction()

# strata_test(name SOURCES a_test.cpp ... LINKS strata_x ... [LABELS slow ...])
# One test program per folder; every TEST in it is a CTest case.
function(strata_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;LABELS;DEFINITIONS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE
    STRATA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ${ARG_DEFINITIONS})
  gtest_discover_tests(${name}_test
    TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

# Everything that comes from outside, by its Debian package (scripts/build installs them).
find_package(fmt REQUIRED)            # libfmt-dev
find_package(tomlplusplus REQUIRED)   # libtomlplusplus-dev
find_package(nlohmann_json REQUIRED)  # nlohmann-json3-dev
find_package(simdjson REQUIRED)       # libsimdjson-dev
find_package(CLI11 REQUIRED)          # libcli11-dev
find_package(dnnl REQUIRED)           # libdnnl-dev; its own file looks for OpenCL: ocl-icd-opencl-dev
find_package(SQLite3 REQUIRED)        # libsqlite3-dev
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # libxxhash-dev
find_package(MPI COMPONENTS CXX)      # libopenmpi-dev, openmpi-bin; optional
find_package(Qt6 6.4 COMPONENTS Widgets Svg)  # qt6-base-dev, qt6-svg-dev; optional
find_package(PkgConfig)               # pkg-config
if(Qt6_FOUND AND PkgConfig_FOUND)
  pkg_check_modules(GVC IMPORTED_TARGET libgvc libcgraph)  # libgraphviz-dev
endif()
if(STRATA_TESTS)
  find_package(GTest REQUIRED)        # libgtest-dev, libgmock-dev
  if(Qt6_FOUND)
    find_package(Qt6 REQUIRED COMPONENTS Test)
  endif()
  include(GoogleTest)
endif()

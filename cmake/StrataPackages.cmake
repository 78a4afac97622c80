# Everything that comes from outside, by its Debian package (scripts/build installs them).
find_package(fmt REQUIRED)            # libfmt-dev
find_package(tomlplusplus REQUIRED)   # libtomlplusplus-dev
find_package(nlohmann_json REQUIRED)  # nlohmann-json3-dev
find_package(simdjson REQUIRED)       # libsimdjson-dev
find_package(CLI11 REQUIRED)          # libcli11-dev
find_package(dnnl REQUIRED)           # libdnnl-dev; its own file looks for OpenCL: ocl-icd-opencl-dev
find_package(SQLite3 REQUIRED)        # libsqlite3-dev
find_package(pugixml REQUIRED)        # libpugixml-dev
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # libxxhash-dev
find_package(MPI COMPONENTS CXX)      # libopenmpi-dev, openmpi-bin; optional
find_package(Qt6 6.4 COMPONENTS Widgets Svg)  # qt6-base-dev, qt6-svg-dev; optional
find_package(Protobuf)                # libprotobuf-dev; optional, for ONNX
if(Protobuf_FOUND)
  find_package(ONNX)                  # libonnx-dev
endif()
find_package(PkgConfig)               # pkg-config
if(PkgConfig_FOUND)
  pkg_check_modules(HWLOC IMPORTED_TARGET hwloc)  # libhwloc-dev; optional
endif()
if(Qt6_FOUND AND PkgConfig_FOUND)
  pkg_check_modules(GVC IMPORTED_TARGET libgvc libcgraph)  # libgraphviz-dev
endif()
# NVIDIA's compiler with the headers of cuDNN and cuBLAS; optional. Sanitizers know nothing of it.
include(CheckLanguage)
check_language(CUDA)
set(STRATA_CUDA_FOUND OFF)
if(CMAKE_CUDA_COMPILER AND NOT STRATA_SANITIZE)
  # CMake 3.25 sets a property of it even where the toolkit, as of 13, has it no more.
  if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
  endif()
  find_package(CUDAToolkit 12)
  find_path(CUDNN_INCLUDE_DIR cudnn_backend.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  if(CUDAToolkit_FOUND AND CUDNN_INCLUDE_DIR AND NCCL_INCLUDE_DIR)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
    endif()
    enable_language(CUDA)
    set(STRATA_CUDA_FOUND ON)
  endif()
endif()
if(STRATA_PYTHON)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)  # python3-dev
  find_package(pybind11 2.10 REQUIRED)  # pybind11-dev
endif()
if(STRATA_TESTS)
  find_package(GTest REQUIRED)        # libgtest-dev, libgmock-dev
  if(Qt6_FOUND)
    find_package(Qt6 REQUIRED COMPONENTS Test)
  endif()
endif()

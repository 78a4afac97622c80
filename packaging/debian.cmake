# Debian packages by CPack, one a component. scripts/package builds them with the preset `package`;
# prepare-debian.cmake adds what Debian's policy asks for beyond a plain install.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME strata)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL strata libstrata-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/prepare-debian.cmake)
set(CPACK_STRATA_DEBIAN_FILES ${CMAKE_CURRENT_SOURCE_DIR}/debian)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if(NOT DEFINED ENV{DEBFULLNAME} OR NOT DEFINED ENV{DEBEMAIL})
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Strata maintainers <strata@packages.invalid>")
endif()
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_STRATA_PACKAGE_NAME strata)
set(CPACK_DEBIAN_STRATA_PACKAGE_SECTION science)
set(CPACK_DEBIAN_STRATA_PACKAGE_SUGGESTS "strata-gui, openmpi-bin")
set(CPACK_DEBIAN_STRATA_DESCRIPTION
"how fast a neural network trains, cut over many devices
Strata predicts the time of one training step of a neural network, its
communication and its memory, when each layer is cut over several devices by
sample, channel, depth, height and width. It finds the fastest way to cut,
with proof, and says why it is so. It can also run what it predicts, on the
cores of this machine.

No GPU is needed. Networks come from a list of known ones, from ONNX files,
or from small text files, as do the clusters of devices.")

set(CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_NAME libstrata-dev)
set(CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_DEPENDS
  "libfmt-dev, libsimdjson-dev, libtomlplusplus-dev, libpugixml-dev, libsqlite3-dev")
if(STRATA_WITH_ONNX)
  string(APPEND CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_DEPENDS ", libonnx-dev, libprotobuf-dev")
endif()
if(STRATA_WITH_HWLOC)
  string(APPEND CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_DEPENDS ", libhwloc-dev, pkg-config")
endif()
set(CPACK_DEBIAN_LIBSTRATA-DEV_PACKAGE_SUGGESTS "cmake, strata")
set(CPACK_DEBIAN_LIBSTRATA-DEV_DESCRIPTION
"simulator of neural networks' training on many devices (development files)
The library that the command strata is made of: networks, clusters,
strategies, the plan of a training step, its simulation, and the search for
the fastest strategy.

This package has the headers, the static library, and the files by which
CMake finds them.")

if(TARGET strata-gui)
  list(APPEND CPACK_COMPONENTS_ALL strata-gui)
  set(CPACK_DEBIAN_STRATA-GUI_PACKAGE_NAME strata-gui)
  set(CPACK_DEBIAN_STRATA-GUI_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_STRATA-GUI_PACKAGE_DEPENDS "strata (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_STRATA-GUI_DESCRIPTION
"how fast a neural network trains, cut over many devices (desktop program)
The desktop program of Strata: a network with the cut of each of its layers,
what every device and link does when, what other links, devices or batches
would change, and what another cut of a layer would cost.")
endif()

include(CPack)

// Libraries that are found at run time, and what is said of those that are not.

#include "exec/cuda/device/library.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/paths.h"

namespace strata::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view name, const std::vector<std::string>& folders) {
  try {
    Library library(name, folders);
  } catch (const EnvironmentError& error) {
    return error.message();
  }
  return "found";
}

TEST(Library, SaysWhichFileWasLookedForAndWhere) {
  EXPECT_EQ(error_of("libnowhere.so.7", {"/first", "/second"}),
            "libnowhere.so.7 was not found in the loader's path, /first, /second; name its folder "
            "in STRATA_CUDA_LIBRARIES");
}

TEST(Library, SaysWhyAFileCannotBeLoaded) {
  const std::string text = error_of("library_test.cpp", {source_path("tests/exec/cuda")});
  EXPECT_THAT(text, HasSubstr("library_test.cpp can't be loaded: "));
  EXPECT_THAT(text, HasSubstr("/tests/exec/cuda/library_test.cpp"));
}

TEST(Library, FindsFunctionsOnTheLoadersPath) {
  const Library library("libm.so.6", {});
  double (*const next)(double, double) = library.find("nextafter");
  EXPECT_EQ(next(1, 1), 1);
}

TEST(Library, SaysWhichFunctionIsMissing) {
  const Library library("libm.so.6", {});
  try {
    library.find("no_such_function");
    ADD_FAILURE() << "found";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.message(), "libm.so.6 has no function no_such_function");
  }
}

TEST(Library, LooksInTheFoldersOfTheVariableBeforeTheToolkit) {
  setenv("STRATA_CUDA_LIBRARIES", "/one::/two", 1);
  EXPECT_THAT(library_folders(), ElementsAre("/one", "/two", "/usr/local/cuda/lib64"));
  unsetenv("STRATA_CUDA_LIBRARIES");
  EXPECT_THAT(library_folders(), ElementsAre("/usr/local/cuda/lib64"));
}

}  // namespace
}  // namespace strata::cuda

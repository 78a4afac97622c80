#include "exec/cuda/products/library_versions.h"

#include <cstddef>

#include <fmt/format.h>

#include "exec/cuda/device/library.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

std::string cudnn_version(const Library& library) {
  std::size_t (*version)() = library.find("cudnnGetVersion");
  return version_text(static_cast<int>(version()));
}

// Properties 0, 1 and 2 are the parts of the version; status 0 is success.
std::string cublas_version(const Library& library) {
  int (*property)(int, int*) = library.find("cublasGetProperty");
  int parts[3] = {};
  for (int k = 0; k < 3; ++k) property(k, &parts[k]);
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

std::string nccl_version(const Library& library) {
  int (*version)(int*) = library.find("ncclGetVersion");
  int number = 0;
  version(&number);
  return version_text(number);
}

template <class Version>
std::string named(std::string_view name, std::string_view file, const Version& version) try {
  return fmt::format("{} {}", name, version(Library(file)));
} catch (const EnvironmentError&) {
  return fmt::format("no {}", name);
}

}  // namespace

std::string library_versions() {
  return fmt::format("{}, {}, {}", named("cuDNN", kCudnn, cudnn_version),
                     named("cuBLAS", kCublas, cublas_version), named("NCCL", kNccl, nccl_version));
}

}  // namespace strata::cuda

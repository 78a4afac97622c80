// Whole workflows, each drawn from a hash of the bytes: tests/sim/workflow.

#include "tests/sim/workflow/workflow.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view bytes) {
    std::string folder = std::filesystem::temp_directory_path() / "strata_workflow_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    const std::uint64_t seed = std::hash<std::string_view>()(bytes);
    const auto found = strata::testing::try_workflow(seed, folder);
    std::filesystem::remove_all(folder);
    for (const std::string& fault : found.faults) {
      std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), fault.c_str());
    }
    if (!found.faults.empty()) std::abort();
  });
}

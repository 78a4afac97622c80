// Whole cases, each drawn from a hash of the bytes, and all relations held to it:
// tests/metamorphic.

#include "tests/metamorphic/metamorphic.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view bytes) {
    std::string folder = std::filesystem::temp_directory_path() / "strata_metamorphic_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    strata::testing::Metamorphic room(folder);
    room.try_case(std::hash<std::string_view>()(bytes));
    std::filesystem::remove_all(folder);
    for (const auto& fault : room.faults()) {
      std::fprintf(stderr, "%s: %s\n  %s\n", fault.relation.c_str(), fault.what.c_str(),
                   fault.text.c_str());
    }
    if (!room.faults().empty()) std::abort();
  });
}

#pragma once

// A case whose step is time on links alone: four products of 1000 x 1000 without bias or loss, on
// two devices that compute in no time, joined by a link of 1 GB/s and 1 ms each way.

#include <fstream>
#include <string>

#include "sim/case/predict.h"
#include "tests/folder.h"

namespace strata::testing {

inline void set_toy_memory(const Folder& folder, const std::string& memory) {
  std::ofstream file(folder.file("quick.toml"));
  file << R"(kind = "quick"
description = "no time but on the links"
[provenance]
date = "2026-01-01"
method = "chosen"
command = "none"
[device]
memory_capacity = { value = ")"
       << memory << R"(", source = "chosen" }
memory_bandwidth = { value = "1000000 TB/s", source = "chosen" }
[peak]
fp32 = { value = "1000000000 TFLOP/s", source = "chosen" }
[efficiency]
launch = { value = "0 s", source = "chosen" }
memory = { value = 1, source = "chosen" }
gemm = { value = 1, source = "chosen" }
winograd = { value = 0, source = "chosen" }
direct = { value = 1, source = "chosen" }
half_tile = { value = 0, source = "chosen" }
half_depth = { value = 0, source = "chosen" }
tile_m = { value = 1, source = "chosen" }
tile_n = { value = 1, source = "chosen" }
split_k = { value = 1024, source = "chosen" }
cores = { value = 1, source = "chosen" }
)";
}

/// Its files are in the folder.
inline CaseRequest toy_case(const Folder& folder) {
  std::ofstream net(folder.file("net.toml"));
  net << "name = \"net\"\n[[layer]]\nname = \"data\"\nop = \"input\"\nshape = [1000, 1, 1]\n";
  for (int i = 1; i <= 4; ++i) {
    net << "[[layer]]\nname = \"fc" << i << "\"\nop = \"fc\"\nout_features = 1000\nbias = false\n";
  }
  std::ofstream cluster(folder.file("two.toml"));
  cluster << R"(name = "two"
[grid]
hosts = 1
devices_per_host = 2
kind = "quick"
[grid.intra]
topology = "all-to-all"
bandwidth = "1 GB/s"
latency = "1 ms"
)";
  set_toy_memory(folder, "16 GiB");
  CaseRequest request;
  request.model = folder.file("net.toml");
  request.cluster = folder.file("two.toml");
  request.profiles = {folder.file("quick.toml")};
  return request;
}

}  // namespace strata::testing

// A cluster file: read and, where it is sound, routed.

#include "sim/cluster/cluster_file.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Cluster cluster = strata::parse_cluster(text, "a.toml");
    const strata::DeviceId first(0), last(cluster.device_count() - 1);
    if (first != last) cluster.route(first, last);
  });
}

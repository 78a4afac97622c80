// KEY=VALUE of a what-if, for a cluster and for a network: what is changed stays sound.

#include "sim/graph/what_if.h"

#include <cmath>
#include <cstdlib>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/graph/zoo.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "link",   "device", "layer",          "bandwidth", "latency", "speed",   "intra",
    "inter",  "*",      "gpu0",           "host0",     "p100",    "first:1", "last:2",
    "conv2d", "conv1",  "host0/gpu0>nic", "25 GB/s",   "1 us",    "0.5x",    "2x"};
constexpr std::string_view kLines[] = {"link.inter.bandwidth=25 GB/s", "link.*.latency=2x",
                                       "device.first:1.speed=0.5", "layer.conv2d.speed=2x"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

void check(const strata::Cluster& cluster) {
  for (const strata::Link& link : cluster.links()) {
    if (!(link.bandwidth.value > 0) || !(link.latency.value >= 0)) std::abort();
  }
  for (const strata::Device& device : cluster.devices()) {
    if (!(device.speed > 0) || !std::isfinite(device.speed)) std::abort();
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const strata::Cluster cluster = strata::preset_cluster("p100-2x2");
  static const strata::Graph graph = strata::build_zoo("lenet5", 1);
  const auto split = [](std::string_view text) {
    const std::size_t at = std::min(text.find('='), text.size());
    return std::pair(text.substr(0, at), text.substr(std::min(at + 1, text.size())));
  };
  strata::fuzz(data, size, [&](std::string_view text) {
    const auto [key, value] = split(text);
    check(strata::apply(cluster, key, value));
  });
  return strata::fuzz(data, size, [&](std::string_view text) {
    const auto [selector, value] = split(text);
    strata::with_layer_speed(graph, selector, strata::parse_layer_speed(value));
  });
}

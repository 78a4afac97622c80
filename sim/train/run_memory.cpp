#include "sim/train/run_memory.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/measure/host_memory.h"
#include "sim/text/units.h"
#include "sim/train/step_record.h"

namespace strata {
namespace {

// What the host keeps beside the devices: the batch, repeated (dataset.h), the network's weights
// before and after, and all that --check compares.
Bytes kept_by_host(const Graph& graph, bool compared) {
  std::int64_t values = graph.parameters() * (compared ? 9 : 2);
  for (const Layer& layer : graph.layers()) {
    if (is_input(layer.op)) values += 2 * volume(layer.output);
  }
  return Bytes{values * static_cast<std::int64_t>(sizeof(float))};
}

Bytes needed(const RunRequest& request, const Case& input, const Plan& plan) {
  return memory_estimate(plan, input.cluster) + kept_by_host(input.graph, request.check);
}

std::optional<Bytes> free_memory(const RunRequest& request) {
  return request.memory ? request.memory : available_memory();
}

bool are_cores(const Cluster& cluster) {
  return cluster.devices().front().kind == "cpu";
}

// The cut, the one device that follows it and, where that has doubts, the nudged one: they take
// turns, and keep what they have.
Bytes most_of_a_device(const Case& input, const Plan& plan, const Plan& alone) {
  const std::vector<Bytes> cut = memory_by_device(plan, input.cluster);
  const std::vector<Bytes> one = memory_by_device(alone, input.cluster);
  Bytes most;
  for (std::size_t d = 0; d < cut.size(); ++d) most = std::max(most, cut[d] + one[d] * 2);
  return most;
}

}  // namespace

void check_memory(const RunRequest& request, const Case& input, const Plan& plan) {
  if (!are_cores(input.cluster)) return;
  const auto free = free_memory(request);
  const Bytes need = needed(request, input, plan);
  if (!free || need <= *free) return;
  throw EnvironmentError(fmt::format(
      "not enough memory: {} on {} needs about {}, {} is free; a smaller `batch` needs less",
      request.input.model, request.devices, format_bytes(need), format_bytes(*free)));
}

std::string why_not_by_layer(const Runner& runner, const RunRequest& request, const Case& input,
                             const Plan& plan, const Plan& alone) {
  if (request.input.training.sync.zero == Zero::parameters) {
    return "replicas share parameters: no device has a layer's";
  }
  if (!runner.is_one_process()) return "each of several processes knows its own shards alone";
  // What shards show and what of it is in doubt, at most all that one device made.
  Bytes need = record_bytes(input.graph, plan) + record_bytes(input.graph, alone);
  if (const auto own = runner.own_memory(request.devices)) {
    const Bytes of_device = most_of_a_device(input, plan, alone);
    if (of_device > *own) {
      return fmt::format(
          "that needs about {} of a device's memory, it has {}; a smaller batch needs less",
          format_bytes(of_device), format_bytes(*own));
    }
  } else if (are_cores(input.cluster)) {
    const Bytes one = needed(request, input, alone);
    need += needed(request, input, plan) + one + one;
  }
  const auto free = free_memory(request);
  if (!free || need <= *free) return "";
  return fmt::format("that needs about {} of memory, {} is free; a smaller batch needs less",
                     format_bytes(need), format_bytes(*free));
}

}  // namespace strata

#include "sim/study/run/run_memory.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/study/case/host_memory.h"
#include "sim/study/run/step_record.h"
#include "sim/text/units.h"

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

}  // namespace

void check_memory(const RunRequest& request, const Case& input, const Plan& plan) {
  if (!are_cores(input.cluster)) return;
  const auto free = free_memory(request);
  const Bytes need = needed(request, input, plan);
  if (!free || need <= *free) return;
  throw EnvironmentError(fmt::format(
      "not enough memory: {} on {} needs about {}, {} is free; a smaller --batch needs less",
      request.model, request.devices, format_bytes(need), format_bytes(*free)));
}

std::string why_not_by_layer(const Runner& runner, const RunRequest& request, const Case& input,
                             const Plan& plan, const Plan& alone) {
  if (!runner.is_one_process()) return "each of several processes knows its own shards alone";
  Bytes need = record_bytes(input.graph, plan);
  if (are_cores(input.cluster)) {  // all three that take turns keep what they have
    const Bytes one = needed(request, input, alone);
    need += needed(request, input, plan) + one + one;
  }
  const auto free = free_memory(request);
  if (!free || need <= *free) return "";
  return fmt::format("that needs about {} of memory, {} is free; a smaller --batch needs less",
                     format_bytes(need), format_bytes(*free));
}

}  // namespace strata

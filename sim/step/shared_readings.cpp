#include "sim/step/shared_readings.h"

#include <algorithm>
#include <vector>

#include "sim/graph/regions.h"
#include "sim/step/redistribution.h"

namespace strata {
namespace {

// Whether each shard of both reads the same box, one alone.
bool read_alike(const Graph& graph, const Strategy& strategy, Reading a, Reading b) {
  const Config &config = strategy[a.layer], &other = strategy[b.layer];
  const Layer &layer = graph[a.layer], &beside = graph[b.layer];
  if (config != other || has_copies(layer, config) != has_copies(beside, other)) return false;
  const AccessMap access = access_map(graph, a.layer, a.input),
                  other_access = access_map(graph, b.layer, b.input);
  if (access.row_major || other_access.row_major) return false;
  const Partition cut = partition(layer, config.degrees),
                  other_cut = partition(beside, other.degrees);
  const Extents& source = graph[layer.inputs[a.input]].output;
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    if (needed_input(access, source, cut.tile(shard)) !=
        needed_input(other_access, source, other_cut.tile(shard))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::map<Reading, Reading> shared_readings(const Graph& graph, const Strategy& strategy,
                                           const Stages& stages) {
  std::map<Reading, Reading> shared;
  if (stages.stages() <= 1) return shared;
  std::vector<std::vector<Reading>> firsts(graph.size());  // by producer: which differ
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (shared_reader(graph, strategy, layer).valid()) continue;
    for (std::size_t input = 0; input < graph[layer].inputs.size(); ++input) {
      const Reading reading{layer, input};
      if (!comes_from_another_stage(graph, stages, layer, input)) continue;
      if (earlier_reading(graph[layer], input)) continue;
      std::vector<Reading>& known = firsts[graph[layer].inputs[input]()];
      const auto first = std::find_if(known.begin(), known.end(), [&](Reading earlier) {
        return stages.chunk_of_layer[earlier.layer()] == stages.chunk_of_layer[i] &&
               graph.needs_gradient(earlier.layer) == graph.needs_gradient(layer) &&
               read_alike(graph, strategy, earlier, reading);
      });
      if (first == known.end()) {
        known.push_back(reading);
      } else {
        shared.emplace(reading, *first);
      }
    }
  }
  return shared;
}

}  // namespace strata

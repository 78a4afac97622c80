#include "sim/strategy/stages.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace strata {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

class ChunkFinder {
 public:
  ChunkFinder(const Graph& graph, const Strategy& strategy) : graph_(graph), strategy_(strategy) {
    std::size_t end = 0;
    for (const Config& config : strategy.configs()) {
      for (DeviceId device : config.devices) end = std::max(end, device() + 1);
    }
    last_chunk_.assign(end, kNone);
  }

  Stages run() && {
    found_.chunk_of_layer.assign(graph_.size(), 0);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!is_input(graph_[LayerId(i)].op)) add(LayerId(i));
    }
    place_inputs();
    number_stages();
    if (turns_back()) split_turn();
    return std::move(found_);
  }

 private:
  std::uint32_t current() const { return static_cast<std::uint32_t>(found_.chunks.size() - 1); }

  void add(LayerId layer) {
    const std::span<const DeviceId> devices = strategy_[layer].devices;
    // Neighbours mostly share one list.
    const bool same = devices.data() == last_devices_.data() && !devices.empty();
    if (!same) {
      const bool meets = std::any_of(devices.begin(), devices.end(), [&](DeviceId device) {
        return !found_.chunks.empty() && last_chunk_[device()] == current();
      });
      if (!meets) begin_chunk(layer);
      for (DeviceId device : devices) hold(device);
    }
    last_devices_ = devices;
    found_.chunks.back().last = layer;
    found_.chunk_of_layer[layer()] = current();
  }

  void begin_chunk(LayerId layer) {
    found_.chunks.push_back({.first = layer, .last = layer, .devices = {}});
    joined_.push_back(current());
  }

  void hold(DeviceId device) {
    std::uint32_t& chunk = last_chunk_[device()];
    if (chunk == current()) return;
    if (chunk != kNone) join(chunk, current());
    chunk = current();
    found_.chunks.back().devices.push_back(device);
  }

  // The first of the chunks that belong to one stage.
  std::uint32_t root(std::uint32_t chunk) {
    while (joined_[chunk] != chunk) chunk = joined_[chunk] = joined_[joined_[chunk]];
    return chunk;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const auto [first, later] = std::minmax({root(a), root(b)});
    joined_[later] = first;
  }

  void place_inputs() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const std::span<const LayerId> readers = graph_.consumers(LayerId(i));
      if (!is_input(graph_[LayerId(i)].op) || readers.empty()) continue;
      found_.chunk_of_layer[i] = found_.chunk_of_layer[readers.front()()];
    }
  }

  void number_stages() {
    std::vector<std::uint32_t> numbers(found_.chunks.size(), kNone);
    for (std::uint32_t k = 0; k < found_.chunks.size(); ++k) {
      Chunk& chunk = found_.chunks[k];
      std::sort(chunk.devices.begin(), chunk.devices.end());
      std::uint32_t& number = numbers[root(k)];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(found_.devices.size());
        found_.devices.emplace_back();
      }
      chunk.stage = number;
    }
    for (std::size_t i = 0; i < last_chunk_.size(); ++i) {
      if (last_chunk_[i] == kNone) continue;
      found_.devices[found_.chunks[last_chunk_[i]].stage].emplace_back(i);
    }
  }

  bool turns_back() const {
    const std::size_t stages = found_.devices.size();
    if (stages < 2 || found_.chunks.size() != 2 * stages - 1) return false;
    for (std::size_t k = 0; k < found_.chunks.size(); ++k) {
      if (found_.chunks[k].stage != (k < stages ? k : 2 * stages - 2 - k)) return false;
    }
    return true;
  }

  // Where half of its multiply-adds are done and its next product has not begun; of places there,
  // the last at which one tensor goes on.
  void split_turn() {
    const std::size_t turn = found_.devices.size() - 1;
    Chunk& chunk = found_.chunks[turn];
    std::int64_t all = 0, done = 0;
    for (std::size_t i = chunk.first(); i <= chunk.last(); ++i) all += macs(graph_, LayerId(i));
    std::size_t at = chunk.first(), last_reader = 0;
    for (; at < chunk.last(); ++at) {
      done += macs(graph_, LayerId(at));
      if (2 * done >= all) break;
      note_readers(at, last_reader);
    }
    std::size_t end = at;
    for (; at < chunk.last() && (at == end || macs(graph_, LayerId(at)) == 0); ++at) {
      if (last_reader <= at) end = at;
      note_readers(at, last_reader);
    }
    if (end == chunk.last()) return;
    Chunk second = chunk;
    chunk.last = LayerId(end);
    second.first = LayerId(end + 1);
    for (std::size_t i = end + 1; i < graph_.size(); ++i) ++found_.chunk_of_layer[i];
    found_.chunks.insert(found_.chunks.begin() + static_cast<std::ptrdiff_t>(turn) + 1,
                         std::move(second));
  }

  void note_readers(std::size_t layer, std::size_t& last) const {
    for (LayerId reader : graph_.consumers(LayerId(layer))) last = std::max(last, reader());
  }

  const Graph& graph_;
  const Strategy& strategy_;
  Stages found_;
  std::vector<std::uint32_t> last_chunk_;  // by device
  std::vector<std::uint32_t> joined_;      // by chunk: an earlier one of its stage, or itself
  std::span<const DeviceId> last_devices_;
};

}  // namespace

Stages stages_of(const Graph& graph, const Strategy& strategy) {
  return ChunkFinder(graph, strategy).run();
}

bool comes_from_another_stage(const Graph& graph, const Stages& stages, LayerId layer,
                              std::size_t input) {
  const LayerId producer = graph[layer].inputs[input];
  return stages.stages() > 1 && !is_input(graph[producer].op) &&
         stages.chunk_of(producer).stage != stages.chunk_of(layer).stage;
}

Segments within_chunks(const Graph& graph, const Stages& stages, const Segments& segments) {
  Segments result(segments.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (segments[i] == 0) continue;
    const std::uint32_t chunk = stages.stages() > 1 ? stages.chunk_of_layer[i] : 0;
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    result[i] = numbers.try_emplace({segments[i], chunk}, next).first->second;
  }
  return result;
}

Pipeline pipeline_of(const Graph& graph, const Stages& stages) {
  if (stages.stages() == 1) return {};
  Pipeline pipeline{stages.stages(), {}, {}};
  pipeline.stage_of.reserve(stages.chunks.size());
  for (const Chunk& chunk : stages.chunks) pipeline.stage_of.push_back(chunk.stage);
  pipeline.feeds_on.resize(stages.chunks.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::uint32_t chunk = stages.chunk_of_layer[i];
    for (LayerId input : graph[LayerId(i)].inputs) {
      const std::uint32_t before = stages.chunk_of_layer[input()];
      if (before != chunk && !is_input(graph[input].op)) pipeline.feeds_on[chunk].push_back(before);
    }
  }
  for (std::vector<std::uint32_t>& feeds : pipeline.feeds_on) {
    std::sort(feeds.begin(), feeds.end());
    feeds.erase(std::unique(feeds.begin(), feeds.end()), feeds.end());
  }
  return pipeline;
}

}  // namespace strata

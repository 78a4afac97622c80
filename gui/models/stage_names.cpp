#include "gui/models/stage_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace strata::gui {
namespace {

std::string chunk_text(const Graph& graph, const Chunk& chunk) {
  const std::string& first = graph[chunk.first].name;
  return chunk.first == chunk.last ? first : fmt::format("{} to {}", first, graph[chunk.last].name);
}

}  // namespace

StageNames::StageNames(const Graph& graph, const Strategy& strategy) {
  Stages stages = stages_of(graph, strategy);
  if (stages.stages() < 2) return;
  stages_ = std::move(stages);
  std::vector<std::size_t> layers(stages_.stages());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!is_input(graph[LayerId(i)].op)) ++layers[stage_of(LayerId(i))];
  }
  std::vector<std::string> texts(stages_.stages());
  for (const Chunk& chunk : stages_.chunks) {
    std::string& text = texts[chunk.stage];
    text += (text.empty() ? "" : ", ") + chunk_text(graph, chunk);
  }
  headings_.resize(texts.size());
  for (std::uint32_t stage = 0; stage < texts.size(); ++stage) {
    headings_[stage] = fmt::format("{}: {} ({} layer{})", name(stage), texts[stage], layers[stage],
                                   layers[stage] == 1 ? "" : "s");
    for (const DeviceId device : stages_.devices[stage]) {
      if (device() >= of_device_.size()) of_device_.resize(device() + 1);
      of_device_[device()] = stage + 1;
    }
  }
}

std::optional<std::uint32_t> StageNames::stage_of(DeviceId device) const {
  const bool known = device() < of_device_.size() && of_device_[device()] > 0;
  return known ? std::optional(of_device_[device()] - 1) : std::nullopt;
}

std::string StageNames::name(std::uint32_t stage) const {
  return fmt::format("stage {} of {}", stage + 1, count());
}

std::string StageNames::name(LayerId layer) const {
  std::string text = name(stage_of(layer));
  if (stages_.chunks.size() == count()) return text;
  return text + fmt::format(", chunk {} of {}", stages_.chunk_of_layer[layer()] + 1,
                            stages_.chunks.size());
}

}  // namespace strata::gui

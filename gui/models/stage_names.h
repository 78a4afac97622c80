#pragma once

// The stages of a strategy's pipeline, for people: numbers from 1 on, and which layers each has.
// Value; thread-safe to read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/strategy/stages.h"

namespace strata::gui {

class StageNames {
 public:
  /// One stage.
  StageNames() = default;
  StageNames(const Graph& graph, const Strategy& strategy);

  std::size_t count() const { return headings_.empty() ? 1 : headings_.size(); }
  bool several() const { return count() > 1; }

  // Where there are several:

  std::uint32_t stage_of(LayerId layer) const { return chunk_of(layer).stage; }
  /// Nothing of a device without layers.
  std::optional<std::uint32_t> stage_of(DeviceId device) const;
  /// "stage 2 of 4"
  std::string name(std::uint32_t stage) const;
  /// "stage 2 of 4: conv3 to conv5, fc6 to fc7 (12 layers)"; network inputs are not counted.
  const std::string& heading(std::uint32_t stage) const { return headings_[stage]; }
  /// "stage 2 of 4", or "stage 2 of 4, chunk 6 of 8" where stages have several chunks.
  std::string name(LayerId layer) const;

 private:
  const Chunk& chunk_of(LayerId layer) const { return stages_.chunk_of(layer); }

  Stages stages_;
  std::vector<std::string> headings_;     // by stage
  std::vector<std::uint32_t> of_device_;  // by device: 1 + its stage, 0 for none
};

}  // namespace strata::gui

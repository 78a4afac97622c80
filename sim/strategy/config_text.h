#pragma once

// Configs as people read them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.h"

namespace strata {

/// "n=2 c=4", "r=4 scatter=n"; "one device" where nothing is cut.
std::string config_text(const Degrees& degrees);
/// The same; ", devices 4 to 7" where the shards lie on others than the first devices (numbered
/// from 0), ", placed" where they are not row-major or there are gaps.
std::string config_text(const Config& config);

/// What a dim of a layer's output is to people.
struct DimWords {
  std::string_view name;   ///< "c", "tokens", "heads"
  std::string_view parts;  ///< what is divided: "channels", "tokens", "heads"
};
/// "tokens" for the w of a sequence, in a network that has some; "heads" for the channels of an
/// attention, which are cut by whole heads; else the dim's letter.
DimWords dim_words(const Graph& graph, LayerId layer, Dim dim);
/// Of several layers, that of the most.
DimWords dim_words(const Graph& graph, std::span<const LayerId> layers, Dim dim);
/// The cut of these layers in their words: "n=2 tokens=4", "n=2 heads=4". Files and commands have
/// letters.
std::string config_text(const Graph& graph, std::span<const LayerId> layers,
                        const Degrees& degrees);
std::string config_text(const Graph& graph, std::span<const LayerId> layers, const Config& config);

/// Layers that follow one another, all cut alike: from the first to the last. Inputs are left out.
struct EqualCuts {
  LayerId first, last;
};
std::vector<EqualCuts> equal_cuts(const Graph& graph, const Strategy& strategy);
/// "conv1", "conv1 .. pool5".
std::string layers_text(const Graph& graph, const EqualCuts& run);

}  // namespace strata

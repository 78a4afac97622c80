#pragma once

// Two scenes beside each other: which layers are cut otherwise, and where the difference of their
// step times comes from. Layers are the same where their names are. Pure functions; thread-safe.

#include <optional>
#include <string>
#include <vector>

#include "gui/models/compare/contributions.h"

namespace strata::gui {

struct LayerDifference {
  std::string layer;
  std::optional<LayerId> before, after;  ///< its number on each side; nothing where it is not there
  std::string cut_before, cut_after;     ///< "n=4 c=2"
  LayerTerms eq1_before, eq1_after;
  Seconds step_before, step_after;  ///< its part of the step: its time on the critical path
  bool recut = false;               ///< the cut or its devices are others

  Seconds eq1_change() const { return eq1_after.total() - eq1_before.total(); }
  Seconds step_change() const { return step_after - step_before; }
};

/// All layers but the network's inputs, in the order of `after`, then those that only `before` has.
std::vector<LayerDifference> layer_differences(const Scene& before, const Scene& after);
/// Those that are cut otherwise, or that cost otherwise.
std::vector<LayerDifference> changed_layers(const Scene& before, const Scene& after);

/// What the bars of a waterfall are summed over.
enum class WaterfallBy : std::uint8_t { layer, work, eq1_layer, eq1_term };

struct WaterfallBar {
  std::string what;
  Seconds from, to;                   ///< it begins where the one before it ends
  std::optional<LayerId> layer = {};  ///< in the scene
  bool total = false;                 ///< from 0: a side's whole time
  Seconds change() const { return to - from; }
};

/// The baseline's time first, the scene's last, and between them what leads from the one to the
/// other, the largest first; what is small stands together, so that there are at most `most` bars
/// between.
std::vector<WaterfallBar> waterfall(const Scene& before, const Scene& after, WaterfallBy by,
                                    std::size_t most = 14);

/// What its bars are, for people.
std::string waterfall_caption(WaterfallBy by);

/// The layers' cuts taken over from the baseline, as one edit: the document of `after` with its
/// strategy edited. Layers that the baseline does not have stay.
Document with_cuts_of(const Scene& before, const Scene& after,
                      const std::vector<std::string>& layers);

}  // namespace strata::gui

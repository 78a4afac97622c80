#pragma once

// Where the difference of two scenes' times comes from, as bars that lead from the one to the other
// and add up to it exactly. Pure functions; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/scene.h"
#include "sim/timeline/critical_path.h"

namespace strata::gui {

/// What the bars of a waterfall are summed over.
enum class WaterfallBy : std::uint8_t { layer, work, eq1_layer, eq1_term };

struct WaterfallBar {
  std::string what;
  Seconds from, to;                    ///< it begins where the one before it ends
  std::optional<LayerId> layer = {};   ///< in the scene
  std::vector<LayerId> gathered = {};  ///< of a bar that several stand together in
  bool total = false;                  ///< from 0: a side's whole time
  Seconds change() const { return to - from; }
};

/// The baseline's time first, the scene's last, and between them what leads from the one to the
/// other, the largest first.
std::vector<WaterfallBar> waterfall(const Scene& before, const Scene& after, WaterfallBy by);
/// With at most `most` bars (at least three): what is small between the totals stands together as
/// one, so that they still add up.
std::vector<WaterfallBar> gathered(std::vector<WaterfallBar> bars, std::size_t most);

/// Where bars stand on an axis from 0 to 1: from zero on, so that they are as long as what they
/// stand for. Where all that changes is less than a tenth of the whole, the axis is broken: most of
/// what the totals have in common is left out, which a mark at `kBreak` has to say.
struct WaterfallAxis {
  static constexpr double kBreak = 0.1;

  Seconds left_out;  ///< from zero to here; nothing where it is not broken
  Seconds high{1};
  bool broken() const { return left_out.value > 0; }
  double place(Seconds at) const;
};
WaterfallAxis axis_of(const std::vector<WaterfallBar>& bars);

/// What its bars are, for people: in a line, and in full.
std::string waterfall_title(WaterfallBy by);
std::string waterfall_caption(WaterfallBy by);

// What a step's time is made of, in parts that add up to it. Under the simulation these are the
// tasks of the critical path in the steady window, per step: each begins exactly when the one
// before it ends. Under Eq. 1 they are its terms. Pure functions; thread-safe.

/// In the order of layers, then kinds; none of no time. Their sum is the step time but for
/// rounding: what the path leaves over is `waiting`.
std::vector<PathPart> path_contributions(const Scene& scene);

/// t_C stands as `forward` (it holds the backward passes too), t_X as `transfer`, t_S as `sync`.
std::vector<PathPart> eq1_contributions(const Scene& scene);

}  // namespace strata::gui

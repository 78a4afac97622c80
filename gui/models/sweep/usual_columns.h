#pragma once

// What a chart shows before anybody chose. Pure; thread-safe.

#include <optional>
#include <vector>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {

/// Whether its values only tell repetitions of one case apart: seeds, and what costs scatter by.
bool repeats(const ResultColumn& column);

/// x: what was varied; y: a time; series: what is compared, the strategies where they differ.
struct ChartColumns {
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> series;
};
std::optional<ChartColumns> usual_columns(const ResultSet& results);

/// The columns that differ: settings and what matters of the answers, repetitions last. At most so
/// many: those go first that say least.
std::vector<std::size_t> usual_axes(const ResultSet& results, std::size_t most = 12);

}  // namespace strata::gui

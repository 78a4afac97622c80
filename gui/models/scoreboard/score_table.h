#pragma once

// The strategies that were tried on one case, beside each other: the step, how it compares with the
// baseline's and with what is proved, memory, and Eq. 1. Lives in the window's thread.

#include <optional>

#include "gui/models/row_table.h"
#include "gui/models/scoreboard.h"

namespace strata::gui {

/// What all rows are compared with.
struct ScoreContext {
  StrategyChoice chosen = {};         ///< the document's
  std::optional<Seconds> baseline{};  ///< its step
  Seconds lower_bound = {};           ///< proved; 0: nothing is
};

class ScoreTable : public RowTable<ScoreContext, TriedStrategy> {
  Q_OBJECT

 public:
  enum Column { strategy, step, speedup, gap, memory, fits, eq1, communication, kColumns };

  explicit ScoreTable(QObject* parent = nullptr);

  /// The row of the document's strategy.
  std::optional<int> chosen_row() const;
};

}  // namespace strata::gui

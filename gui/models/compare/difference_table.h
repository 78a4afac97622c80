#pragma once

// The layers that two scenes cut or pay for otherwise, as a table: cuts on both sides, what changes
// under Eq. 1, and each side's time on the critical path of a step. However it is sorted, layers
// that did not change come last.

#include <utility>
#include <variant>
#include <vector>

#include "gui/models/compare/differences.h"
#include "gui/models/row_table.h"

namespace strata::gui {

class DifferenceTable : public RowTable<std::monostate, LayerDifference> {
  Q_OBJECT

 public:
  enum Column {
    layer,
    cut_before,
    cut_after,
    step,
    eq1,
    compute,
    transfer,
    sync,
    step_before,
    step_after,
    kColumns
  };
  /// Where a cell holds a change: its seconds, as a double.
  static constexpr int kChangeRole = detail;

  explicit DifferenceTable(QObject* parent = nullptr);

  void show(std::vector<LayerDifference> rows) { RowTable::show({}, std::move(rows)); }

 protected:
  int group_of(const LayerDifference& row) const override { return row.changed() ? 0 : 1; }
};

/// "+3.1 ms", "-12 us", "" for none.
QString signed_seconds(Seconds change);

}  // namespace strata::gui

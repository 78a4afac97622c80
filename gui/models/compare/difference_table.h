#pragma once

// The layers that two scenes cut or pay for otherwise, as a table: cuts on both sides, what changes
// under Eq. 1, and each side's time on the critical path of a step. However it is sorted, layers
// that did not change come last.

#include <vector>

#include "gui/models/compare/differences.h"
#include "gui/models/sortable_table.h"

namespace strata::gui {

class DifferenceTable : public SortableTable {
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
  static constexpr int kChangeRole = Qt::UserRole;

  explicit DifferenceTable(QObject* parent = nullptr);

  void show(std::vector<LayerDifference> rows);
  const std::vector<LayerDifference>& rows() const { return rows_; }
  QString csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  std::vector<LayerDifference> rows_;
};

/// "+3.1 ms", "-12 us", "" for none.
QString signed_seconds(Seconds change);

}  // namespace strata::gui

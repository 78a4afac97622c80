#pragma once

// What crosses a link, as a table for views: bytes by layer and devices. Lives in the window's
// thread.

#include <functional>
#include <vector>

#include "gui/models/cluster/link_transfers.h"
#include "gui/models/sortable_table.h"

namespace strata::gui {

class LinkTransferTable : public SortableTable {
  Q_OBJECT

 public:
  enum Column { layer, phase, bytes, from, to, tasks, kColumns };

  explicit LinkTransferTable(QObject* parent = nullptr);

  /// `scene` may be null where there are no rows.
  void show(ScenePtr scene, std::vector<LinkTransfer> rows);
  const std::vector<LinkTransfer>& rows() const { return rows_; }
  double total_bytes() const;
  /// The rows as they stand, to be written by any thread.
  std::function<QString()> csv_later() const;
  QString csv() const { return csv_later()(); }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  static QString text(const Scene& scene, const LinkTransfer& row, int column);
  bool before(const LinkTransfer& a, const LinkTransfer& b, int column) const;

  ScenePtr scene_;
  std::vector<LinkTransfer> rows_;
};

}  // namespace strata::gui

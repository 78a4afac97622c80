#pragma once

// What crosses a link, as a table for views: bytes by layer and devices. Lives in the window's
// thread.

#include <vector>

#include "gui/models/cluster/link_transfers.h"
#include "gui/models/sortable_table.h"

namespace strata::gui {

class LinkTransferTable : public SortableTable {
  Q_OBJECT

 public:
  enum Column { layer, phase, bytes, from, to, tasks, kColumns };

  explicit LinkTransferTable(QObject* parent = nullptr) : SortableTable(parent) {}

  /// `scene` may be null where there are no rows.
  void show(ScenePtr scene, std::vector<LinkTransfer> rows);
  const std::vector<LinkTransfer>& rows() const { return rows_; }
  double total_bytes() const;
  QString csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QString text(const LinkTransfer& row, int column) const;
  bool before(const LinkTransfer& a, const LinkTransfer& b, int column) const;

  ScenePtr scene_;
  std::vector<LinkTransfer> rows_;
};

}  // namespace strata::gui

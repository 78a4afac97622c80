#pragma once

// What crosses a link: for each layer and kind of work the bytes from one device to another in a
// stretch of time, or in one step where none is picked. A transfer that the stretch holds in part
// counts with that part. A table for views.

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/compare/contributions.h"
#include "gui/models/selection.h"

namespace strata::gui {

struct LinkTransfer {
  LayerId layer;
  WorkKind kind = WorkKind::transfer;
  bool backward = false;             ///< gradients of an edge
  std::optional<DeviceId> from, to;  ///< nothing for a group, which all its devices take part in
  std::size_t devices = 0;           ///< of the group
  double bytes = 0;
  std::size_t count = 0;  ///< of the tasks
};

/// By layer, then kind and devices. Pure; thread-safe.
std::vector<LinkTransfer> link_transfers(const Scene& scene, LinkId link,
                                         const std::optional<TimeRange>& range);

class LinkTransferTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { layer, phase, bytes, from, to, tasks, kColumns };

  explicit LinkTransferTable(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

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

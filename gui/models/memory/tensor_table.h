#pragma once

// The tensors that a device holds at one moment, the largest first. Lives in the window's thread.

#include <QAbstractTableModel>
#include <string>
#include <vector>

#include "gui/models/memory/memory_stack.h"

namespace strata::gui {

class TensorTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kLayer, kBytes, kWhat, kShare, kFrom, kUntil, kShard, kColumns };
  /// Of kWhat: the MemoryUseKind that it belongs to, as an int.
  static constexpr int kUseRole = Qt::UserRole + 1;

  explicit TensorTable(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Null: no rows.
  void show(ScenePtr scene, DeviceId device, double at);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  /// Numbers to sort by are in Qt::UserRole.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

  LayerId layer(int row) const;
  Bytes total() const { return total_; }
  /// With a first line of names.
  std::string csv() const;

 private:
  const Buffer& buffer(int row) const;
  QString text(int row, int column) const;
  QVariant number(int row, int column) const;

  ScenePtr scene_;
  std::vector<LiveTensor> tensors_;
  Bytes total_;
};

}  // namespace strata::gui

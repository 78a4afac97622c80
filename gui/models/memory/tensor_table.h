#pragma once

// The tensors that a device holds at one moment. Lives in the window's thread.

#include <string>
#include <vector>

#include "gui/models/memory/memory_stack.h"
#include "gui/models/sortable_table.h"

namespace strata::gui {

class TensorTable : public SortableTable {
  Q_OBJECT

 public:
  enum Column { kLayer, kBytes, kWhat, kShare, kFrom, kUntil, kShard, kColumns };
  /// Of kWhat: the MemoryUseKind that it belongs to, as an int.
  static constexpr int kUseRole = Qt::UserRole + 1;

  explicit TensorTable(QObject* parent = nullptr);

  /// Null: no rows.
  void show(ScenePtr scene, DeviceId device, double at);

  int rowCount(const QModelIndex& parent = {}) const override;
  /// The numbers behind the texts are in Qt::UserRole.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order) override;

  LayerId layer(int row) const;
  Bytes total() const { return total_; }
  /// With a first line of names.
  std::string csv() const;

 private:
  const LiveTensor& at(int row) const { return tensors_[static_cast<std::size_t>(row)]; }
  const Buffer& buffer(const LiveTensor& tensor) const;
  QString text(const LiveTensor& live, int column) const;
  double number(const LiveTensor& live, int column) const;

  ScenePtr scene_;
  std::vector<LiveTensor> tensors_;
  Bytes total_;
};

}  // namespace strata::gui

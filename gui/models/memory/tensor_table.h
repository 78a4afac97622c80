#pragma once

// The tensors that a device holds at one moment. Lives in the window's thread.

#include <string>

#include "gui/models/memory/memory_stack.h"
#include "gui/models/row_table.h"

namespace strata::gui {

/// What is not null where there are rows, and how much they are together.
struct HeldTensors {
  ScenePtr scene;
  Bytes total = {};

  const Buffer& buffer(const LiveTensor& live) const {
    return scene->prediction.plan.buffers()[live.buffer];
  }
  QString layer(const LiveTensor& live) const {
    return QString::fromStdString(scene->input.graph[buffer(live).layer].name);
  }
};

class TensorTable : public RowTable<HeldTensors, LiveTensor> {
  Q_OBJECT

 public:
  enum Column { kLayer, kBytes, kWhat, kShare, kFrom, kUntil, kShard, kColumns };
  /// Of kWhat: the MemoryUseKind that it belongs to, as an int.
  static constexpr int kUseRole = detail;

  explicit TensorTable(QObject* parent = nullptr);

  /// Null: no rows.
  void show(ScenePtr scene, DeviceId device, double at);

  LayerId layer(int row) const {
    return context_.buffer(rows()[static_cast<std::size_t>(row)]).layer;
  }
  Bytes total() const { return context_.total; }
  /// With a first line of names.
  std::string csv() const;
};

}  // namespace strata::gui

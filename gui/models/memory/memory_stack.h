#pragma once

// What a device's memory holds over time, by purpose, and which tensors it holds at one moment.
// From the plan's buffers and a timeline, as sim/timeline/memory.h counts them. Pure; thread-safe.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/scene.h"
#include "gui/models/selection.h"
#include "sim/timeline/memory.h"

namespace strata::gui {

/// What memory is for; from the bottom of the stack to its top.
enum class MemoryUseKind : std::uint8_t {
  parameters,
  parameter_gradients,
  activations,
  gathered_inputs,
  activation_gradients
};
inline constexpr std::size_t kMemoryUseKinds = 5;
MemoryUseKind use_of(BufferKind kind);
std::string_view name(MemoryUseKind kind);  ///< "parameter gradients"

struct MemoryStack {
  struct Level {
    double at = 0;  ///< seconds; from then on
    std::array<std::int64_t, kMemoryUseKinds> bytes{};
    std::int64_t total() const;
  };
  std::vector<Level> levels;  ///< in order of time, the first at 0
  std::size_t peak = 0;       ///< the first of the highest, in the steady step where one is there
  Bytes capacity;             ///< of the device

  Bytes peak_bytes() const { return {levels[peak].total()}; }
  /// The level that holds at a time.
  const Level& level_at(double at) const;
  /// The highest level of those that hold within [begin, end].
  const Level& highest(double begin, double end) const;
};

/// What the top of the picture is.
enum class MemoryScale : std::uint8_t { peak, capacity };

/// Every device's stack, and the time of it all.
struct MemoryPicture {
  ScenePtr scene;
  std::vector<std::shared_ptr<const MemoryStack>>
      stacks;  ///< by device; a class shares one where its devices have as much memory
  double end = 0;
  TimeRange steady;           ///< the last step that is measured by: most others are like it
  std::int64_t highest = 0;   ///< of all peaks
  std::int64_t capacity = 0;  ///< the largest

  /// The capacity, where a device's peak comes near it; else it would press all to the ground.
  MemoryScale fitting_scale() const;
  /// One top for all devices, so that they can be compared.
  std::int64_t top(MemoryScale scale) const;
};
std::shared_ptr<const MemoryPicture> picture_memory(const ScenePtr& scene);

/// At multiples of 1, 2 or 5 times a power of ten, above 0 and below `top`; at most `most`.
std::vector<std::int64_t> byte_ticks(std::int64_t top, int most);

// The tensors that a device holds at one moment. Lives in the window's thread.

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

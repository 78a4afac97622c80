#pragma once

// What the user looks at: layers, a device, a link, a task, and a range of time. All views follow
// this one selection. Lives in the window's thread.

#include <QObject>
#include <optional>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"

namespace strata::gui {

/// A span of a timeline: one step's task.
struct PickedTask {
  std::size_t step = 0;
  TaskId task;
  bool operator==(const PickedTask&) const = default;
};

struct TimeRange {
  Seconds begin, end;
  Seconds length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

class Selection : public QObject {
  Q_OBJECT

 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  const std::vector<LayerId>& layers() const { return layers_; }
  bool has_layer(LayerId layer) const;
  std::optional<DeviceId> device() const { return device_; }
  std::optional<LinkId> link() const { return link_; }
  std::optional<PickedTask> task() const { return task_; }
  /// All of the timeline where nothing was picked.
  std::optional<TimeRange> range() const { return range_; }

  /// Each says so where it changes anything.
  void select_layers(std::vector<LayerId> layers);  ///< any order; kept sorted, each once
  void select_device(std::optional<DeviceId> device);
  void select_link(std::optional<LinkId> link);
  void select_task(std::optional<PickedTask> task);
  void select_range(std::optional<TimeRange> range);
  /// Nothing is selected: what was on the desk is gone.
  void clear();

 signals:
  void layers_changed();
  void device_changed();
  void link_changed();
  void task_changed();
  void range_changed();

 private:
  std::vector<LayerId> layers_;
  std::optional<DeviceId> device_;
  std::optional<LinkId> link_;
  std::optional<PickedTask> task_;
  std::optional<TimeRange> range_;
};

}  // namespace strata::gui

#pragma once

// What the devices of a recording do in a stretch of time, added up: how long they compute, how
// long they communicate, and what of that no computation hides. Sums are pure and thread-safe; the
// table lives in the window's thread.

#include <string>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/timeline/lanes.h"

namespace strata::gui {

enum class SumBy : std::uint8_t { layer, kind, device };

/// Seconds of all devices together. Where a device does several transfers at once, each has its
/// part of the time.
struct RangeSum {
  std::string what;  ///< the layer, the kind of work or the device
  LayerId layer;     ///< invalid where it is none
  std::size_t tasks = 0;
  double compute = 0;
  double communication = 0;
  double exposed = 0;  ///< communication while the device computes nothing
  bool operator==(const RangeSum&) const = default;
};

struct RangeSums {
  std::vector<RangeSum> rows;  ///< the one that takes longest first
  double all = 0;              ///< the time of all devices
};
RangeSums sum_range(const Recording& recording, const TimeRange& range, SumBy by);

/// The context is the time of all devices.
class RangeSumTable : public RowTable<double, RangeSum> {
  Q_OBJECT

 public:
  enum Column { kWhat, kShare, kCompute, kCommunication, kExposed, kTasks, kColumns };

  explicit RangeSumTable(QObject* parent = nullptr);
};

}  // namespace strata::gui

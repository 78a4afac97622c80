#pragma once

// What crosses a link: for each layer and kind of work the bytes from one device to another in a
// stretch of time, or in one step where none is picked. A transfer that the stretch holds in part
// counts with that part. In a plan by classes a transfer is one of several alike, and its devices
// stand for those of their classes. Pure; thread-safe.

#include <optional>
#include <string>
#include <vector>

#include "gui/models/cluster/link_history.h"
#include "gui/models/row_table.h"
#include "gui/models/scene.h"
#include "gui/models/selection.h"
#include "sim/plan/work_kind.h"

namespace strata::gui {

struct LinkTransfer {
  LayerId layer;
  WorkKind kind = WorkKind::transfer;
  bool backward = false;             ///< gradients of an edge
  std::optional<DeviceId> from, to;  ///< nothing for a group, which all its devices take part in
  std::size_t devices = 0;           ///< of the group
  double bytes = 0;
  std::size_t count = 0;  ///< of the tasks; of links that stand for others, the mean
};

/// By layer, then kind and devices.
std::vector<LinkTransfer> link_transfers(const Scene& scene, LinkId link,
                                         const std::optional<TimeRange>& range);

/// By link, in one go: how many of them cross it, as link_transfers() counts tasks.
std::vector<std::size_t> transfers_by_link(const Scene& scene,
                                           const std::optional<TimeRange>& range);
/// All links with what they carry and the transfers that cross them, a line each.
std::string print_csv(const Scene& scene, const LinkUse& use,
                      const std::optional<TimeRange>& range);

// What crosses a link, as a table for views: bytes by layer and devices. Lives in the window's
// thread.

/// The scene may be null where there are no rows.
class LinkTransferTable : public RowTable<ScenePtr, LinkTransfer> {
  Q_OBJECT

 public:
  enum Column { layer, phase, bytes, from, to, tasks, kColumns };

  explicit LinkTransferTable(QObject* parent = nullptr);

  double total_bytes() const;
};

}  // namespace strata::gui

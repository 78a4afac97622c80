#pragma once

// What crosses a link, as a table for views: bytes by layer and devices. Lives in the window's
// thread.

#include "gui/models/cluster/link_transfers.h"
#include "gui/models/row_table.h"

namespace strata::gui {

/// The scene may be null where there are no rows.
class LinkTransferTable : public RowTable<ScenePtr, LinkTransfer> {
  Q_OBJECT

 public:
  enum Column { layer, phase, bytes, from, to, tasks, kColumns };

  explicit LinkTransferTable(QObject* parent = nullptr);

  double total_bytes() const;
};

}  // namespace strata::gui

#include "gui/models/cluster/link_transfer_table.h"

#include <array>
#include <cmath>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

using Table = LinkTransferTable;

QString device_text(const ScenePtr& scene, const LinkTransfer& row,
                    const std::optional<DeviceId>& id) {
  return id ? QString::fromStdString(scene->input.cluster[*id].name)
            : counted(row.devices, Table::tr("device"));
}

TableCell layer_cell(const ScenePtr& scene, const LinkTransfer& row) {
  const LayerId id = row.layer;
  const QString name = id.valid() ? QString::fromStdString(scene->input.graph[id].name) : QString();
  return {name, id.valid() ? static_cast<qlonglong>(id()) : std::numeric_limits<qlonglong>::max()};
}

TableCell phase_cell(const ScenePtr& /*scene*/, const LinkTransfer& row) {
  if (row.kind == WorkKind::transfer) {
    return {row.backward ? Table::tr("gradient") : Table::tr("forward")};
  }
  return {row.kind == WorkKind::sync ? Table::tr("synchronisation") : Table::tr("statistics")};
}

TableCell bytes_cell(const ScenePtr& /*scene*/, const LinkTransfer& row) {
  const QString tip = Table::tr("in %1").arg(counted(row.count, Table::tr("task")));
  return {human_bytes({std::llround(row.bytes)}),
          row.bytes,
          tip,
          {},
          QString::number(row.bytes, 'f', 0)};
}

constexpr std::array<Table::Spec, Table::kColumns> kTransferColumns = {{
    {"Layer", "For which it crosses the link", "layer", false, layer_cell},
    {"Phase", "Forward, as a gradient, or to keep replicas the same", "phase", false, phase_cell},
    {"Bytes", "In the range of time; of one step where none is picked", "bytes", true, bytes_cell},
    {"From", "", "from", false,
     [](auto& scene, auto& row) { return TableCell{device_text(scene, row, row.from)}; }},
    {"To", "", "to", false,
     [](auto& scene, auto& row) {
       return TableCell{row.to ? device_text(scene, row, row.to) : QString()};
     }},
    {"Tasks", "How many tasks move them", "tasks", true,
     [](auto& /*scene*/, auto& row) {
       return TableCell{QString::number(row.count), static_cast<qlonglong>(row.count)};
     }},
}};

}  // namespace

LinkTransferTable::LinkTransferTable(QObject* parent) : RowTable(kTransferColumns, parent) {}

double LinkTransferTable::total_bytes() const {
  double total = 0;
  for (const LinkTransfer& row : rows()) total += row.bytes;
  return total;
}

}  // namespace strata::gui

#include "gui/models/memory/tensor_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<TableHeading, TensorTable::kColumns> kTensorHeadings = {{
    {"Layer", ""},
    {"Size", "", "", true},
    {"What", ""},
    {"Share", "Of all that the device holds at this moment", "", true},
    {"From", "When it begins to be kept", "", true},
    {"Until", "When it is let go", "", true},
    {"Shard", "Which of the layer's parts it is of", "", true},
}};

}  // namespace

TensorTable::TensorTable(QObject* parent) : SortableTable(kTensorHeadings, parent) {}

void TensorTable::show(ScenePtr scene, DeviceId device, double at) {
  beginResetModel();
  scene_ = std::move(scene);
  tensors_.clear();
  if (scene_) {
    tensors_ = live_tensors(scene_->prediction.plan, scene_->prediction.timeline, device, at);
  }
  total_ = {};
  for (const LiveTensor& live : tensors_) total_ += buffer(live).bytes;
  endResetModel();
}

int TensorTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(tensors_.size());
}

const Buffer& TensorTable::buffer(const LiveTensor& tensor) const {
  return scene_->prediction.plan.buffers()[tensor.buffer];
}

LayerId TensorTable::layer(int row) const {
  return buffer(at(row)).layer;
}

double TensorTable::number(const LiveTensor& live, int column) const {
  const Buffer& tensor = buffer(live);
  switch (column) {
    case kLayer:
      return static_cast<double>(tensor.layer());
    case kWhat:
      return static_cast<double>(tensor.kind);
    case kShard:
      return tensor.shard;
    case kBytes:
      return static_cast<double>(tensor.bytes.value);
    case kShare:
      return static_cast<double>(tensor.bytes.value) /
             static_cast<double>(std::max<std::int64_t>(total_.value, 1));
    case kFrom:
      return live.begin;
    default:
      return live.end;
  }
}

QString TensorTable::text(const LiveTensor& live, int column) const {
  const Buffer& tensor = buffer(live);
  switch (column) {
    case kLayer:
      return QString::fromStdString(scene_->input.graph[tensor.layer].name);
    case kWhat:
      return QString::fromUtf8(name(tensor.kind).data(),
                               static_cast<qsizetype>(name(tensor.kind).size()));
    case kShard:
      return QString::number(tensor.shard + 1);
    case kBytes:
      return human_bytes(tensor.bytes);
    case kShare:
      return human_share(number(live, kShare));
    case kFrom:
      return !tensor.lasts() ? human_seconds({live.begin}) : tr("always");
    default:
      return !tensor.lasts() ? human_seconds({live.end}) : tr("always");
  }
}

QVariant TensorTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const LiveTensor& live = at(index.row());
  if (role == Qt::DisplayRole) return text(live, index.column());
  if (role == Qt::UserRole) return number(live, index.column());
  if (role == kUseRole && index.column() == kWhat) {
    return static_cast<int>(use_of(buffer(live).kind));
  }
  return HeadedTable::data(index, role);
}

void TensorTable::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  sort_rows(tensors_, [&](const LiveTensor& a, const LiveTensor& b) {
    return order == Qt::AscendingOrder ? number(a, column) < number(b, column)
                                       : number(b, column) < number(a, column);
  });
}

std::string TensorTable::csv() const {
  std::string lines = "layer,what,shard,size_bytes,from_seconds,until_seconds\n";
  for (const LiveTensor& live : tensors_) {
    const Buffer& tensor = buffer(live);
    fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{}\n",
                   csv_cell(text(live, kLayer).toStdString()), name(tensor.kind), tensor.shard,
                   tensor.bytes.value, live.begin, live.end);
  }
  return lines;
}

}  // namespace strata::gui

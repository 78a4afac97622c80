#include "gui/models/memory/tensor_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {

void TensorTable::show(ScenePtr scene, DeviceId device, double at) {
  beginResetModel();
  scene_ = std::move(scene);
  tensors_.clear();
  if (scene_) {
    tensors_ = live_tensors(scene_->prediction.plan, scene_->prediction.timeline, device, at);
  }
  total_ = {};
  for (int i = 0; i < rowCount(); ++i) total_ += buffer(i).bytes;
  endResetModel();
}

int TensorTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(tensors_.size());
}

int TensorTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

const Buffer& TensorTable::buffer(int row) const {
  return scene_->prediction.plan.buffers()[tensors_[static_cast<std::size_t>(row)].buffer];
}

LayerId TensorTable::layer(int row) const {
  return buffer(row).layer;
}

QVariant TensorTable::number(int row, int column) const {
  const Buffer& tensor = buffer(row);
  const LiveTensor& live = tensors_[static_cast<std::size_t>(row)];
  switch (column) {
    case kLayer:
      return static_cast<qulonglong>(tensor.layer());
    case kShard:
      return tensor.shard;
    case kBytes:
      return static_cast<qlonglong>(tensor.bytes.value);
    case kShare:
      return static_cast<double>(tensor.bytes.value) /
             static_cast<double>(std::max<std::int64_t>(total_.value, 1));
    case kFrom:
      return live.begin;
    case kUntil:
      return live.end;
    default:
      return text(row, column);
  }
}

QString TensorTable::text(int row, int column) const {
  const Buffer& tensor = buffer(row);
  const LiveTensor& live = tensors_[static_cast<std::size_t>(row)];
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
      return human_share(number(row, kShare).toDouble());
    case kFrom:
      return tensor.first.valid() ? human_seconds({live.begin}) : tr("always");
    default:
      return tensor.first.valid() ? human_seconds({live.end}) : tr("always");
  }
}

QVariant TensorTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !scene_) return {};
  if (role == Qt::DisplayRole) return text(index.row(), index.column());
  if (role == Qt::UserRole) return number(index.row(), index.column());
  if (role == kUseRole && index.column() == kWhat) {
    return static_cast<int>(use_of(buffer(index.row()).kind));
  }
  if (role == Qt::TextAlignmentRole && index.column() != kLayer && index.column() != kWhat) {
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  }
  return {};
}

QVariant TensorTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role != Qt::DisplayRole) return {};
  static const char* const kNames[kColumns] = {"Layer", "Size",  "What", "Share",
                                               "From",  "Until", "Shard"};
  return tr(kNames[section]);
}

std::string TensorTable::csv() const {
  std::string lines = "layer,what,shard,size_bytes,from_seconds,until_seconds\n";
  for (int i = 0; i < rowCount(); ++i) {
    const LiveTensor& live = tensors_[static_cast<std::size_t>(i)];
    fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{}\n",
                   csv_cell(text(i, kLayer).toStdString()), name(buffer(i).kind), buffer(i).shard,
                   buffer(i).bytes.value, live.begin, live.end);
  }
  return lines;
}

}  // namespace strata::gui

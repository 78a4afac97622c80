#include "gui/models/network/layer_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/models/csv.h"
#include "gui/models/network/network_nodes.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<TableHeading, LayerTable::column_count> kLayerHeadings = {{
    {"layer", "its name", "layer"},
    {"op", "what it computes", "op"},
    {"output", "the extents of its output: samples, channels, then space", "output"},
    {"cut", "in how many parts each dim is cut", "config"},
    {"compute", "Eq. 1: the slowest shard, forward, backward and update", "compute_seconds", true},
    {"transfer", "Eq. 1: what its inputs and their gradients take to move", "transfer_seconds",
     true},
    {"sync", "Eq. 1: its parameters over their replicas", "sync_seconds", true},
    {"moved", "what devices fetch of others for it, in one forward pass", "moved_bytes", true},
    {"memory", "all that is kept for it, on the device that keeps most", "memory_bytes", true},
}};

QString extents_text(const Extents& output) {
  QStringList text;
  for (const Dim dim : kDims) {
    if (output[dim] > 1 || dim == Dim::n || dim == Dim::c) text << QString::number(output[dim]);
  }
  return text.join(QStringLiteral(" × "));
}

}  // namespace

std::vector<Bytes> memory_by_layer(const Plan& plan, std::size_t layers) {
  std::vector<std::vector<Bytes>> kept(layers, std::vector<Bytes>(plan.device_count()));
  for (const Buffer& buffer : plan.buffers()) kept[buffer.layer()][buffer.device()] += buffer.bytes;
  std::vector<Bytes> most(layers);
  std::transform(kept.begin(), kept.end(), most.begin(), [](const std::vector<Bytes>& devices) {
    return *std::max_element(devices.begin(), devices.end());
  });
  return most;
}

LayerTable::LayerTable(QObject* parent) : HeadedTable(kLayerHeadings, parent) {}

void LayerTable::set_scene(ScenePtr scene) {
  const int rows = scene ? static_cast<int>(scene->input.graph.size()) : 0;
  const bool same = scene_ && scene && rows == rowCount();
  if (!same) beginResetModel();
  scene_ = std::move(scene);
  moved_.clear();
  memory_.clear();
  if (scene_) {
    const Plan& plan = scene_->prediction.plan;
    for (const auto& inputs : moved_forward(scene_->input.graph, plan)) {
      Bytes sum;
      for (const Bytes bytes : inputs) sum += bytes;
      moved_.push_back(sum);
    }
    memory_ = memory_by_layer(plan, scene_->input.graph.size());
  }
  if (!same) return endResetModel();
  emit dataChanged(index(0, 0), index(rows - 1, column_count - 1));
}

int LayerTable::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !scene_) return 0;
  return static_cast<int>(scene_->input.graph.size());
}

QVariant LayerTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !scene_) return {};
  const LayerId layer(static_cast<std::size_t>(index.row()));
  if (role == plain) return plain_data(layer, index.column());
  if (role == Qt::DisplayRole) return text(layer, index.column());
  return HeadedTable::data(index, role);
}

QVariant LayerTable::plain_data(LayerId layer, int column) const {
  const LayerTerms& terms = scene_->prediction.terms[layer()];
  switch (column) {
    case compute_column:
      return terms.compute.value;
    case transfer_column:
      return terms.transfer.value;
    case sync_column:
      return terms.sync.value;
    case bytes_column:
      return static_cast<qlonglong>(moved_[layer()].value);
    case memory_column:
      return static_cast<qlonglong>(memory_[layer()].value);
    case output_column:
      return static_cast<qlonglong>(volume(scene_->input.graph[layer].output));
    default:
      return text(layer, column);
  }
}

QString LayerTable::text(LayerId layer, int column) const {
  const Layer& it = scene_->input.graph[layer];
  const LayerTerms& terms = scene_->prediction.terms[layer()];
  switch (column) {
    case name_column:
      return QString::fromStdString(it.name);
    case op_column:
      return QString::fromStdString(title(it.op));
    case output_column:
      return extents_text(it.output);
    case config_column:
      return is_input(it.op) ? QString() : human_config(scene_->prediction.strategy[layer]);
    case compute_column:
      return human_seconds(terms.compute);
    case transfer_column:
      return human_seconds(terms.transfer);
    case sync_column:
      return human_seconds(terms.sync);
    case bytes_column:
      return human_bytes(moved_[layer()]);
    case memory_column:
      return human_bytes(memory_[layer()]);
    default:
      return {};
  }
}

QString LayerTable::csv() const {
  QString text = csv_head();
  for (int row = 0; row < rowCount(); ++row) {
    QStringList fields;
    for (int column = 0; column < column_count; ++column) {
      const int role = column == output_column ? int{Qt::DisplayRole} : plain;
      fields << data(index(row, column), role).toString();
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace strata::gui

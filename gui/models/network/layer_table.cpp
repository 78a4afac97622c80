#include "gui/models/network/layer_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/models/network/network_nodes.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

QString extents_text(const Extents& output) {
  QStringList text;
  for (const Dim dim : kDims) {
    if (output[dim] > 1 || dim == Dim::n || dim == Dim::c) text << QString::number(output[dim]);
  }
  return text.join(QStringLiteral(" × "));
}

const Layer& layer_of(const SceneLayers& of, LayerId id) {
  return of.scene->input.graph[id];
}
template <Seconds LayerTerms::*term>
TableCell term_of(const SceneLayers& of, const LayerId& id) {
  const Seconds seconds = of.scene->prediction.terms[id()].*term;
  return {human_seconds(seconds), seconds.value};
}
template <std::vector<Bytes> SceneLayers::*sizes>
TableCell size_of(const SceneLayers& of, const LayerId& id) {
  const Bytes bytes = (of.*sizes)[id()];
  return {human_bytes(bytes), static_cast<qlonglong>(bytes.value)};
}
TableCell output_of(const SceneLayers& of, const LayerId& id) {
  const Extents& output = layer_of(of, id).output;
  return {extents_text(output), static_cast<qlonglong>(volume(output))};
}

constexpr std::array<LayerTable::Spec, LayerTable::column_count> kLayerColumns = {{
    {"layer", "its name", "layer", false,
     [](auto& of, auto& id) { return TableCell{QString::fromStdString(layer_of(of, id).name)}; }},
    {"op", "what it computes", "op", false,
     [](auto& of, auto& id) {
       return TableCell{QString::fromStdString(title(layer_of(of, id).op))};
     }},
    {"output", "the extents of its output: samples, channels, then space", "output", false,
     output_of},
    {"cut", "in how many parts each dim is cut", "config", false,
     [](auto& of, auto& id) {
       const bool input = is_input(layer_of(of, id).op);
       return TableCell{input ? QString() : human_config(of.scene->prediction.strategy[id])};
     }},
    {"compute", "Eq. 1: the slowest shard, forward, backward and update", "compute_seconds", true,
     term_of<&LayerTerms::compute>},
    {"transfer", "Eq. 1: what its inputs and their gradients take to move", "transfer_seconds",
     true, term_of<&LayerTerms::transfer>},
    {"sync", "Eq. 1: its parameters over their replicas", "sync_seconds", true,
     term_of<&LayerTerms::sync>},
    {"moved", "what devices fetch of others for it, in one forward pass", "moved_bytes", true,
     size_of<&SceneLayers::moved>},
    {"memory", "all that is kept for it, on the device that keeps most", "memory_bytes", true,
     size_of<&SceneLayers::memory>},
}};

SceneLayers layers_of(ScenePtr scene) {
  SceneLayers of{std::move(scene)};
  if (!of.scene) return of;
  const Plan& plan = of.scene->prediction.plan;
  for (const auto& inputs : moved_forward(of.scene->input.graph, plan)) {
    Bytes sum;
    for (const Bytes bytes : inputs) sum += bytes;
    of.moved.push_back(sum);
  }
  of.memory = memory_by_layer(plan, of.scene->input.graph.size());
  return of;
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

LayerTable::LayerTable(QObject* parent) : RowTable(kLayerColumns, parent) {}

// What is picked stays where the network is the same.
void LayerTable::set_scene(ScenePtr scene) {
  const std::size_t count = scene ? scene->input.graph.size() : 0;
  SceneLayers layers = layers_of(std::move(scene));
  if (this->scene() && layers.scene && count == rows_.size()) {
    context_ = std::move(layers);
    emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
    return;
  }
  std::vector<LayerId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.emplace_back(i);
  show(std::move(layers), std::move(ids));
}

}  // namespace strata::gui

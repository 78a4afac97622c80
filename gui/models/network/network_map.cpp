#include "gui/models/network/network_map.h"

#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

// The same layers under the same names: what a what-if or another batch changes does not matter.
bool same_network(const Graph& a, const Graph& b) {
  return std::equal(a.layers().begin(), a.layers().end(), b.layers().begin(), b.layers().end(),
                    [](const Layer& x, const Layer& y) {
                      return x.name == y.name && x.op == y.op && x.inputs == y.inputs;
                    });
}

}  // namespace

NetworkMap::NetworkMap(Workspace& workspace, QObject* parent)
    : QObject(parent), workspace_(workspace) {
  connect(&workspace, &Workspace::scene_changed, this, &NetworkMap::follow_scene);
  connect(&workspace.selection(), &Selection::layers_changed, this, &NetworkMap::selection_changed);
  follow_scene();
}

void NetworkMap::follow_scene() {
  if (!workspace_.scene()) return;
  const Graph& graph = workspace_.scene()->input.graph;
  if (!same_network(graph, graph_)) {
    graph_ = graph;
    divide();
  }
  show_again();
}

void NetworkMap::divide() {
  auto parts = std::make_shared<Parts>(graph_, true);
  can_fold_ = parts->folded();
  if (can_fold_ && !folds_) parts = std::make_shared<Parts>(graph_);
  parts_ = std::move(parts);
  open_ = parts_->usual();
}

void NetworkMap::set_folds(bool folds) {
  if (std::exchange(folds_, folds) == folds) return;
  divide();
  show_again();
}

NetworkMap::Shown NetworkMap::show(const ScenePtr& scene, std::shared_ptr<const Parts> parts,
                                   OpenParts open, Drawings& drawings) {
  Shown shown{scene, std::move(parts), std::move(open), {}, {}, {}};
  shown.picture = network_picture(*scene, *shown.parts, shown.open);
  shown.stretches = stretches(shown.picture, *shown.parts);
  for (const PictureStretch& stretch : shown.stretches) {
    shown.laid.push_back({drawings(stretch.sketch), stretch.exit, stretch.block.has_value()});
  }
  return shown;
}

void NetworkMap::show_again() {
  if (!workspace_.scene()) return;
  workspace_.jobs().start(
      this, QStringLiteral("network"), tr("Drawing the network"),
      [this, scene = workspace_.scene(), parts = parts_, open = open_,
       drawings = drawings_](Progress&) -> Jobs::Show {
        auto shown = std::make_shared<Shown>(show(scene, parts, open, *drawings));
        return [this, shown] { adopt(std::move(*shown)); };
      },
      [this](const QString& message) { emit failed(message); }, WhenStale::show);
}

void NetworkMap::adopt(Shown shown) {
  const bool other = shown_.parts != shown.parts, moved = other || shown_.open != shown.open;
  shown_ = std::move(shown);
  if (moved) arrange();
  if (moved) emit rearranged(other);
  emit changed();
}

void NetworkMap::arrange() {
  sheet_ = place(shown_.laid, aspect_);
  rects_.clear();
  curves_.assign(shown_.picture.edges.size(), {});
  for (std::size_t s = 0; s < sheet_.stretches.size(); ++s) {
    const PlacedStretch& placed = sheet_.stretches[s];
    rects_.insert(rects_.end(), placed.nodes.begin(), placed.nodes.end());
    const std::vector<std::size_t>& edges = shown_.stretches[s].edges;
    for (std::size_t e = 0; e < edges.size(); ++e) curves_[edges[e]] = placed.curves[e];
  }
}

std::vector<std::pair<QRectF, std::size_t>> NetworkMap::frames() const {
  std::vector<std::pair<QRectF, std::size_t>> frames;
  for (std::size_t s = 0; s < sheet_.stretches.size(); ++s) {
    if (!shown_.stretches[s].block) continue;
    frames.emplace_back(sheet_.stretches[s].frame, *shown_.stretches[s].block);
  }
  return frames;
}

void NetworkMap::set_aspect(double width_by_height) {
  if (aspect_ == width_by_height) return;
  aspect_ = width_by_height;
  if (shown_.laid.empty()) return;
  const std::size_t columns = sheet_.columns;
  arrange();
  if (sheet_.columns != columns) emit rearranged(false);
  emit changed();
}

void NetworkMap::open(std::size_t part) {
  if (!current() || (*parts_)[part].children.empty()) return;
  open_.insert(part);
  show_again();
}

void NetworkMap::shut(std::size_t part) {
  if (!current()) return;
  const std::size_t shuts = (*parts_)[part].parent.value_or(part);
  if (open_.erase(shuts) > 0) show_again();
}

void NetworkMap::set_open(OpenParts open) {
  if (std::exchange(open_, std::move(open)) != open_) show_again();
}

void NetworkMap::reveal(const std::vector<LayerId>& layers) {
  OpenParts open = open_;
  for (const LayerId layer : layers) open = parts_->showing(layer, std::move(open));
  set_open(std::move(open));
}

std::vector<LayerId> NetworkMap::layers_of(const std::vector<std::size_t>& nodes) const {
  std::vector<LayerId> layers;
  for (const std::size_t node : nodes) {
    const auto& held = parts()[picture().nodes[node].part].layers;
    layers.insert(layers.end(), held.begin(), held.end());
  }
  return layers;
}

std::optional<std::size_t> NetworkMap::node_of(LayerId layer) const {
  for (std::size_t i = 0; i < picture().nodes.size(); ++i) {
    const auto& held = parts()[picture().nodes[i].part].layers;
    if (std::binary_search(held.begin(), held.end(), layer)) return i;
  }
  return std::nullopt;
}

bool NetworkMap::selected(std::size_t node) const {
  const auto& held = parts()[picture().nodes[node].part].layers;
  return std::all_of(held.begin(), held.end(),
                     [&](LayerId layer) { return workspace_.selection().has_layer(layer); });
}

bool NetworkMap::touched(std::size_t node) const {
  const auto& held = parts()[picture().nodes[node].part].layers;
  return std::any_of(held.begin(), held.end(),
                     [&](LayerId layer) { return workspace_.selection().has_layer(layer); });
}

std::vector<std::size_t> NetworkMap::find(const QString& text) const {
  std::vector<std::size_t> found;
  if (text.trimmed().isEmpty() || !scene()) return found;
  const auto holds = [&](const QString& where) {
    return where.contains(text.trimmed(), Qt::CaseInsensitive);
  };
  for (std::size_t i = 0; i < picture().nodes.size(); ++i) {
    const NetworkNode& node = picture().nodes[i];
    bool hit = holds(QString::fromStdString(node.name)) || holds(QString::fromStdString(node.op));
    for (const NamedCut& cut : node.cuts) hit = hit || holds(QString::fromStdString(cut.text));
    for (const LayerId layer : parts()[node.part].layers) {
      hit = hit || holds(QString::fromStdString(scene()->input.graph[layer].name));
    }
    if (hit) found.push_back(i);
  }
  return found;
}

}  // namespace strata::gui

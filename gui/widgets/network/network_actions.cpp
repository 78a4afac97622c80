// What one does in a NetworkView: pick, paint, lock, solve, search.

#include <QKeyEvent>
#include <algorithm>
#include <utility>

#include "gui/models/network/config_choices.h"
#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"
#include "gui/widgets/network/network_view.h"

namespace strata::gui {

void NetworkView::pick(const std::vector<std::size_t>& nodes, PickMode mode) {
  if (!map_.current()) return;
  std::vector<std::size_t> all = nodes;
  if (mode == PickMode::range && anchor_ && !nodes.empty() &&
      *anchor_ < map_.picture().nodes.size()) {
    all.clear();
    const auto [first, last] = std::minmax(*anchor_, nodes.front());
    for (std::size_t node = first; node <= last; ++node) all.push_back(node);
  } else if (!nodes.empty()) {
    anchor_ = nodes.front();
  }
  std::vector<LayerId> layers = map_.layers_of(all);
  if (mode == PickMode::toggle) {
    const std::vector<LayerId> picked = std::exchange(layers, selection().layers());
    const bool off = std::all_of(picked.begin(), picked.end(),
                                 [&](LayerId layer) { return selection().has_layer(layer); });
    for (const LayerId layer : picked) {
      if (off) std::erase(layers, layer);
      if (!off) layers.push_back(layer);
    }
  }
  selection().select_layers(std::move(layers));
}

// Those that cannot be cut so are left alone, and the reason is told.
void NetworkView::paint(const std::vector<std::size_t>& nodes) {
  if (selection().layers().empty() || !workspace().scene() || !map_.current()) return;
  const Scene& scene = *workspace().scene();
  const Config brush = scene.prediction.strategy[selection().layers().back()];
  std::vector<LayerId> layers;
  QString refused;
  for (const LayerId layer : map_.layers_of(nodes)) {
    if (is_input(scene.input.graph[layer].op)) continue;
    const std::string reason = why_not(scene.input, std::span(&layer, 1), brush.degrees);
    if (reason.empty()) layers.push_back(layer);
    if (!reason.empty()) refused = QString::fromStdString(reason);
  }
  workspace().set_config(layers, brush);
  notify(refused.isEmpty() ? QString() : tr("Not cut as %1: %2").arg(human_config(brush), refused));
}

void NetworkView::set_painting(bool on) {
  const bool can = on && !selection().layers().empty();
  canvas_->set_painting(can);
  panel_->set_painting(can);
}

void NetworkView::turn_locks() {
  if (!workspace().scene() || selection().layers().empty()) return;
  workspace().edit(tr("locks"),
                   with_locks_turned(workspace().document(), workspace().scene()->input.graph,
                                     selection().layers()));
}

void NetworkView::solve() {
  if (workspace().jobs().busy(kSearchLane)) return workspace().jobs().stop(kSearchLane);
  notify({});
  solve_rest(
      workspace(), this, {}, [this](const SolvedRest& found) { notify(said_of(found)); },
      [this](const QString& message) { notify(message); });
}

void NetworkView::search(const QString& text) {
  found_ = map_.find(text);
  next_ = 0;
  canvas_->set_found({found_.begin(), found_.end()});
  filter_rows(text);
}

// Nodes have other numbers now.
void NetworkView::forget_nodes() {
  anchor_.reset();
  next_ = 0;
  found_ = map_.find(search_->text());
  canvas_->set_found({found_.begin(), found_.end()});
}

void NetworkView::next_found() {
  if (found_.empty()) return;
  const std::size_t node = found_[next_++ % found_.size()];
  if (node >= map_.picture().nodes.size()) return;
  canvas_->set_current(node);
  canvas_->show_node(node);
  pick({node}, PickMode::replace);
}

void NetworkView::next_colours() {
  const auto next =
      static_cast<NetworkColours>((static_cast<int>(canvas_->colours()) + 1) % kNetworkColours);
  canvas_->set_colours(next);
  colours_->setText(tr("Colour: %1").arg(legend_title(next)));
}

bool NetworkView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return View::eventFilter(watched, event);
  auto* key = static_cast<QKeyEvent*>(event);
  if (watched == search_) {
    if (key->key() != Qt::Key_Escape) return false;
    search_->clear();
    pages_->currentWidget()->setFocus();
    return true;
  }
  return act(key->key(), key->modifiers());
}

void NetworkView::keyPressEvent(QKeyEvent* event) {
  if (!act(event->key(), event->modifiers())) View::keyPressEvent(event);
}

bool NetworkView::act(int key, Qt::KeyboardModifiers modifiers) {
  if (modifiers & (Qt::ControlModifier | Qt::AltModifier)) {
    if (key != Qt::Key_A || !map_.scene()) return false;
    std::vector<std::size_t> all(map_.picture().nodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return pick(all, PickMode::replace), true;
  }
  if (key == Qt::Key_S && (modifiers & Qt::ShiftModifier)) return solve(), true;
  switch (key) {
    case Qt::Key_C:
      return next_colours(), true;
    case Qt::Key_T:
      return show_table(pages_->currentIndex() == 0), true;
    case Qt::Key_L:
      return turn_locks(), true;
    case Qt::Key_P:
      return set_painting(!canvas_->painting()), true;
    case Qt::Key_Y:
      emit why_wanted();
      return true;
    case Qt::Key_Slash:
      search_->setFocus();
      search_->selectAll();
      return true;
    case Qt::Key_1:
      return map_.set_open(map_.parts().blocks_shut()), true;
    case Qt::Key_2:
      return map_.set_open(map_.parts().blocks_open()), true;
    case Qt::Key_3:
      return map_.set_open(map_.parts().all_open()), true;
    case Qt::Key_Escape:
      if (canvas_->painting()) return set_painting(false), true;
      return selection().select_layers({}), true;
    default:
      return false;
  }
}

std::vector<KeyHelp> NetworkView::keys() const {
  return {{tr("arrows"), tr("to the next layer; with Shift select a range")},
          {tr("E, Enter"), tr("open a block, or a layer with what follows it")},
          {tr("Backspace"), tr("shut it again")},
          {QStringLiteral("1, 2, 3"), tr("blocks shut, blocks open, every layer")},
          {tr("Shift+click, Ctrl+click"), tr("select a range, one more")},
          {tr("Shift+drag, Ctrl+Shift+drag"), tr("select a rectangle, turn what it touches")},
          {QStringLiteral("Ctrl+A, Esc"), tr("select all, none")},
          {QStringLiteral("P"), tr("paint: layers that are clicked get the selected one's cut")},
          {QStringLiteral("L"), tr("lock or unlock the selected layers")},
          {QStringLiteral("Shift+S"), tr("solve the rest")},
          {QStringLiteral("Y"), tr("why is it cut so?")},
          {QStringLiteral("C"), tr("colour by cut, cost, op")},
          {QStringLiteral("T"), tr("graph or table")},
          {QStringLiteral("/"), tr("search; Enter goes from one to the next")},
          {tr("right button, Menu"), tr("what can be done with a layer, or with the sheet")},
          {tr("drag, Shift+wheel"), tr("move the sheet, sideways")},
          {tr("wheel, +, -"), tr("zoom about the mouse, about the middle")},
          {QStringLiteral("F"), tr("fit the network into the window")}};
}

}  // namespace strata::gui

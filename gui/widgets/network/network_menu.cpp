// What the right button offers in the network: what its keys do, of the layer where the mouse is.

#include <QClipboard>
#include <QGuiApplication>

#include "gui/models/network/config_choices.h"
#include "gui/models/text.h"
#include "gui/widgets/network/network_view.h"

namespace strata::gui {
namespace {

QPixmap colour_square(const QColor& colour) {
  QPixmap square(12, 12);
  square.fill(colour);
  return square;
}

}  // namespace

void NetworkView::add_block_actions(QMenu& menu) {
  menu.addAction(tr("Shut all blocks  (1)"), this, [this] { act(Qt::Key_1, {}); });
  menu.addAction(tr("Open all blocks  (2)"), this, [this] { act(Qt::Key_2, {}); });
  menu.addAction(tr("Show every layer  (3)"), this, [this] { act(Qt::Key_3, {}); });
}

void NetworkView::select_alike(const std::function<bool(const NetworkNode&)>& alike) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (alike(map_.picture().nodes[i])) nodes.push_back(i);
  }
  pick(nodes, PickMode::replace);
}

// The network's cuts, each with the reason where the selected layers cannot have it.
void NetworkView::fill_cut_menu(QMenu& menu) {
  const Scene& scene = *map_.scene();
  std::vector<LayerId> layers = selection().layers();
  std::erase_if(layers, [&](LayerId layer) { return is_input(scene.input.graph[layer].op); });
  menu.setToolTipsVisible(true);
  menu.setEnabled(!layers.empty());
  for (const Config& cut : map_.picture().cuts) {
    const std::string reason = why_not(scene.input, layers, cut.degrees);
    QAction* action =
        menu.addAction(colour_square(cut_colour(cut, theme())), human_config(cut), this,
                       [this, layers, cut] { workspace().set_config(layers, cut); });
    action->setEnabled(reason.empty());
    action->setToolTip(QString::fromStdString(reason));
  }
}

void NetworkView::fill_node_menu(QMenu& menu, std::size_t number) {
  const NetworkNode node = map_.picture().nodes[number];
  const Part& part = map_.parts()[node.part];
  if (!part.children.empty()) {
    menu.addAction(tr("Open %1  (E)").arg(QString::fromStdString(part.name)), this,
                   [this, node] { map_.open(node.part); });
  }
  if (part.parent) {
    const std::string& outer = map_.parts()[*part.parent].name;
    menu.addAction(tr("Shut %1  (Backspace)").arg(QString::fromStdString(outer)), this,
                   [this, node] { map_.shut(node.part); });
  }
  menu.addSeparator();
  const bool cuttable = !node.network_input;
  const auto add = [&](const QString& text, int key, Qt::KeyboardModifiers modifiers = {}) {
    menu.addAction(text, this, [this, key, modifiers] { act(key, modifiers); })
        ->setEnabled(cuttable);
  };
  fill_cut_menu(*menu.addMenu(tr("Cut as")));
  add(node.locked == node.layers ? tr("Unlock  (L)") : tr("Lock  (L)"), Qt::Key_L);
  add(tr("Paint with this cut  (P)"), Qt::Key_P);
  add(tr("Why this cut?  (Y)"), Qt::Key_Y);
  add(tr("Solve the rest  (Shift+S)"), Qt::Key_S, Qt::ShiftModifier);
  menu.addSeparator();
  menu.addAction(tr("Select all of %1").arg(QString::fromStdString(node.op)), this, [this, node] {
    select_alike([&](const NetworkNode& other) { return other.op == node.op; });
  });
  menu.addAction(tr("Select all that are cut so"), this,
                 [this, node] {
                   select_alike([&](const NetworkNode& other) { return other.cuts == node.cuts; });
                 })
      ->setEnabled(cuttable);
  menu.addAction(tr("Copy the name %1").arg(QString::fromStdString(node.name)), this, [node] {
    QGuiApplication::clipboard()->setText(QString::fromStdString(node.name));
  });
}

void NetworkView::fill_menu(QMenu& menu, const QPoint& at) {
  if (!map_.scene() || !map_.current()) return;
  if (const auto node = canvas_->node_at(at)) return fill_node_menu(menu, *node);
  add_block_actions(menu);
  menu.addSeparator();
  menu.addAction(tr("Select all  (Ctrl+A)"), this, [this] { act(Qt::Key_A, Qt::ControlModifier); });
  menu.addAction(tr("Other colours  (C)"), this, &NetworkView::next_colours);
  menu.addAction(tr("Solve the rest  (Shift+S)"), this, &NetworkView::solve);
  menu.addAction(tr("Fit the network into the window  (F)"), canvas_, &NetworkCanvas::fit);
}

}  // namespace strata::gui

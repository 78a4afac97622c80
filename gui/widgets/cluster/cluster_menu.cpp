// What the right button offers in the cluster: what its keys do, where the mouse is.

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

#include "gui/widgets/cluster/cluster_view.h"

namespace strata::gui {

void ClusterView::fill_link_menu(QMenu& menu, LinkId link, const QPoint& at) {
  menu.addAction(tr("Another bandwidth ...  (Enter)"), this,
                 [this, link, at] { edit_bandwidth(link, at); });
  QAction* own = menu.addAction(tr("The cluster's own bandwidth"), this, [this, link] {
    if (shown_) workspace().set_what_if(bandwidth_key(link), {});
  });
  own->setEnabled(!workspace().document().what_if(bandwidth_key(link)).empty());
}

void ClusterView::fill_menu(QMenu& menu, const QPoint& at) {
  if (!shown_) return;
  const auto node = canvas_->node_at(at);
  const auto link = node ? std::nullopt : canvas_->link_at(at);
  if (link) fill_link_menu(menu, *link, at);
  if (node || link) {
    const std::string& name =
        node ? canvas_->map().nodes[*node].name : shown_->input.cluster[*link].name;
    menu.addAction(tr("Copy the name %1").arg(QString::fromStdString(name)), this,
                   [name] { QGuiApplication::clipboard()->setText(QString::fromStdString(name)); });
    menu.addSeparator();
  }
  const bool use = colour_->currentIndex() == 0;
  menu.addAction(use ? tr("Colour links by bytes  (C)") : tr("Colour links by use  (C)"), this,
                 [this, use] { colour_->setCurrentIndex(use ? 1 : 0); });
  menu.addAction(tr("All of the time  (Esc)"), bar_, &RangeBar::pick_all)
      ->setEnabled(selection().range().has_value());
  menu.addAction(tr("Fit the cluster into the window  (F)"), canvas_, &ClusterCanvas::fit);
  menu.addAction(tr("Import a cluster ...  (I)"), this, &ClusterView::choose_cluster);
}

}  // namespace strata::gui

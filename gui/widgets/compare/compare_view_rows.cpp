// What the two sides' difference is shown as, and what is done with the layers that are picked.

#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/compare/compare_view.h"
#include "gui/widgets/compare/linked_timelines.h"

namespace strata::gui {
namespace {

constexpr std::array<WaterfallBy, 4> kSums = {WaterfallBy::layer, WaterfallBy::work,
                                              WaterfallBy::eq1_layer, WaterfallBy::eq1_term};

QString ratio_of(const Scene& baseline, const Scene& scene) {
  const double faster = baseline.prediction.step_seconds() / scene.prediction.step_seconds();
  if (std::abs(faster - 1) < 0.0005) return QObject::tr("as long");
  if (faster > 1) return QObject::tr("%1 times as fast").arg(faster, 0, 'f', 2);
  return QObject::tr("%1 times as long").arg(1 / faster, 0, 'f', 2);
}

}  // namespace

void CompareView::refresh() {
  notify({});
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  for (QPushButton* button : {take_, give_}) button->setEnabled(scene && baseline);
  if (scene && baseline) {
    const WaterfallBy by = kSums[static_cast<std::size_t>(by_->currentIndex())];
    differences_->show(all_->isChecked() ? layer_differences(*baseline, *scene)
                                         : changed_layers(*baseline, *scene));
    plot_->show_bars(waterfall(*baseline, *scene, by), QString::fromStdString(waterfall_title(by)),
                     QString::fromStdString(waterfall_caption(by)));
  } else {
    differences_->show({});
    plot_->show_bars({}, {}, {});
  }
  timelines_->refresh();
  show_texts();
  show_selected();
}

void CompareView::show_texts() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline) {
    summary_->setText({});
    if (workspace().error().isEmpty()) {
      notify(scene ? tr("Choose what to compare with.")
                   : tr("Open a network and a cluster, then compare strategies here."));
    }
    return;
  }
  const QString other = QString::fromStdString(other_case(*baseline, *scene)).toHtmlEscaped();
  summary_->setText(headline() + (other.isEmpty() ? QString() : QStringLiteral("<br>") + other));
}

QString CompareView::headline() const {
  const Scene &baseline = *workspace().baseline(), &scene = *workspace().scene();
  const auto recut = std::count_if(
      differences_->rows().begin(), differences_->rows().end(),
      [](const LayerDifference& row) { return row.before && row.after && row.recut; });
  const auto side = [](const Scene& shown) {
    return QStringLiteral("<b>%1</b> %2")
        .arg(QString::fromStdString(shown.document.strategy.label()).toHtmlEscaped(),
             human_seconds(shown.prediction.step_seconds()));
  };
  return tr("%1  →  %2 (%3), %4 cut otherwise")
      .arg(side(baseline), side(scene), ratio_of(baseline, scene),
           counted(static_cast<std::size_t>(recut), tr("layer")));
}

std::vector<std::string> CompareView::picked_layers() {
  std::vector<std::string> layers;
  for (const std::size_t row : table_->picked_rows()) {
    layers.push_back(differences_->rows()[row].layer);
  }
  if (layers.empty()) notify(tr("Select the layers to take over in the table first."));
  return layers;
}

// The next documents are made of the scenes that are shown: an edit that is still being predicted
// is not in them, and would be lost.
bool CompareView::up_to_date() {
  if (workspace().is_current() && !workspace().jobs().busy(QStringLiteral("baseline"))) return true;
  notify(workspace().error().isEmpty()
             ? tr("No cut is taken over: what was changed before is not predicted yet.")
             : workspace().error());
  return false;
}

void CompareView::take_over() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !up_to_date()) return;
  const std::vector<std::string> layers = picked_layers();
  if (layers.empty()) return;
  workspace().edit(tr("cut of %1 from the baseline").arg(counted(layers.size(), tr("layer"))),
                   with_cuts_of(*baseline, *scene, layers));
}

// The baseline is no part of the document: there is nothing to undo, and nothing is lost that is
// not chosen again with two clicks.
void CompareView::give_over() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !up_to_date()) return;
  const std::vector<std::string> layers = picked_layers();
  if (!layers.empty()) workspace().set_baseline(with_cuts_of(*scene, *baseline, layers));
}

void CompareView::show_by(WaterfallBy by) {
  by_->setCurrentIndex(static_cast<int>(by));
}

// The table's own selection is left as the user made it.
void CompareView::show_selected() {
  plot_->select(selection().layers());
  if (picking_) return;
  const QSignalBlocker quiet(table_->selectionModel());
  table_->clearSelection();
  for (std::size_t i = 0; i < differences_->rows().size(); ++i) {
    const auto layer = differences_->rows()[i].after;
    if (!layer || !selection().has_layer(*layer)) continue;
    const QModelIndex at = differences_->index(static_cast<int>(i), 0);
    table_->selectionModel()->select(at, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    table_->scrollTo(at);
  }
  table_->viewport()->update();
}

void CompareView::pick_rows() {
  std::vector<LayerId> layers;
  for (const std::size_t row : table_->picked_rows()) {
    if (const auto layer = differences_->rows()[row].after) layers.push_back(*layer);
  }
  picking_ = true;
  selection().select_layers(std::move(layers));
  picking_ = false;
}

}  // namespace strata::gui

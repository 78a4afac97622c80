// The rows of the What-if view: which there are, what turning one does, and its curve.

#include <algorithm>
#include <utility>

#include "gui/widgets/what_if/what_if_view.h"
#include "sim/base/error.h"

namespace strata::gui {

bool WhatIfView::dragging() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](KnobRow* row) { return row->slider().isSliderDown(); });
}

// Those that stay keep their widgets: one of them may have the focus.
void WhatIfView::make_rows() {
  const Document& document = workspace().scene()->document;
  fill_layers();
  std::vector<Knob> knobs =
      knobs_of(document, workspace().loader()->cluster(document.input.cluster));
  const Knob layer = layer_knob(layer_->currentData().toString().toStdString());
  const auto same = [&](const Knob& knob) { return knob.key == layer.key; };
  if (std::none_of(knobs.begin(), knobs.end(), same)) knobs.push_back(layer);
  const auto equal = [](const KnobRow* row, const Knob& knob) { return row->knob() == knob; };
  if (std::equal(rows_.begin(), rows_.end(), knobs.begin(), knobs.end(), equal)) return;
  std::vector<KnobRow*> before = std::exchange(rows_, {});
  for (const Knob& knob : knobs) {
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&](const KnobRow* row) { return row->knob() == knob; });
    rows_.push_back(old == before.end() ? make_row(knob) : *old);
    if (old != before.end()) before.erase(old);
  }
  for (KnobRow* row : before) {
    if (row == active_) active_ = nullptr;
    if (row == last_) last_ = nullptr;
    row->hide();
    row->deleteLater();
  }
  arrange_rows();
  show_values();
}

KnobRow* WhatIfView::make_row(const Knob& knob) {
  auto* row = new KnobRow(knob, scroll_->widget());
  connect(row, &KnobRow::turned, this,
          [this, row](double value, bool continues) { turn(*row, value, continues); });
  connect(row, &KnobRow::typed, this, [this, row](const QString& text) { take(*row, text); });
  connect(row, &KnobRow::reset, this, [this, row] { turn(*row, row->knob().usual, false); });
  connect(row, &KnobRow::grabbed, this, [this, row] { activate(*row); });
  connect(&row->slider(), &QSlider::sliderReleased, this, [this] {
    if (this->workspace().scene()) make_rows();
  });
  return row;
}

void WhatIfView::arrange_rows() {
  for (KnobRow* row : rows_) {
    QVBoxLayout& group = *groups_.at(row->knob().group);
    group.removeWidget(row);
    group.addWidget(row);
    row->show();
  }
  QWidget* before = overlap_;
  for (KnobRow* row : rows_) {
    QWidget::setTabOrder(before, &row->slider());
    QWidget::setTabOrder(&row->slider(), &row->field());
    before = &row->field();
  }
}

// "*", the ops, then the layers; a choice is kept while the network has it.
void WhatIfView::fill_layers() {
  const Graph& graph = workspace().scene()->input.graph;
  QStringList selectors{QStringLiteral("*")};
  for (const Layer& layer : graph.layers()) {
    const QString op =
        QString::fromUtf8(name(layer.op).data(), static_cast<int>(name(layer.op).size()));
    if (!is_input(layer.op) && !selectors.contains(op)) selectors << op;
  }
  for (const Layer& layer : graph.layers()) {
    if (!is_input(layer.op)) selectors << QString::fromStdString(layer.name);
  }
  if (layer_->property("selectors").toStringList() == selectors) return;
  layer_->setProperty("selectors", selectors);
  const QString chosen = layer_->currentData().toString();
  layer_->clear();
  for (const QString& selector : selectors) {
    layer_->addItem(selector == QLatin1String("*") ? tr("all layers") : selector, selector);
  }
  layer_->setCurrentIndex(std::max(0, layer_->findData(chosen)));
}

void WhatIfView::pick_layer() {
  if (workspace().scene()) make_rows();
}

void WhatIfView::turn(KnobRow& row, double value, bool continues) {
  const bool same = last_ == &row;
  last_ = &row;
  activate(row);
  workspace().edit(tr("what if %1").arg(QString::fromStdString(row.knob().title)),
                   gui::turned(row.knob(), workspace().document(), value), continues && same);
}

void WhatIfView::take(KnobRow& row, const QString& text) try {
  last_ = nullptr;
  workspace().edit(tr("what if %1").arg(QString::fromStdString(row.knob().title)),
                   gui::typed(row.knob(), workspace().document(), text.toStdString()));
  row.show_document(workspace().document());
} catch (const InputError& error) {
  notify(QString::fromStdString(error.message()));
  row.show_document(workspace().document());
}

void WhatIfView::activate(KnobRow& row) {
  if (active_ == &row) return;
  if (active_ != nullptr) active_->show_curve(false);
  active_ = &row;
  row.show_curve(true);
  curve_.clear();
  curve_base_ = {};
  want_curve();
}

void WhatIfView::want_curve() {
  const Document& document = workspace().document();
  const Document base = gui::turned(active_->knob(), document, active_->knob().usual);
  if (document.empty() || base == curve_base_) return show_curve();
  curve_base_ = base;
  curve_.clear();
  show_curve();
  compute_curve(0);
}

void WhatIfView::compute_curve(int round) {
  const Knob knob = active_->knob();
  const std::vector<double> values = curve_values(knob, round);
  if (values.empty()) return;
  workspace().jobs().start(
      this, QStringLiteral("what_if_curve"), tr("Predicting a slider's range"),
      [this, knob, values, round, base = curve_base_,
       loader = workspace().loader()](Progress& progress) -> Jobs::Show {
        auto points = curve_points(base, knob, values, *loader, progress.cancelled());
        return [this, knob, points, round, base] { add_to_curve(knob, base, points, round); };
      },
      [this](const QString& message) { notify(message); });
}

void WhatIfView::add_to_curve(const Knob& knob, const Document& base,
                              const std::vector<CurvePoint>& points, int round) {
  if (active_ == nullptr || active_->knob() != knob || !(base == curve_base_)) return;
  curve_ = merged(curve_, points);
  show_curve();
  if (round + 1 < kCurveRounds) compute_curve(round + 1);
}

void WhatIfView::show_curve() {
  if (active_ == nullptr) return;
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  std::optional<Seconds> now, before;
  if (scene) now = scene->prediction.step_seconds();
  if (baseline) before = baseline->prediction.step_seconds();
  CurvePlot& plot = active_->curve();
  plot.show_points(active_->knob(), curve_);
  plot.mark(scene ? value_of(active_->knob(), scene->document) : 1, now, before);
}

}  // namespace strata::gui

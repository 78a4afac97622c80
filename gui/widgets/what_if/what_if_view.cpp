#include "gui/widgets/what_if/what_if_view.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyle>
#include <algorithm>
#include <functional>
#include <utility>

#include "sim/base/error.h"

namespace strata::gui {
namespace {

constexpr std::size_t kHistory = 240;  // scenes that the history tells of

QLabel* make_heading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  QFont bold = label->font();
  bold.setBold(true);
  label->setFont(bold);
  return label;
}

}  // namespace

WhatIfView::WhatIfView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("what_if"), tr("What if"), workspace, parent) {
  auto* panel = new QWidget(this);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(make_bar());
  layout->addWidget(tiles_ = new NumberTiles(panel));
  layout->addWidget(make_overlap());
  layout->addWidget(make_knobs(), 1);
  set_content(panel);
  setFocusProxy(scroll_);
  add_key(Qt::Key_B, [this] { pin_baseline(); });
  add_key(Qt::Key_R, [this] { reset_all(); });
  add_key(Qt::Key_O, [this] { overlap_->click(); });
  follow();
}

// Rows that die hand the focus on to one another, which would be taken for a grip.
WhatIfView::~WhatIfView() {
  for (KnobRow* row : rows_) row->disconnect(this);
}

void WhatIfView::follow() {
  connect(&workspace(), &Workspace::document_changed, this, &WhatIfView::on_document);
  connect(&workspace(), &Workspace::scene_changed, this, &WhatIfView::on_scene);
  connect(&workspace(), &Workspace::baseline_changed, this, [this] {
    show_baseline();
    show_numbers();
  });
  on_document();
  on_scene();
  show_baseline();
}

QWidget* WhatIfView::make_bar() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  against_ = new QLabel(bar);
  against_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* pin = new QPushButton(tr("Pin as baseline"), bar);
  pin->setToolTip(tr("Compare with what stands now (B)"));
  auto* reset = new QPushButton(tr("Reset all"), bar);
  reset->setToolTip(tr("All sliders as they were, and overlap on (R)"));
  layout->addWidget(against_, 1);
  layout->addWidget(pin);
  layout->addWidget(reset);
  connect(pin, &QPushButton::clicked, this, &WhatIfView::pin_baseline);
  connect(reset, &QPushButton::clicked, this, &WhatIfView::reset_all);
  return bar;
}

QWidget* WhatIfView::make_overlap() {
  overlap_ = new QCheckBox(tr("Overlap: devices compute while bytes move"), this);
  overlap_->setObjectName(QStringLiteral("overlap"));
  overlap_->setMinimumWidth(1);  // its tip has all of it
  overlap_->setToolTip(
      tr("On, as frameworks train: gradients and activations travel while devices compute, so "
         "communication costs only what computing does not hide.\n"
         "Off, as in the paper's Eq. 1: they take turns, all communication counts, and strategies "
         "that save it win by more (O)"));
  connect(overlap_, &QCheckBox::toggled, this,
          [this](bool on) { this->workspace().set_what_if("overlap", on ? "" : "off"); });
  return overlap_;
}

QWidget* WhatIfView::make_knobs() {
  scroll_ = new QScrollArea(this);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setMinimumHeight(1);  // it scrolls, and not the view around it
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // a curve that opens moves no field
  scroll_->verticalScrollBar()->installEventFilter(this);
  auto* inside = new QWidget(scroll_);
  list_ = new QVBoxLayout(inside);
  leave_room_for_bar(true);
  for (const char* group : {"Network", "Devices", "Work"}) {
    list_->addWidget(headings_[group] = make_heading(tr(group), inside));
    list_->addLayout(groups_[group] = new QVBoxLayout);
    groups_[group]->setSpacing(2);
    list_->addSpacing(6);
  }
  layer_ = new QComboBox(inside);
  layer_->setAccessibleName(tr("Layers whose speed is turned"));
  layer_->setToolTip(tr("All layers, those of an op, or one: what if their kernels were faster?"));
  layer_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  layer_->setMinimumContentsLength(7);
  auto* line = new QHBoxLayout;
  line->addWidget(new QLabel(tr("Faster kernels for"), inside));
  line->addWidget(layer_);
  line->addStretch(1);
  list_->insertLayout(list_->count() - 1, line);
  list_->addWidget(make_heading(tr("Any what-if"), inside));
  list_->addWidget(others_ = new OtherWhatIfsPanel(workspace(), inside));
  list_->addStretch(1);
  connect(others_, &OtherWhatIfsPanel::failed, this, [this](const QString& text) { notify(text); });
  connect(layer_, &QComboBox::activated, this, &WhatIfView::pick_layer);
  scroll_->setWidget(inside);
  return scroll_;
}

// What a scroll bar needs is left to it where there is none: a curve that opens moves no field.
void WhatIfView::leave_room_for_bar(bool has_bar) {
  constexpr int kAround = 6;
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, scroll_);
  list_->setContentsMargins(0, 4, kAround + (has_bar ? 0 : bar), 4);
}

bool WhatIfView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Show || event->type() == QEvent::Hide) {
    leave_room_for_bar(event->type() == QEvent::Show);
  }
  return View::eventFilter(watched, event);
}

QString WhatIfView::command() const {
  return predict_command();
}

std::vector<KeyHelp> WhatIfView::keys() const {
  return {{tr("Tab, Left, Right"), tr("choose a slider, turn it")},
          {tr("Page Up, Page Down, Home, End"), tr("turn it further")},
          {tr("B"), tr("pin what stands as the baseline")},
          {tr("R"), tr("all sliders as they were, and overlap on")},
          {tr("O"), tr("overlap of communication on or off")}};
}

QString WhatIfView::csv() const {
  const ScenePtr& scene = workspace().scene();
  if (!scene) return {};
  return QString::fromStdString(headlines_csv(*scene, workspace().baseline().get()));
}

KnobRow* WhatIfView::row(const std::string& key) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(),
                               [&](const KnobRow* row) { return row->knob().key == key; });
  return at == rows_.end() ? nullptr : *at;
}

void WhatIfView::pin_baseline() {
  workspace().pin_baseline();
}

// What has no knob, as the network and its profiles, stays.
void WhatIfView::reset_all() {
  workspace().reset_what_ifs();
}

void WhatIfView::on_document() {
  if (!workspace().scene()) history_.clear();  // it was just opened
  show_emptiness();
  show_values();
  if (active_ != nullptr) want_curve();
}

void WhatIfView::show_emptiness() {
  content()->setEnabled(workspace().scene() != nullptr);
  show_instead(workspace().document().empty()
                   ? tr("No network yet.\nOpen one on a cluster, then turn their numbers here.")
                   : QString());
}

void WhatIfView::on_scene() {
  notify({});
  const ScenePtr& scene = workspace().scene();
  show_emptiness();
  if (!scene) return;
  if (workspace().error().isEmpty()) {
    const Document without = scene->document.without_what_ifs();
    const auto of = std::pair(without.input.model, without.input.cluster);
    if (std::exchange(history_of_, of) != of) history_.clear();
    history_.push_back(scene->prediction.step_seconds().value);
    if (history_.size() > kHistory) history_.erase(history_.begin());
  }
  if (!dragging()) make_rows();
  others_->show_case();
  show_numbers();
}

void WhatIfView::show_numbers() {
  const ScenePtr& scene = workspace().scene();
  if (!scene) return;
  tiles_->show_numbers(headlines(*scene, workspace().baseline().get()));
  tiles_->show_history(history_);
  show_curve();
}

void WhatIfView::show_baseline() {
  const ScenePtr& baseline = workspace().baseline();
  if (!baseline) return against_->setText(tr("No baseline to compare with"));
  const Document& other = baseline->document;
  against_->setText(tr("Compared with %1, %2")
                        .arg(QString::fromStdString(other.strategy.label()),
                             QString::fromStdString(other.name())));
  against_->setToolTip(QString::fromStdString(case_arguments(other) + strategy_argument(other)));
}

void WhatIfView::show_values() {
  const Document& document = workspace().document();
  for (KnobRow* row : rows_) row->show_document(document);
  others_->show_value();
  const QSignalBlocker quiet(overlap_);
  overlap_->setChecked(document.what_if("overlap") != "off");
}

// The rows of the What-if view: which there are, what turning one does, and its curve.

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
  // What is narrower scrolls with all of the view.
  scroll_->setMinimumWidth(scroll_->widget()->minimumSizeHint().width() +
                           scroll_->verticalScrollBar()->sizeHint().width());
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
  for (const auto& [group, heading] : headings_) {
    heading->setVisible(std::ranges::any_of(
        rows_, [&of = group](const KnobRow* row) { return row->knob().group == of; }));
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

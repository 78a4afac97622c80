#include "gui/widgets/network/config_panel.h"

#include <QVBoxLayout>
#include <algorithm>

#include "gui/widgets/elided_label.h"

namespace strata::gui {
namespace {

constexpr int kPanelWidth = 268;

QString layer_names(const Graph& graph, const std::vector<LayerId>& layers) {
  QStringList names;
  for (const LayerId layer : layers) names << QString::fromStdString(graph[layer].name);
  return names.join(QStringLiteral(", "));
}

}  // namespace

ConfigPanel::ConfigPanel(Workspace& workspace, QWidget* parent)
    : QScrollArea(parent), workspace_(workspace) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWidgetResizable(true);
  setFixedWidth(kPanelWidth);
  auto* inside = new QWidget(this);
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(12, 10, 12, 10);
  column->setSpacing(8);
  auto* title = new ElidedLabel(inside);
  title->set_elided(Qt::ElideMiddle);  // names of layers differ at their end
  title_ = title;
  QFont bold = title_->font();
  bold.setBold(true);
  bold.setPointSizeF(bold.pointSizeF() * 1.15);
  title_->setFont(bold);
  subtitle_ = new ElidedLabel(inside);
  subtitle_->setForegroundRole(QPalette::PlaceholderText);
  degrees_ = new QWidget(inside);
  grid_ = new QGridLayout(degrees_);
  grid_->setContentsMargins(0, 4, 0, 4);
  grid_->setSpacing(3);
  numbers_ = new QLabel(inside);
  numbers_->setTextFormat(Qt::RichText);
  hint_ = new QLabel(inside);
  hint_->setWordWrap(true);
  hint_->setForegroundRole(QPalette::PlaceholderText);
  for (QWidget* widget : {static_cast<QWidget*>(title_), static_cast<QWidget*>(subtitle_), degrees_,
                          static_cast<QWidget*>(numbers_), static_cast<QWidget*>(hint_)}) {
    column->addWidget(widget);
  }
  column->addSpacing(6);
  lock_ = action(tr("Lock  (L)"), tr("Solving leaves these layers as they are"),
                 &ConfigPanel::lock_wanted);
  why_ = action(tr("Why this cut?  (Y)"), tr("Every cut that it could have, and what it costs"),
                &ConfigPanel::why_wanted);
  paint_ = action(tr("Paint with this cut  (P)"),
                  tr("Click or drag over layers: they get the cut of these"), nullptr);
  paint_->setCheckable(true);
  connect(paint_, &QPushButton::clicked, this, &ConfigPanel::paint_wanted);
  solve_ =
      action(tr("Solve the rest  (Shift+S)"),
             tr("The best cuts for all layers but the locked ones"), &ConfigPanel::solve_wanted);
  for (QPushButton* button : {lock_, why_, paint_, solve_}) column->addWidget(button);
  column->addStretch(1);
  setWidget(inside);
  connect(&workspace, &Workspace::scene_changed, this, &ConfigPanel::show_selection);
  connect(&workspace, &Workspace::document_changed, this, &ConfigPanel::show_selection);
  connect(&workspace.selection(), &Selection::layers_changed, this, &ConfigPanel::show_selection);
  show_selection();
}

QPushButton* ConfigPanel::action(const QString& text, const QString& tip,
                                 void (ConfigPanel::*signal)()) {
  auto* button = new QPushButton(text, this);
  button->setToolTip(tip);
  if (signal != nullptr) connect(button, &QPushButton::clicked, this, signal);
  return button;
}

void ConfigPanel::set_painting(bool painting) {
  paint_->setChecked(painting);
}

void ConfigPanel::set_solving(bool solving) {
  solve_->setText(solving ? tr("Stop solving") : tr("Solve the rest  (Shift+S)"));
}

std::vector<LayerId> ConfigPanel::cuttable() const {
  std::vector<LayerId> layers;
  if (!workspace_.scene()) return layers;
  const Graph& graph = workspace_.scene()->input.graph;
  for (const LayerId layer : workspace_.selection().layers()) {
    if (layer() < graph.size() && !is_input(graph[layer].op)) layers.push_back(layer);
  }
  return layers;
}

const Config& ConfigPanel::cut(LayerId layer) const {
  const std::vector<Config>& edited = workspace_.document().strategy.configs;
  const Strategy& strategy = workspace_.scene()->prediction.strategy;
  return edited.size() == strategy.size() ? edited[layer()] : strategy[layer];
}

void ConfigPanel::show_selection() {
  const std::vector<LayerId> layers = cuttable();
  const bool any = !layers.empty();
  solve_->setEnabled(workspace_.scene() != nullptr);
  for (QPushButton* button : {lock_, why_, paint_}) button->setEnabled(any);
  for (QWidget* widget : {degrees_, static_cast<QWidget*>(numbers_)}) widget->setVisible(any);
  hint_->setVisible(!any);
  if (!any) {
    clear_degrees();
    title_->setText(tr("No layer selected"));
    subtitle_->setText({});
    hint_->setText(
        tr("Click a layer to see and to change its cut. Shift+click selects all up to "
           "there, Ctrl+click one more, Shift+drag a rectangle."));
    return;
  }
  const Scene& scene = *workspace_.scene();
  const Graph& graph = scene.input.graph;
  title_->setText(layers.size() == 1 ? QString::fromStdString(graph[layers.front()].name)
                                     : tr("%1 layers").arg(layers.size()));
  subtitle_->setText(layer_names(graph, layers));
  subtitle_->setVisible(layers.size() > 1);
  const bool locked = std::all_of(layers.begin(), layers.end(), [&](LayerId layer) {
    const auto& names = workspace_.document().locked;
    return std::binary_search(names.begin(), names.end(), graph[layer].name);
  });
  lock_->setText(locked ? tr("Unlock  (L)") : tr("Lock  (L)"));
  show_degrees(layers);
  show_numbers(layers);
}

}  // namespace strata::gui

#include "gui/widgets/network/config_panel.h"

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/elided_label.h"

namespace strata::gui {
namespace {

constexpr int kPanelWidth = 268;

QString layer_names(const Graph& graph, const std::vector<LayerId>& layers) {
  QStringList names;
  for (const LayerId layer : layers) names << QString::fromStdString(graph[layer].name);
  return names.join(QStringLiteral(", "));
}

constexpr int kDegreesInRow = 5;

QString axis_title(const Graph& graph, std::span<const LayerId> layers, CutAxis axis) {
  if (!axis) return ConfigPanel::tr("terms of sums");
  return QString::fromStdString(std::string(dim_words(graph, layers, *axis).parts));
}

QString axis_tip(CutAxis axis) {
  if (axis)
    return ConfigPanel::tr("All devices along this dim, as far as it has parts; the others whole");
  return ConfigPanel::tr(
      "The reduction r: each shard adds up a part of the input channels, and the partial sums are "
      "added up and scattered. All devices along it; the output whole");
}

// The style alone leaves what is pressed hard to see in the dark.
void show_pressed(QPushButton& button) {
  QPalette palette = button.palette();
  palette.setColor(QPalette::Button, palette.color(QPalette::Highlight));
  palette.setColor(QPalette::ButtonText, palette.color(QPalette::HighlightedText));
  button.setPalette(palette);
}

}  // namespace

ConfigPanel::ConfigPanel(Workspace& workspace, QWidget* parent)
    : QScrollArea(parent), workspace_(workspace) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWidgetResizable(true);
  setFixedWidth(kPanelWidth);
  setMinimumHeight(1);  // it scrolls, and not the view around it
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

// A ConfigPanel's rows of degrees, and the numbers below them.

// Pressed buttons have colours of their own.
void ConfigPanel::changeEvent(QEvent* event) {
  QScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show_selection();
}

void ConfigPanel::clear_degrees() {
  while (QLayoutItem* item = grid_->takeAt(0)) {
    if (item->widget() != nullptr) item->widget()->deleteLater();
    delete item;
  }
  buttons_.clear();
  shown_.clear();
}

// Where the layers differ, none of a row is pressed but what all have.
void ConfigPanel::show_degrees(const std::vector<LayerId>& layers) {
  const QWidget* focused = focusWidget();
  std::optional<std::pair<CutAxis, std::int32_t>> focus;
  for (const DegreeButton& it : buttons_) {
    if (it.button == focused) focus = {it.axis, it.degree};
  }
  clear_degrees();
  shown_ = layers;
  const Scene& scene = *workspace_.scene();
  std::vector<Degrees> now;
  now.reserve(layers.size());
  for (const LayerId layer : layers) now.push_back(cut(layer).degrees);
  int row = 0;
  for (const CutAxis axis : kCutAxes) {
    const bool here = std::any_of(layers.begin(), layers.end(), [&](LayerId layer) {
      return most_parts_along(scene.input.graph[layer], axis) > 1;
    });
    if (!here) continue;
    auto* head = new QPushButton(axis_title(scene.input.graph, layers, axis), degrees_);
    head->setFlat(true);
    head->setStyleSheet(QStringLiteral("text-align: left; padding: 2px 0px;"));
    head->setToolTip(axis_tip(axis));
    connect(head, &QPushButton::clicked, this, [this, axis] { choose_only(axis); });
    grid_->addWidget(head, row++, 0, 1, kDegreesInRow, Qt::AlignLeft);
    row = add_degrees(axis, degree_choices(scene.input, layers, axis, now), row);
  }
  if (QPushButton* again = focus ? degree_button(focus->first, focus->second) : nullptr) {
    again->setFocus();
  }
}

int ConfigPanel::add_degrees(CutAxis axis, std::span<const DegreeChoice> choices, int row) {
  int column = 0;
  const QString title = axis_title(workspace_.scene()->input.graph, shown_, axis);
  for (const DegreeChoice& choice : choices) {
    auto* button = new QPushButton(QString::number(choice.degree), degrees_);
    const QString what = tr("%1 in %2 parts").arg(title).arg(choice.degree);
    button->setCheckable(true);
    button->setMinimumWidth(20);
    button->setChecked(std::all_of(shown_.begin(), shown_.end(), [&](LayerId layer) {
      return has_degree(layer, axis, choice.degree);
    }));
    button->setEnabled(choice.legal());
    if (button->isChecked()) show_pressed(*button);
    button->setToolTip(choice.legal() ? what : QString::fromStdString(choice.reason));
    button->setAccessibleName(what);
    connect(button, &QPushButton::clicked, this,
            [this, axis, degree = choice.degree] { choose(axis, degree); });
    grid_->addWidget(button, row + column / kDegreesInRow, column % kDegreesInRow);
    buttons_.push_back({axis, choice.degree, button});
    ++column;
  }
  return row + (column + kDegreesInRow - 1) / kDegreesInRow;
}

void ConfigPanel::show_numbers(const std::vector<LayerId>& layers) {
  const Scene& scene = *workspace_.scene();
  LayerTerms sum;
  for (const LayerId layer : layers) {
    const LayerTerms& terms = scene.prediction.terms[layer()];
    sum = {sum.compute + terms.compute, sum.transfer + terms.transfer, sum.sync + terms.sync};
  }
  const Config& config = cut(layers.front());
  const bool same = std::all_of(layers.begin(), layers.end(),
                                [&](LayerId layer) { return cut(layer) == config; });
  const auto row = [](const QString& what, const QString& value) {
    return QStringLiteral("<tr><td>%1</td><td align='right' style='padding-left:14px'>%2</td></tr>")
        .arg(what, value);
  };
  QString text = QStringLiteral("<table width='100%'>");
  text += row(tr("cut"), same ? human_config(scene.input.graph, layers, config).toHtmlEscaped()
                              : tr("different cuts"));
  text += row(tr("shards"), same ? tr("%1 of %2 devices")
                                       .arg(config.devices.size())
                                       .arg(scene.input.cluster.device_count())
                                 : QStringLiteral("–"));
  if (scene.stages.several()) {
    const std::string stage = scene.stages.name(layers.front());
    const bool one = std::ranges::all_of(
        layers, [&](LayerId layer) { return scene.stages.name(layer) == stage; });
    text += row(tr("part of"), one ? QString::fromStdString(stage) : tr("different stages"));
  }
  text += row(tr("compute"), human_seconds(sum.compute));
  text += row(tr("transfer"), human_seconds(sum.transfer));
  text += row(tr("sync"), human_seconds(sum.sync));
  text += row(tr("<b>Eq. 1</b>"), QStringLiteral("<b>%1</b>").arg(human_seconds(sum.total())));
  numbers_->setText(text + QStringLiteral("</table>"));
}

bool ConfigPanel::has_degree(LayerId layer, CutAxis axis, std::int32_t degree) const {
  const bool has_sums = workspace_.scene()->input.graph[layer].reduction > 1;
  return degree_along(cut(layer).degrees, axis) == degree || (!axis && !has_sums);
}

// What else each layer is cut in stays as it is.
void ConfigPanel::choose(CutAxis axis, std::int32_t degree) {
  if (shown_.empty() || !workspace_.scene()) return;
  const auto has = [&](LayerId layer) { return has_degree(layer, axis, degree); };
  if (std::all_of(shown_.begin(), shown_.end(), has)) return show_selection();  // pressed again
  const Graph& graph = workspace_.scene()->input.graph;
  std::vector<Config> cuts;
  cuts.reserve(shown_.size());
  for (const LayerId layer : shown_) {
    cuts.push_back(has(layer) ? cut(layer)
                              : config_on_first_devices(
                                    with_degree(graph[layer], cut(layer).degrees, axis, degree)));
  }
  workspace_.set_config(shown_, cuts);
}

void ConfigPanel::choose_only(CutAxis axis) {
  if (shown_.empty() || !workspace_.scene()) return;
  const Case& input = workspace_.scene()->input;
  std::int32_t most = 1;
  const std::vector<Degrees> whole(shown_.size(), kWhole);
  for (const DegreeChoice& choice : degree_choices(input, shown_, axis, whole)) {
    if (choice.legal()) most = std::max(most, choice.degree);
  }
  std::vector<Config> cuts;
  cuts.reserve(shown_.size());
  for (const LayerId layer : shown_) {
    cuts.push_back(config_on_first_devices(with_degree(input.graph[layer], kWhole, axis, most)));
  }
  workspace_.set_config(shown_, cuts);
}

QPushButton* ConfigPanel::degree_button(CutAxis axis, std::int32_t degree) const {
  const auto at = std::find_if(buttons_.begin(), buttons_.end(), [&](const DegreeButton& it) {
    return it.axis == axis && it.degree == degree;
  });
  return at == buttons_.end() ? nullptr : at->button;
}

}  // namespace strata::gui

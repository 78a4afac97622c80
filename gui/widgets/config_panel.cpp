#include "gui/widgets/config_panel.h"

#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/config_choices.h"
#include "gui/models/text.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr int kPanelWidth = 268;
constexpr int kDegreesInRow = 5;

QString dim_title(Dim dim) {
  switch (dim) {
    case Dim::n:
      return ConfigPanel::tr("samples");
    case Dim::c:
      return ConfigPanel::tr("channels");
    case Dim::d:
      return ConfigPanel::tr("depth");
    case Dim::h:
      return ConfigPanel::tr("height");
    case Dim::w:
      return ConfigPanel::tr("width");
  }
  return {};
}

// The style alone leaves what is pressed hard to see in the dark.
void show_pressed(QPushButton& button) {
  QPalette palette = button.palette();
  palette.setColor(QPalette::Button, palette.color(QPalette::Highlight));
  palette.setColor(QPalette::ButtonText, palette.color(QPalette::HighlightedText));
  button.setPalette(palette);
}

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
  title_ = new ElidedLabel(inside);
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
        tr("Click a layer to see and to change its cut. Shift-click selects all up to "
           "there, Ctrl-click one more, dragging a rectangle."));
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
  show_degrees(layers, scene.prediction.strategy[layers.front()]);
  show_numbers(layers);
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
void ConfigPanel::show_degrees(const std::vector<LayerId>& layers, const Config& now) {
  const QWidget* focused = focusWidget();
  std::optional<std::pair<Dim, std::int32_t>> focus;
  for (const DegreeButton& it : buttons_) {
    if (it.button == focused) focus = {it.dim, it.degree};
  }
  clear_degrees();
  shown_ = layers;
  const Scene& scene = *workspace_.scene();
  int row = 0;
  for (const Dim dim : kDims) {
    const bool here = std::any_of(layers.begin(), layers.end(), [&](LayerId layer) {
      return scene.input.graph[layer].output[dim] > 1;
    });
    if (!here) continue;
    auto* head = new QPushButton(dim_title(dim), degrees_);
    head->setFlat(true);
    head->setStyleSheet(QStringLiteral("text-align: left; padding: 2px 0px;"));
    head->setToolTip(tr("All devices along this dim, as far as it has parts; the others whole"));
    connect(head, &QPushButton::clicked, this, [this, dim] { choose_only(dim); });
    grid_->addWidget(head, row++, 0, 1, kDegreesInRow, Qt::AlignLeft);
    int column = 0;
    for (const DegreeChoice& choice : degree_choices(scene.input, layers, dim, now.degrees)) {
      auto* button = new QPushButton(QString::number(choice.degree), degrees_);
      button->setCheckable(true);
      button->setMinimumWidth(20);
      button->setChecked(std::all_of(layers.begin(), layers.end(), [&](LayerId layer) {
        return scene.prediction.strategy[layer].degrees[dim] == choice.degree;
      }));
      button->setEnabled(choice.legal());
      if (button->isChecked()) show_pressed(*button);
      button->setToolTip(choice.legal()
                             ? tr("%1 in %2 parts").arg(dim_title(dim)).arg(choice.degree)
                             : QString::fromStdString(choice.reason));
      button->setAccessibleName(tr("%1 in %2 parts").arg(dim_title(dim)).arg(choice.degree));
      connect(button, &QPushButton::clicked, this,
              [this, dim, degree = choice.degree] { choose(dim, degree); });
      grid_->addWidget(button, row + column / kDegreesInRow, column % kDegreesInRow);
      buttons_.push_back({dim, choice.degree, button});
      if (focus && focus->first == dim && focus->second == choice.degree) button->setFocus();
      ++column;
    }
    row += (column + kDegreesInRow - 1) / kDegreesInRow;
  }
}

void ConfigPanel::show_numbers(const std::vector<LayerId>& layers) {
  const Scene& scene = *workspace_.scene();
  LayerTerms sum;
  for (const LayerId layer : layers) {
    const LayerTerms& terms = scene.prediction.terms[layer()];
    sum = {sum.compute + terms.compute, sum.transfer + terms.transfer, sum.sync + terms.sync};
  }
  const Config& config = scene.prediction.strategy[layers.front()];
  const bool same = std::all_of(layers.begin(), layers.end(), [&](LayerId layer) {
    return scene.prediction.strategy[layer] == config;
  });
  const auto row = [](const QString& what, const QString& value) {
    return QStringLiteral("<tr><td>%1</td><td align='right' style='padding-left:14px'>%2</td></tr>")
        .arg(what, value);
  };
  QString text = QStringLiteral("<table width='100%'>");
  text += row(tr("cut"), same ? human_config(config).toHtmlEscaped() : tr("different cuts"));
  text += row(tr("shards"), same ? tr("%1 of %2 devices")
                                       .arg(config.devices.size())
                                       .arg(scene.input.cluster.device_count())
                                 : QStringLiteral("–"));
  text += row(tr("compute"), human_seconds(sum.compute));
  text += row(tr("transfer"), human_seconds(sum.transfer));
  text += row(tr("sync"), human_seconds(sum.sync));
  text += row(tr("<b>Eq. 1</b>"), QStringLiteral("<b>%1</b>").arg(human_seconds(sum.total())));
  numbers_->setText(text + QStringLiteral("</table>"));
}

void ConfigPanel::choose(Dim dim, std::int32_t degree) {
  if (shown_.empty() || !workspace_.scene()) return;
  Degrees degrees = workspace_.scene()->prediction.strategy[shown_.front()].degrees;
  degrees[dim] = degree;
  workspace_.set_config(shown_, config_on_first_devices(degrees));
  show_selection();  // until the scene comes, as it was
}

void ConfigPanel::choose_only(Dim dim) {
  if (shown_.empty() || !workspace_.scene()) return;
  Degrees most = kWhole;
  for (const DegreeChoice& choice :
       degree_choices(workspace_.scene()->input, shown_, dim, kWhole)) {
    if (choice.legal()) most[dim] = std::max(most[dim], choice.degree);
  }
  workspace_.set_config(shown_, config_on_first_devices(most));
}

QPushButton* ConfigPanel::degree_button(Dim dim, std::int32_t degree) const {
  const auto at = std::find_if(buttons_.begin(), buttons_.end(), [&](const DegreeButton& it) {
    return it.dim == dim && it.degree == degree;
  });
  return at == buttons_.end() ? nullptr : at->button;
}

}  // namespace strata::gui

// A ConfigPanel's rows of degrees, and the numbers below them.

#include <QEvent>
#include <algorithm>
#include <optional>
#include <utility>

#include "gui/models/network/config_choices.h"
#include "gui/models/text.h"
#include "gui/widgets/network/config_panel.h"
#include "sim/graph/regions.h"

namespace strata::gui {
namespace {

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

}  // namespace

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
  std::optional<std::pair<Dim, std::int32_t>> focus;
  for (const DegreeButton& it : buttons_) {
    if (it.button == focused) focus = {it.dim, it.degree};
  }
  clear_degrees();
  shown_ = layers;
  const Scene& scene = *workspace_.scene();
  std::vector<Degrees> now;
  now.reserve(layers.size());
  for (const LayerId layer : layers) now.push_back(cut(layer).degrees);
  int row = 0;
  for (const Dim dim : kDims) {
    const bool here = std::any_of(layers.begin(), layers.end(), [&](LayerId layer) {
      return most_parts(scene.input.graph[layer])[dim] > 1;
    });
    if (!here) continue;
    auto* head = new QPushButton(dim_title(dim), degrees_);
    head->setFlat(true);
    head->setStyleSheet(QStringLiteral("text-align: left; padding: 2px 0px;"));
    head->setToolTip(tr("All devices along this dim, as far as it has parts; the others whole"));
    connect(head, &QPushButton::clicked, this, [this, dim] { choose_only(dim); });
    grid_->addWidget(head, row++, 0, 1, kDegreesInRow, Qt::AlignLeft);
    int column = 0;
    for (const DegreeChoice& choice : degree_choices(scene.input, layers, dim, now)) {
      auto* button = new QPushButton(QString::number(choice.degree), degrees_);
      button->setCheckable(true);
      button->setMinimumWidth(20);
      button->setChecked(std::all_of(layers.begin(), layers.end(), [&](LayerId layer) {
        return cut(layer).degrees[dim] == choice.degree;
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
  const Config& config = cut(layers.front());
  const bool same = std::all_of(layers.begin(), layers.end(),
                                [&](LayerId layer) { return cut(layer) == config; });
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

// The other dims of each layer stay as they are.
void ConfigPanel::choose(Dim dim, std::int32_t degree) {
  if (shown_.empty() || !workspace_.scene()) return;
  const bool same = std::all_of(shown_.begin(), shown_.end(),
                                [&](LayerId layer) { return cut(layer).degrees[dim] == degree; });
  if (same) return show_selection();  // the button is pressed again
  std::vector<Config> cuts;
  for (const LayerId layer : shown_) {
    Degrees degrees = cut(layer).degrees;
    const bool has = std::exchange(degrees[dim], degree) == degree;
    cuts.push_back(has ? cut(layer) : config_on_first_devices(degrees));
  }
  workspace_.set_config(shown_, cuts);
}

void ConfigPanel::choose_only(Dim dim) {
  if (shown_.empty() || !workspace_.scene()) return;
  Degrees most = kWhole;
  const std::vector<Degrees> whole(shown_.size(), kWhole);
  for (const DegreeChoice& choice : degree_choices(workspace_.scene()->input, shown_, dim, whole)) {
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
